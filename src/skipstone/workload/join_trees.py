"""The inner joins of logged queries, and the star or snowflake around one table that they add up to.

A table is joined to another by a *link*: columns of the one equal columns of the other, its key. Where the
key is unique, each row of the one has at most one partner, so the join can be computed once, with the rows
of the first table as they are. Links are followed from the table in the middle, those of the most queries
first; where a key is not unique, another link may lead to the same table, as from a customer and from a
supplier to a nation. Cost: linear in the size of the log, and one check of a key for each link.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from skipstone.predicate.expr import Expr, columns_of, with_columns
from skipstone.workload.join_columns import denormalisations
from skipstone.workload.queries import ParsedQuery, ParsedWorkload, Query, TableScan

__all__ = ["ColumnOf", "JoinTree", "Link", "Star", "Unjoined", "star_of"]

ColumnOf = tuple[str, str]
"""A table, by its root, and one of its columns."""


@dataclass(frozen=True, slots=True)
class JoinTree:
    """Inner joins of a query: their tables with the columns that are needed, and what they say is equal.

    ``filter`` has the conditions; its columns are called ``NUMBER.COLUMN``, by the table's number among
    ``numbered``.
    """

    query: Query
    scans: tuple[TableScan, ...]
    equal: tuple[tuple[ColumnOf, ColumnOf], ...]
    filter: Expr
    numbered: tuple[str, ...]

    @property
    def tables(self) -> tuple[str, ...]:
        """The roots, one for each scan."""
        return tuple(scan.table for scan in self.scans)

    def is_within(self, tables: Sequence[str]) -> bool:
        """Whether only these tables are joined, the first of them among others, and each once."""
        own = set(self.tables)
        return tables[0] in own and own <= set(tables) and len(own) == len(self.scans)

    def filter_by(self, columns: Mapping[str, Mapping[str, str]]) -> Expr:
        """The filter with columns called as ``columns`` says for each table; KeyError if it lacks one."""
        paths = {}
        for column in columns_of(self.filter):
            number, _, name = column.path[0].partition(".")
            paths[column.path] = (columns[self.numbered[int(number)]][name], *column.path[1:])
        return with_columns(self.filter, paths)


@dataclass(frozen=True, slots=True, order=True)
class Link:
    """``table`` is joined to ``parent`` where the pairs of columns, of the parent and its own, are equal."""

    parent: str
    table: str
    keys: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Unjoined:
    """A table that queries join and that is left out, and why."""

    table: str
    reason: str


@dataclass(frozen=True, slots=True)
class Star:
    """A table and those that are joined to it, each after its parent, with the columns that queries need.

    ``trees`` are the joins of the log that it answers, ``unjoined`` what is left out.
    """

    center: str
    links: tuple[Link, ...]
    columns: dict[str, tuple[str, ...]]
    trees: tuple[JoinTree, ...]
    unjoined: tuple[Unjoined, ...] = ()


def star_of(trees: Sequence[JoinTree], center: str, problem_of: Callable[[Link], str]) -> Star:
    """The star of a log around a table; ``problem_of`` says why a link cannot be followed, or nothing."""
    weights = _links(trees)
    chosen: dict[str, Link] = {}
    problems: dict[Link, str] = {}
    while True:
        known = {center, *chosen}
        open_ = [link for link in weights if link.parent in known and link.table not in known]
        left = sorted(
            (link for link in open_ if link not in problems), key=lambda each: (-weights[each], each)
        )
        if not left:
            break
        link = left[0]
        problem = problem_of(link)
        if problem:
            problems[link] = problem
        else:
            chosen[link.table] = link
    tables = (center, *chosen)
    within = tuple(tree for tree in trees if tree.is_within(tables))
    why = {link.table: problem for link, problem in reversed(problems.items()) if link.table not in chosen}
    return Star(
        center,
        tuple(chosen.values()),
        _columns(tables, tuple(chosen.values()), within),
        within,
        tuple(Unjoined(table, reason) for table, reason in why.items()),
    )


def _links(trees: Sequence[JoinTree]) -> Counter[Link]:
    """Each way in which a table is joined to another, with the number of queries that do."""
    found: Counter[Link] = Counter()
    for tree in trees:
        pairs: dict[tuple[str, str], dict[tuple[str, str], None]] = {}
        for left, right in tree.equal:
            for one, other in ((left, right), (right, left)):
                pairs.setdefault((one[0], other[0]), {})[one[1], other[1]] = None
        for (parent, table), keys in pairs.items():
            if parent != table:
                found[Link(parent, table, tuple(sorted(keys)))] += tree.query.count
    return found


def _columns(
    tables: Sequence[str], links: Sequence[Link], trees: Sequence[JoinTree]
) -> dict[str, tuple[str, ...]]:
    """What the queries need of each table, and the keys."""
    parsed = ParsedWorkload(tuple(ParsedQuery(tree.query, tree.scans) for tree in trees))
    read: dict[str, dict[str, None]] = {table: {} for table in tables}
    for found in denormalisations(parsed):
        for table, columns in found.columns.items():
            read[table].update(dict.fromkeys(columns))
    for link in links:
        read[link.parent].update(dict.fromkeys(parent for parent, _ in link.keys))
    return {table: tuple(columns) for table, columns in read.items()}
