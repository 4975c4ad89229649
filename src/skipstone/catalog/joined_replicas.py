"""Joined replicas: partial denormalisations, which hold the rows of one table with those that join them.

A joined replica is a table of its own below the table in the middle of a star, with all of that table's rows:
beside each, the columns of its partner in every joined table, or NULL, and for each joined table whether
there is a partner. Keys are unique, so each row has one partner at most and stays exactly once. An inner join
of some of the tables is then nothing but the rows that have partners in these; what it filters and projects
are columns of the replica. A key of a joined table equals the column that it was joined by, and has no column
of its own.

Each table is recorded by its *state*, a digest of its files (path, size, time, deletion vector) and its
schema. A replica answers only for exactly these states, whatever became of the tables meanwhile.

>>> orders = CoveredTable("/orders", "s1", {"customer": "customer", "price": "price"})
>>> keys = (("customer", "id"),)
>>> customers = CoveredTable("/customers", "s2", {"id": "customer", "city": "city"}, "/orders", keys, "has_c")
>>> made = JoinedReplica("r", "", "qdtree", "j/r", "s3", (orders, customers), 4, 0)
>>> reads = (JoinedRead("/orders", "s1", ("customer",)), JoinedRead("/customers", "s2", ("id", "city")))
>>> match_join(made, reads, ((0, "customer", 1, "id"),)).present
('has_c',)
>>> match_join(made, reads, ()).sentence
'/customers is not joined by id as in the replica'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

__all__ = ["CoveredTable", "JoinMatch", "JoinRefusal", "JoinedRead", "JoinedReplica", "match_join"]

Equality = tuple[int, str, int, str]
"""Two columns, each by the number of its table in the query and its name."""


@dataclass(frozen=True, slots=True)
class CoveredTable:
    """A table in one state; ``columns`` is where each of its columns is in the replica.

    All but the table in the middle have a ``parent``, by its root, the pairs of ``keys`` that are equal, the
    parent's and its own, and the column ``present``, which says whether a row has a partner; ``always`` says
    that all rows have one.
    """

    root: str
    state: str
    columns: Mapping[str, str]
    parent: str = ""
    keys: tuple[tuple[str, str], ...] = ()
    present: str = ""
    always: bool = False


@dataclass(frozen=True, slots=True)
class JoinedReplica:
    """Rows of the first of ``tables`` with their partners in the others, each of which follows its parent.

    ``folder`` is where it lies below the root of the first table, ``state`` what identifies its own rows.
    ``settings`` are those under which the tables were read, ``queries`` those that it was laid out for, as
    JSON, and ``block_rows`` what was asked for.
    """

    id: str
    created: str
    layout: str
    folder: str
    state: str
    tables: tuple[CoveredTable, ...]
    rows: int
    row_hash: int
    files: int = 0
    bytes: int = 0
    settings: Mapping[str, str] = field(default_factory=dict)
    queries: str = "[]"
    block_rows: int | None = None
    damaged: bool = False

    @property
    def root(self) -> str:
        """Where it lies."""
        return f"{self.tables[0].root}/{self.folder}"


@dataclass(frozen=True, slots=True)
class JoinedRead:
    """What inner joins read of a table: its root and state, and the columns that are needed."""

    root: str
    state: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JoinMatch:
    """Joins that a replica answers: where the columns of each table are, and which must have partners."""

    columns: tuple[Mapping[str, str], ...]
    present: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JoinRefusal:
    """Why a replica does not answer."""

    code: str
    sentence: str


def match_join(
    replica: JoinedReplica, reads: Sequence[JoinedRead], equal: Sequence[Equality]
) -> JoinMatch | JoinRefusal:
    """How a replica answers inner joins of tables, or why it does not."""
    if replica.damaged:
        return JoinRefusal("DAMAGED", "the replica is damaged; refresh it")
    number = {read.root: index for index, read in enumerate(reads)}
    tables = {table.root: table for table in replica.tables}
    if len(number) < len(reads):
        return JoinRefusal("SELF_JOIN", "a table is read twice")
    if replica.tables[0].root not in number:
        return JoinRefusal("OTHER_TABLES", f"{replica.tables[0].root} is not read")
    same = _classes(equal)
    for read in reads:
        table = tables.get(read.root)
        problem = (
            JoinRefusal("OTHER_TABLES", f"{read.root} is not in the replica")
            if table is None
            else _problem(table, read) or _unjoined(table, number, same)
        )
        if problem is not None:
            return problem
    covered = [tables[read.root] for read in reads]
    return JoinMatch(
        tuple(
            {name: table.columns[name] for name in read.columns}
            for table, read in zip(covered, reads, strict=True)
        ),
        tuple(table.present for table in covered if table.parent and not table.always),
    )


def _problem(table: CoveredTable, read: JoinedRead) -> JoinRefusal | None:
    if not read.state:
        return JoinRefusal("NOT_KNOWN", f"which rows of {read.root} are read, or what else of its files")
    if table.state != read.state:
        return JoinRefusal("STALE", f"{read.root} has changed since; refresh the replica")
    missing = next((name for name in read.columns if name not in table.columns), None)
    if missing is None:
        return None
    return JoinRefusal("MISSING_COLUMN", f"the replica does not have {missing} of {read.root}")


def _unjoined(
    table: CoveredTable, number: Mapping[str, int], same: Mapping[tuple[int, str], int]
) -> JoinRefusal | None:
    """Why a table is not joined to its parent as in the replica."""
    if not table.parent:
        return None
    if table.parent not in number:
        return JoinRefusal("OTHER_KEYS", f"{table.root} is joined without {table.parent}")
    for theirs, own in table.keys:
        one = same.get((number[table.parent], theirs))
        if one is None or one != same.get((number[table.root], own)):
            return JoinRefusal("OTHER_KEYS", f"{table.root} is not joined by {own} as in the replica")
    return None


def _classes(equal: Sequence[Equality]) -> dict[tuple[int, str], int]:
    """A number for each column, the same for those that are equal, be it by way of others."""
    found: dict[tuple[int, str], int] = {}
    for index, (a, one, b, other) in enumerate(equal):
        numbers = {found.get(column) for column in ((a, one), (b, other))} - {None}
        for column in [column for column, known in found.items() if known in numbers]:
            found[column] = index
        found[a, one] = found[b, other] = index
    return found
