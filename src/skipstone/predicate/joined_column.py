"""Columns of joined tables: *what a column holds in the rows of another table that have a row's keys*.

A row may have no such partner, one or many, so this is no value of a row. It is a set of values, and a block
has the set of all values that its rows have. A block has no row for a join-induced predicate
(:mod:`~skipstone.predicate.partner`) if nothing in these sets satisfies the predicate's condition. Where
joins form a chain, the column is itself a joined column of the other table.

It is held as a :class:`Call` of the key columns named ``joined_column``, for statistics to be kept under. No
filter has such a call, and the evaluator has no value for it.

>>> from skipstone.predicate.expr import Literal
>>> from skipstone.predicate.types import BOOLEAN, INT
>>> key, other, age = (Column((name,), INT) for name in ("k", "id", "age"))
>>> link = Partner((key,), "/t/people", (other,), Literal(True, BOOLEAN))
>>> text_of(JoinedColumn(link, age).call)
'people.age by k'
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from skipstone.predicate.allows import allows
from skipstone.predicate.codec import canonical_text, from_json
from skipstone.predicate.expr import Call, Column, Expr, Literal
from skipstone.predicate.normalize import conjuncts
from skipstone.predicate.partner import Partner, partner_of
from skipstone.predicate.types import BOOLEAN, Kind

__all__ = [
    "RANGED_KINDS",
    "JoinedColumn",
    "about_known_column",
    "column_bound",
    "column_states",
    "column_unbound",
    "columns_asked",
    "joined_column_of",
    "text_of",
]

NAME = "joined_column"
_MOST_COLUMNS = 32
RANGED_KINDS = (Kind.BYTE, Kind.SHORT, Kind.INT, Kind.LONG, Kind.DATE, Kind.STRING, Kind.DECIMAL)
"""The types of columns that are kept."""
_TRUE = Literal(True, BOOLEAN)


@dataclass(frozen=True, slots=True)
class JoinedColumn:
    """``link`` is the join, its condition has no meaning; ``column`` is one of the other table's."""

    link: Partner
    column: Expr

    @property
    def call(self) -> Call:
        """The one form that equal ones have."""
        assert isinstance(self.column, Column | Call)
        link = replace(self.link, where=_TRUE).call
        params = {**dict(link.params), "where": canonical_text(self.column)}
        return Call(NAME, link.args, self.column.type, tuple(sorted(params.items())))

    @property
    def join(self) -> tuple[object, ...]:
        """What this shares with predicates about the same partners."""
        return self.link.join


@lru_cache(maxsize=4096)
def joined_column_of(expr: Expr) -> JoinedColumn | None:
    """What a call stands for; None for any other expression."""
    if not isinstance(expr, Call) or expr.name != NAME:
        return None
    params = dict(expr.params)
    try:
        column = from_json(json.loads(params["where"]))
    except (KeyError, ValueError, TypeError):
        return None
    link = partner_of(
        Call("partner", expr.args, BOOLEAN, tuple(sorted({**params, "where": canonical_text(_TRUE)}.items())))
    )
    known = isinstance(column, Column) or joined_column_of(column) is not None
    if link is None or not known or not isinstance(column, Column | Call) or column.type != expr.type:
        return None
    return JoinedColumn(link, column)


def column_states(expr: Expr) -> dict[str, set[str]]:
    """The tables that a joined column is about, and the states that it is about them in; none for others."""
    found: dict[str, set[str]] = {}
    while (joined := joined_column_of(expr)) is not None:
        found.setdefault(joined.link.table, set()).add(joined.link.state)
        expr = joined.column
    return found


def column_bound(expr: Expr, states: Mapping[str, str]) -> Expr:
    """The joined column of tables in these states; without one, in the state that it has."""
    joined = joined_column_of(expr)
    if joined is None:
        return expr
    state = states.get(joined.link.table, joined.link.state)
    return JoinedColumn(replace(joined.link, state=state), column_bound(joined.column, states)).call


def column_unbound(expr: Expr) -> Expr:
    """The joined column of tables in any state."""
    return column_bound(expr, dict.fromkeys(column_states(expr), ""))


def text_of(expr: Expr) -> str:
    """The joined column for people."""
    joined = joined_column_of(expr)
    if joined is None:
        return ".".join(expr.path) if isinstance(expr, Column) else str(expr)
    keys = ", ".join(".".join(key.path) for key in joined.link.keys)
    table = joined.link.table.rstrip("/").rpartition("/")[2]
    inner = text_of(joined.column)
    return (
        f"{table}.{inner} by {keys}" if isinstance(joined.column, Column) else f"{inner} of {table} by {keys}"
    )


def columns_asked(atoms: Iterable[Expr]) -> tuple[Expr, ...]:
    """The joined columns, of tables in any state, that conditions of join-induced predicates are about.

    Those that most of the predicates are about come first, and of very many the rest is left out.
    """
    counts: Counter[Expr] = Counter()
    for atom in atoms:
        counts.update(dict.fromkeys(_columns_below(atom), 1))
    return tuple(column for column, _ in counts.most_common(_MOST_COLUMNS))


def _columns_below(atom: Expr) -> Iterator[Expr]:
    partner = partner_of(atom)
    if partner is None:
        return
    for part in conjuncts(partner.where):
        about = allows(part)
        if (
            about is not None
            and isinstance(about.subject, Column)
            and about.subject.type.kind in RANGED_KINDS
        ):
            yield column_unbound(JoinedColumn(partner, about.subject).call)
        yield from (column_unbound(JoinedColumn(partner, each).call) for each in _columns_below(part))


def about_known_column(atom: Expr, known: Collection[Expr]) -> bool:
    """Whether the condition of a join-induced predicate is about nothing but one of the joined columns."""
    partner = partner_of(atom)
    columns = set(_columns_below(atom))
    return (
        partner is not None
        and len(conjuncts(partner.where)) == 1
        and len(columns) == 1
        and columns <= set(known)
    )
