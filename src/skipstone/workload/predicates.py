"""Queries as sets of conjunctive predicates (SOP, SIGMOD'14, section 3.1).

Every filter is normalised and taken apart at its top-level ANDs. A conjunct is a predicate, an OR included.
Three things differ from the paper, none of which changes what a query means:

* A null test that the query's other predicates entail is dropped. Catalyst adds ``x IS NOT NULL`` beside
  every comparison, and almost every row would have such a feature.
* The paper wants a predicate to be a disjunction of literals. An OR of ANDs therefore also yields, for each
  column that all its branches constrain, the weaker predicate on that column alone:
  ``(a = 1 AND b > 5) OR (a = 2 AND b > 7)`` yields ``a IN (1, 2)`` and ``b > 5``.
* Parts that are not understood are left out with a reason, and a query that is never true is not counted.

Cost: linear in the size of the log, plus a check for every null test against its query's predicates.

>>> from skipstone.predicate.expr import Column, Comparison, Literal
>>> from skipstone.predicate.types import INT
>>> x = Column(("x",), INT)
>>> deep, flat = Comparison(">", x, Literal(7, INT)), Comparison(">", x, Literal(3, INT))
>>> sets = query_predicates([LoggedFilter(deep), LoggedFilter(flat, 2.0), LoggedFilter(deep)])
>>> sets.own.tolist(), sets.weights.tolist()
([[True, False], [False, True]], [2.0, 2.0])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt

from skipstone.predicate.expr import And, Column, Expr, IsNull, Literal, Not, Or, columns_of, is_opaque
from skipstone.predicate.implies import implies, never_true
from skipstone.predicate.normalize import conjuncts, normalize_filter
from skipstone.predicate.types import BOOLEAN
from skipstone.workload.leave_out import LeaveOut, date_filters
from skipstone.workload.queries import ParsedWorkload

__all__ = [
    "Bits",
    "LoggedFilter",
    "QueryPredicates",
    "Refused",
    "date_filters",
    "logged_filters",
    "query_predicates",
    "weaker_per_column",
]

Bits = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class LoggedFilter:
    """The filter of one scan of the table; ``weight`` is how often its query ran.

    ``columns`` are the top-level columns that the scan reads; none are given when that is not known.
    ``position`` and ``line`` say where the statement is in a query file.
    """

    filter: Expr
    weight: float = 1.0
    timestamp: datetime | None = None
    sql: str = ""
    columns: tuple[str, ...] = ()
    position: int = 0
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """A predicate that cannot or must not be a feature; ``weight`` is how often it was asked."""

    predicate: Expr
    code: str
    weight: float


@dataclass(frozen=True, slots=True, eq=False)
class QueryPredicates:
    """The distinct queries of a log as sets of predicates.

    ``predicates`` are all that may become part of a feature, and ``own[q, p]`` says whether query q has
    predicate p. ``parts`` are all understood conjuncts of a query, those that were left out included.
    ``query_of`` is the query of each log entry, -1 for an entry that no predicate of this table filters.
    """

    predicates: tuple[Expr, ...]
    own: Bits
    parts: tuple[tuple[Expr, ...], ...]
    weights: npt.NDArray[np.float64]
    entries: tuple[LoggedFilter, ...]
    query_of: npt.NDArray[np.int64]
    refused: tuple[Refused, ...]
    unfiltered: float
    never_true: float


def logged_filters(parsed: ParsedWorkload, table: str) -> tuple[LoggedFilter, ...]:
    """Every scan of one table as a log entry."""
    return tuple(
        LoggedFilter(
            scan.filter,
            float(query.count),
            query.timestamp,
            query.sql,
            scan.columns,
            query.position,
            query.line,
        )
        for query, scan in parsed.scans_of(table)
    )


def query_predicates(entries: Sequence[LoggedFilter], leave_out: LeaveOut | None = None) -> QueryPredicates:
    """The queries of a log as sets of predicates; equal queries are merged and their weights summed."""
    builder = _Builder(leave_out)
    query_of = np.array([builder.add(entry) for entry in entries], np.int64)
    usable = {number: index for index, number in enumerate(sorted(builder.usable))}
    own = np.zeros((len(builder.queries), len(usable)), np.bool_)
    for row, (conjunct_numbers, weaker) in enumerate(builder.queries):
        own[row, [usable[number] for number in (*conjunct_numbers, *weaker) if number in usable]] = True
    return QueryPredicates(
        tuple(builder.known[number] for number in usable),
        own,
        tuple(tuple(builder.known[number] for number in numbers) for numbers, _ in builder.queries),
        np.array(builder.weights, np.float64),
        tuple(entries),
        query_of,
        tuple(Refused(expr, code, weight) for (expr, code), weight in builder.refused.items()),
        builder.unfiltered,
        builder.never_true,
    )


class _Builder:
    """Numbers predicates and queries in the order in which the log first mentions them."""

    def __init__(self, leave_out: LeaveOut | None) -> None:
        self._leave_out = leave_out
        self._numbers: dict[Expr, int] = {}
        self._indices: dict[tuple[int, ...], int] = {}
        self._entailed: dict[tuple[int, int], bool] = {}
        self._weaker: dict[int, tuple[int, ...]] = {}
        self.known: list[Expr] = []
        self.usable: set[int] = set()
        self.queries: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
        self.weights: list[float] = []
        self.refused: dict[tuple[Expr, str], float] = {}
        self.unfiltered = 0.0
        self.never_true = 0.0

    def add(self, entry: LoggedFilter) -> int:
        """The number of the entry's query, -1 if nothing is known about it."""
        found = conjuncts(entry.filter)
        if never_true(entry.filter):
            self.never_true += entry.weight
            return -1
        for predicate in found:
            if is_opaque(predicate):
                self._refuse(predicate, "NOT_UNDERSTOOD", entry.weight)
        understood = {self._number(predicate) for predicate in found if not is_opaque(predicate)}
        numbers = tuple(sorted(self._needed(understood)))
        if not numbers:
            self.unfiltered += entry.weight
            return -1
        index = self._indices.setdefault(numbers, len(self.queries))
        if index == len(self.queries):
            self._add_query(numbers)
        self._note_left_out(numbers, entry.weight)
        self.weights[index] += entry.weight
        return index

    def _add_query(self, numbers: tuple[int, ...]) -> None:
        weaker = tuple({derived: None for number in numbers for derived in self._derived(number)})
        self.queries.append((numbers, weaker))
        self.weights.append(0.0)
        for number in (*numbers, *weaker):
            if self._leave_out is None or not self._leave_out(self.known[number]):
                self.usable.add(number)

    def _derived(self, number: int) -> tuple[int, ...]:
        if number not in self._weaker:
            self._weaker[number] = tuple(
                self._number(weaker) for weaker in weaker_per_column(self.known[number])
            )
        return self._weaker[number]

    def _note_left_out(self, numbers: tuple[int, ...], weight: float) -> None:
        for number in numbers:
            if number not in self.usable:
                self._refuse(self.known[number], "LEFT_OUT", weight)

    def _refuse(self, predicate: Expr, code: str, weight: float) -> None:
        self.refused[predicate, code] = self.refused.get((predicate, code), 0.0) + weight

    def _number(self, predicate: Expr) -> int:
        number = self._numbers.setdefault(predicate, len(self.known))
        if number == len(self.known):
            self.known.append(predicate)
        return number

    def _needed(self, numbers: set[int]) -> set[int]:
        tests = {number for number in numbers if _is_null_test(self.known[number])}
        said = {test for test in tests if any(self._entails(other, test) for other in numbers - tests)}
        return numbers - said

    def _entails(self, number: int, test: int) -> bool:
        key = (number, test)
        if key not in self._entailed:
            self._entailed[key] = implies(self.known[number], self.known[test])
        return self._entailed[key]


