"""What a workload asks about, column by column: how often, which together, and how that changes over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from skipstone.estimate.drift import distance, forms_of
from skipstone.predicate.expr import Expr, IsNull, Not, columns_of
from skipstone.predicate.normalize import conjuncts, normalize_filter
from skipstone.predicate.render import to_sql
from skipstone.workload.predicates import LoggedFilter

__all__ = ["ColumnsAsked", "Window", "columns_asked"]

_MOST_WINDOWS = 24
_FEWEST_QUERIES = 5
_MOST_EDGES = 200


@dataclass(frozen=True, slots=True)
class Window:
    """Some queries in a row: when the first was asked, their weight, and the distance to those before."""

    time: str | None
    queries: float
    score: float | None


@dataclass(frozen=True, slots=True)
class ColumnsAsked:
    """``columns`` have the weight of their queries and the number of their predicates; ``pairs`` weights."""

    columns: tuple[tuple[str, float, int], ...]
    pairs: tuple[tuple[str, str, float], ...]
    windows: tuple[Window, ...]

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "columns": [{"sql": sql, "queries": n, "predicates": parts} for sql, n, parts in self.columns],
            "correlation": {
                "nodes": [sql for sql, _, _ in self.columns],
                "edges": [{"a": a, "b": b, "queries": n} for a, b, n in self.pairs],
            },
            "drift": [{"time": it.time, "queries": it.queries, "score": it.score} for it in self.windows],
        }


def columns_asked(entries: Sequence[LoggedFilter]) -> ColumnsAsked:
    """Count the columns of all filters; tests that a value is there, which Spark adds, do not count."""
    weights: dict[str, float] = {}
    predicates: dict[str, set[Expr]] = {}
    pairs: dict[tuple[str, str], float] = {}
    for entry in entries:
        found: dict[str, set[Expr]] = {}
        for part in conjuncts(normalize_filter(entry.filter)):
            if not (isinstance(part, Not) and isinstance(part.arg, IsNull)):
                for column in columns_of(part):
                    found.setdefault(to_sql(column), set()).add(part)
        for name, parts in found.items():
            weights[name] = weights.get(name, 0.0) + entry.weight
            predicates.setdefault(name, set()).update(parts)
        for pair in combinations(sorted(found), 2):
            pairs[pair] = pairs.get(pair, 0.0) + entry.weight
    ordered = sorted(weights.items(), key=lambda item: (-item[1], item[0]))
    edges = sorted(pairs.items(), key=lambda item: (-item[1], item[0]))[:_MOST_EDGES]
    return ColumnsAsked(
        tuple((name, weight, len(predicates[name])) for name, weight in ordered),
        tuple((a, b, weight) for (a, b), weight in edges),
        _windows(entries),
    )


def _windows(entries: Sequence[LoggedFilter]) -> tuple[Window, ...]:
    """The log cut into stretches of as many queries each, in the order of time."""
    timed = sorted((it for it in entries if it.timestamp is not None), key=_moment)
    size = max(_FEWEST_QUERIES, -(-len(timed) // _MOST_WINDOWS))
    found: list[Window] = []
    before: dict[str, float] | None = None
    for start in range(0, len(timed), size):
        some = timed[start : start + size]
        forms = forms_of([(it.filter, it.weight) for it in some])
        score = None if before is None else distance(before, forms)
        first = some[0].timestamp
        found.append(Window(first.isoformat() if first else None, sum(it.weight for it in some), score))
        before = forms
    return tuple(found)


def _moment(entry: LoggedFilter) -> float:
    return 0.0 if entry.timestamp is None else entry.timestamp.timestamp()
