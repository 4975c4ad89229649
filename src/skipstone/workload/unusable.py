"""Queries with a predicate that cannot be used: what is left of them, and the sentence that names them.

One odd query must not keep all others from being used. A predicate that cannot be evaluated is made opaque:
its query may always need a row, as far as that predicate goes, and the rest of its filter still counts. A
query that cannot even be taken apart is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from skipstone.predicate.expr import And, Expr, IsNull, Not, Opaque, Or, columns_of, is_opaque
from skipstone.predicate.normalize import normalize_filter
from skipstone.predicate.render import to_sql
from skipstone.workload.predicates import LoggedFilter, query_predicates
from skipstone.workload.queries import BrokenQuery

__all__ = ["NOT_EVALUABLE", "Usable", "predicates_in", "with_opaque", "without_crashes"]

NOT_EVALUABLE = "NOT_EVALUABLE"
"""The reason code of a predicate that was made opaque because it cannot be evaluated."""


@dataclass(frozen=True, slots=True)
class Usable:
    """The entries of a log that can be used, and the reasons for those that cannot, or not wholly.

    ``logged`` are the same entries with the filters as they were logged.
    """

    entries: tuple[LoggedFilter, ...]
    logged: tuple[LoggedFilter, ...]
    unusable: tuple[BrokenQuery, ...] = ()


def without_crashes(
    entries: Sequence[LoggedFilter], attempt: Callable[[LoggedFilter], object] | None = None
) -> Usable:
    """The entries that can be taken apart into predicates, which ``attempt`` tries."""
    tried = attempt or (lambda entry: query_predicates([entry]))
    problems: dict[Expr, str] = {}
    fine: set[Expr] = set()
    for entry in entries:
        if entry.filter in fine or entry.filter in problems:
            continue
        try:
            tried(entry)
            fine.add(entry.filter)
        # A filter that crashes the analysis must not keep the others from it.
        except Exception as problem:  # noqa: BLE001
            problems[entry.filter] = f"{type(problem).__name__}: {problem}".rstrip(" .:")
    if not problems:
        return Usable(tuple(entries), tuple(entries))
    reasons = {
        filter_: f"its filter cannot be analysed ({why}); it is left out" for filter_, why in problems.items()
    }
    kept = tuple(entry for entry in entries if entry.filter not in problems)
    return Usable(kept, kept, _named(entries, reasons))


def predicates_in(entries: Sequence[LoggedFilter]) -> tuple[Expr, ...]:
    """All understood predicates under the ANDs and ORs of the filters, in the order of the log."""
    found: dict[Expr, None] = {}
    for filter_ in dict.fromkeys(entry.filter for entry in entries):
        _collect(normalize_filter(filter_), found)
    return tuple(found)


def _collect(normal: Expr, found: dict[Expr, None]) -> None:
    if isinstance(normal, And | Or):
        for arg in normal.args:
            _collect(arg, found)
    elif not is_opaque(normal) and columns_of(normal):
        found.setdefault(normal)


def with_opaque(usable: Usable, problems: Mapping[Expr, str]) -> Usable:
    """The entries with these predicates made opaque; ``problems`` says why, as the part of a sentence."""
    entries = usable.entries
    if not problems:
        return usable
    changed: dict[Expr, Expr] = {}
    reasons: dict[Expr, str] = {}
    for filter_ in dict.fromkeys(entry.filter for entry in entries):
        normal = normalize_filter(filter_)
        hit = [predicate for predicate in predicates_in([LoggedFilter(normal)]) if predicate in problems]
        if hit:
            changed[filter_] = _without(normal, problems)
            left = predicates_in([LoggedFilter(changed[filter_])])
            then = "only the rest of its filter is used" if left else "its filter is left out"
            reasons[filter_] = f"{to_sql(hit[0])} cannot be used ({problems[hit[0]]}); {then}"
    kept = tuple(replace(each, filter=changed.get(each.filter, each.filter)) for each in entries)
    return Usable(kept, usable.logged, (*usable.unusable, *_named(entries, reasons)))


def _without(normal: Expr, problems: Mapping[Expr, str]) -> Expr:
    if isinstance(normal, And | Or):
        lost = [arg for arg in normal.args if arg in problems]
        # Catalyst tests for NULL what a predicate reads; without the predicate that is no filter to speak of.
        tests = {Not(IsNull(column)) for arg in lost for column in columns_of(arg)}
        kept = [arg for arg in normal.args if not isinstance(normal, And) or arg not in tests]
        parts = tuple(_without(arg, problems) for arg in kept)
        return replace(normal, args=parts) if len(parts) > 1 else parts[0]
    if normal not in problems:
        return normal
    columns = tuple(sorted(columns_of(normal), key=lambda column: column.path))
    return Opaque(to_sql(normal), NOT_EVALUABLE, columns)


def _named(entries: Sequence[LoggedFilter], reasons: Mapping[Expr, str]) -> tuple[BrokenQuery, ...]:
    """One sentence for each of the filters, at the first statement that has it."""
    first: dict[Expr, LoggedFilter] = {}
    for entry in entries:
        if entry.filter in reasons:
            first.setdefault(entry.filter, entry)
    return tuple(
        BrokenQuery(entry.sql or to_sql(filter_), reasons[filter_], entry.position, entry.line)
        for filter_, entry in first.items()
    )
