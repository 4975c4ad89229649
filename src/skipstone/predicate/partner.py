"""Join-induced predicates: *the row's partner in another table satisfies a condition*.

A filter on a joined table says something about the rows of the table that it is joined to. ``Partner``
is that predicate: it is TRUE for a row if and only if SOME row of ``table`` has the row's ``keys`` in its
``table_keys`` and satisfies ``where``, and FALSE otherwise; NULL equals nothing. ``where`` may have further
partners, so chains of joins are nested. The idea is that of MTO, "Instance-optimized data layouts through
multi-table optimization" (SIGMOD 2021). There the driver collects the keys for each cut; here Spark
evaluates cuts through the join, and blocks have a feature bit for them.

Such a predicate is held as a :class:`Call` of the key columns named ``partner``: whatever handles calls
handles it, and the evaluator has no value for it unless the row gives one. ``state`` names the contents of
the other table that it is about. Without one, as in a query log, it is about whatever the table holds.
Predicates with different states are different predicates, so what was computed before a change of the other
table never answers afterwards.

>>> from skipstone.predicate.expr import Comparison, Literal
>>> from skipstone.predicate.render import to_sql
>>> from skipstone.predicate.types import INT
>>> key, other, age = (Column((name,), INT) for name in ("k", "id", "age"))
>>> to_sql(Partner((key,), "/t/people", (other,), Comparison(">", age, Literal(3, INT))).call)
'EXISTS (SELECT 1 FROM people WHERE people.id = k AND age > 3)'
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from skipstone.predicate.codec import canonical_text, fingerprint, from_json
from skipstone.predicate.expr import (
    And,
    Call,
    Column,
    Comparison,
    Expr,
    In,
    IsNull,
    Like,
    Match,
    Not,
    Or,
    is_opaque,
    walk,
)
from skipstone.predicate.normalize import normalize, normalize_filter
from skipstone.predicate.types import BOOLEAN

__all__ = [
    "FLAG",
    "Partner",
    "bound",
    "other_side",
    "partner_of",
    "partners_in",
    "states_in",
    "unbound",
    "with_flags",
]

NAME = "partner"
FLAG = "__skipstone_partner_"
"""How the columns begin that hold the truth of such predicates in a frame."""


@dataclass(frozen=True, slots=True)
class Partner:
    """``table`` is the root of the other table. Keys are paired in their order."""

    keys: tuple[Column, ...]
    table: str
    table_keys: tuple[Column, ...]
    where: Expr
    state: str = ""

    @property
    def call(self) -> Call:
        """The predicate, in the one form that equal predicates have."""
        pairs = sorted(
            set(zip(self.keys, self.table_keys, strict=True)), key=lambda pair: (pair[0].path, pair[1].path)
        )
        params = {
            "keys": json.dumps([json.loads(canonical_text(other)) for _, other in pairs]),
            "state": self.state,
            "table": self.table,
            "where": canonical_text(normalize_filter(self.where)),
        }
        return Call(NAME, tuple(own for own, _ in pairs), BOOLEAN, tuple(sorted(params.items())))

    @property
    def join(self) -> tuple[object, ...]:
        """What two predicates share that are about the same partners."""
        return (self.keys, self.table, self.table_keys, self.state)


@lru_cache(maxsize=65536)
def partner_of(expr: Expr) -> Partner | None:
    """The predicate that a call stands for; None for any other expression."""
    if not isinstance(expr, Call) or expr.name != NAME:
        return None
    params = dict(expr.params)
    try:
        others = [from_json(each) for each in json.loads(params["keys"])]
        where = from_json(json.loads(params["where"]))
        table, state = params["table"], params["state"]
    except (KeyError, ValueError, TypeError):
        return None
    own = tuple(arg for arg in expr.args if isinstance(arg, Column))
    keys = tuple(other for other in others if isinstance(other, Column))
    if not own or len(own) != len(expr.args) or len(keys) != len(others) or len(keys) != len(own):
        return None
    return None if is_opaque(where) else Partner(own, table, keys, where, state)


def partners_in(expr: Expr) -> tuple[Call, ...]:
    """The join-induced predicates of an expression, without those inside their conditions."""
    found = (node for node in walk(expr) if isinstance(node, Call) and partner_of(node) is not None)
    return tuple(dict.fromkeys(found))


def with_flags(expr: Expr) -> Expr:
    """The expression with a boolean column in place of each join-induced predicate.

    The column of a predicate has the same name whatever the state is.
    """
    return _mapped(expr, lambda partner: Column((FLAG + fingerprint(unbound(partner.call)),), BOOLEAN))


def bound(expr: Expr, states: Mapping[str, str]) -> Expr:
    """The normal form with its predicates about tables in these states; those of other tables stay."""
    return normalize(_in_states(expr, lambda partner: states.get(partner.table, partner.state)))


def unbound(expr: Expr) -> Expr:
    """The normal form with its predicates about tables in any state."""
    return normalize(_in_states(expr, lambda _: ""))


def _in_states(expr: Expr, state_of: Callable[[Partner], str]) -> Expr:
    def about(partner: Partner) -> Expr:
        return replace(partner, where=_in_states(partner.where, state_of), state=state_of(partner)).call

    return _mapped(expr, about)


def other_side(expr: Expr) -> Expr | None:
    """The predicate about the same partners whose condition is the negation of a range; None for others."""
    partner = partner_of(expr)
    if partner is None:
        return None
    if isinstance(partner.where, Comparison) and partner.where.op != "=":
        return replace(partner, where=normalize(Not(partner.where))).call
    inner = other_side(partner.where)
    return None if inner is None else replace(partner, where=inner).call


def states_in(expr: Expr) -> dict[str, set[str]]:
    """The tables that an expression is about through joins, and the states that it is about them in."""
    found: dict[str, set[str]] = {}
    waiting = list(partners_in(expr))
    while waiting:
        partner = partner_of(waiting.pop())
        assert partner is not None
        found.setdefault(partner.table, set()).add(partner.state)
        waiting += partners_in(partner.where)
    return found


def _mapped(expr: Expr, change: Callable[[Partner], Expr]) -> Expr:
    """The expression with each join-induced predicate replaced."""

    def each(part: Expr) -> Expr:
        return _mapped(part, change)

    if (partner := partner_of(expr)) is not None:
        return change(partner)
    match expr:
        case Call() | And() | Or():
            return replace(expr, args=tuple(map(each, expr.args)))
        case Comparison(op, left, right):
            return Comparison(op, each(left), each(right))
        case In() | IsNull() | Like() | Match() | Not():
            return replace(expr, arg=each(expr.arg))
    return expr