def _is_null_test(predicate: Expr) -> bool:
    return isinstance(predicate, Not) and isinstance(predicate.arg, IsNull)


def weaker_per_column(predicate: Expr) -> list[Expr]:
    """What an OR says about each single column that all its branches constrain."""
    if not isinstance(predicate, Or):
        return []
    branches = [_by_column(branch) for branch in predicate.args]
    shared = sorted(set.intersection(*(set(branch) for branch in branches)), key=lambda column: column.path)
    weaker: list[Expr] = []
    for column in shared:
        one = normalize_filter(Or(_widest([branch[column] for branch in branches])))
        if one not in (predicate, Literal(True, BOOLEAN)):
            # Only what is shown to follow: the check at planning time will have to show it again.
            weaker.extend(part for part in conjuncts(one) if implies(predicate, part))
    return weaker


def _by_column(branch: Expr) -> dict[Column, Expr]:
    found: dict[Column, list[Expr]] = {}
    for part in conjuncts(branch):
        columns = columns_of(part)
        if len(columns) == 1:
            found.setdefault(next(iter(columns)), []).append(part)
    return {column: normalize_filter(And(tuple(parts))) for column, parts in found.items()}


def _widest(branches: list[Expr]) -> tuple[Expr, ...]:
    """The branches without those that another one covers."""
    kept: list[Expr] = []
    for branch in branches:
        if not any(implies(branch, other) for other in kept):
            kept = [other for other in kept if not implies(other, branch)]
            kept.append(branch)
    return tuple(kept)
