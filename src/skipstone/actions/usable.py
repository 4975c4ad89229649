"""The queries that can be used: Spark reads back, and evaluates, the SQL of each of their predicates.

A predicate that SQL cannot say, or that Spark does not read back as what it is, is made opaque before any
work is done with it, and its query is named. So is one that fails on the sampled rows, which only shows when
they are looked at: then the work is done once more without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from skipstone.actions.prepare import FitRequest, prepare
from skipstone.estimate.prepared import Prepared
from skipstone.predicate.expr import And, Call, Comparison, Expr, In, IsNull, Like, Match, Not, Or, walk
from skipstone.predicate.functions import NULL_PROPAGATING
from skipstone.predicate.partner import partners_in, states_in
from skipstone.predicate.render import to_sql, unwritable
from skipstone.progress import Progress
from skipstone.spark.bridge.read_back import FAILURES, Unreadable, read_back
from skipstone.spark.engine.draw_sample import unevaluable_in
from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.engine.partners import JoinedTables
from skipstone.workload.predicates import LoggedFilter
from skipstone.workload.unusable import Usable, predicates_in, with_opaque, without_crashes

__all__ = ["prepare_usable", "usable_entries", "with_usable"]

T = TypeVar("T")


def with_usable(table: OpenTable, entries: Sequence[LoggedFilter], work: Callable[[Usable], T]) -> T:
    """Do something with the usable queries; if Spark fails on the way, without those that it fails on."""
    usable = usable_entries(table, entries)
    try:
        return work(usable)
    except FAILURES:
        more = _evaluated(table, usable)
        if more.unusable == usable.unusable:
            raise
        return work(more)


def prepare_usable(table: OpenTable, request: FitRequest, progress: Progress | None = None) -> Prepared:
    """The same as :func:`prepare`, with the predicates left out that Spark cannot evaluate."""

    def work(usable: Usable) -> Prepared:
        every = (*request.unusable, *usable.unusable)
        found = prepare(table, replace(request, entries=usable.entries, unusable=every), progress)
        return replace(found, logged=usable.logged)

    return with_usable(table, request.entries, work)


def usable_entries(table: OpenTable, entries: Sequence[LoggedFilter]) -> Usable:
    """The queries without the predicates that Spark does not read back."""
    whole = without_crashes(entries)
    predicates = predicates_in(whole.entries)
    problems = {
        predicate: f"SQL cannot say {to_sql(part)}"
        for predicate in predicates
        if (part := unwritable(predicate)) is not None
    }
    joined = [predicate for predicate in predicates if partners_in(predicate)]
    problems |= JoinedTables(table.engine).problems(joined)
    # What the table itself holds for a row is outdated by the very rewrite that goes by it.
    own = "it is about this table itself, which a rewrite changes"
    problems |= {predicate: own for predicate in joined if table.root in states_in(predicate)}
    written = [each for each in predicates if each not in problems and not partners_in(each)]
    names = table.snapshot.logical_names
    texts = [names.sql(predicate) for predicate in written]
    for predicate, found in zip(
        written, read_back(table.no_rows(), table.snapshot.schema, texts), strict=True
    ):
        if isinstance(found, Unreadable):
            problems[predicate] = found.reason
        elif _is_another(predicate, found):
            problems[predicate] = f"Spark reads it as {to_sql(found)}"
    return with_opaque(whole, problems)


def _evaluated(table: OpenTable, usable: Usable) -> Usable:
    """The queries without the predicates that fail on some row of the table."""
    predicates = [each for each in predicates_in(usable.entries) if not partners_in(each)]
    names = table.snapshot.logical_names
    failed = unevaluable_in(table, [names.sql(predicate) for predicate in predicates])
    return with_opaque(usable, {predicates[index]: why for index, why in failed.items()})


def _is_another(written: Expr, found: Expr) -> bool:
    """Whether Spark read another function than was meant.

    Only calls that are written by the name of their class can be mistaken. How a session computes, such as in
    which time zone, may differ from the session that logged the query; that is still what it asks.
    """
    named = any(isinstance(part, Call) and part.name not in NULL_PROPAGATING for part in walk(written))
    return named and _plain(written) != _plain(found)


def _plain(expr: Expr) -> Expr:
    """The expression without the settings of its calls."""
    match expr:
        case Call(name="literal"):
            return expr
        case Call(args=args):
            return replace(expr, args=tuple(map(_plain, args)), params=())
        case Comparison(op, left, right):
            return Comparison(op, _plain(left), _plain(right))
        case In() | IsNull() | Like() | Match() | Not():
            return replace(expr, arg=_plain(expr.arg))
        case And(args) | Or(args):
            return replace(expr, args=tuple(map(_plain, args)))
    return expr
