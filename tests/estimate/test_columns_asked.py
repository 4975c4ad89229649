from __future__ import annotations

from datetime import UTC, datetime, timedelta

from skipstone.estimate.columns_asked import columns_asked
from skipstone.predicate.expr import And, Column, Comparison, Expr, IsNull, Literal, Not
from skipstone.predicate.types import BOOLEAN, INT
from skipstone.workload.predicates import LoggedFilter

A, B = Column(("a",), INT), Column(("b",), INT)
START = datetime(2026, 1, 1, tzinfo=UTC)


def above(column: Column, value: int) -> Expr:
    return Comparison(">", column, Literal(value, INT))


def asked(filter_: Expr, weight: float = 1.0, day: int | None = None) -> LoggedFilter:
    moment = None if day is None else START + timedelta(days=day)
    return LoggedFilter(filter_, weight, moment)


def test_columns_count_by_the_weight_of_their_queries_and_pairs_by_what_they_share() -> None:
    both = And((above(A, 1), above(B, 2), Not(IsNull(A))))
    found = columns_asked([asked(both, 3), asked(above(A, 5)), asked(Literal(True, BOOLEAN))]).to_dict()
    assert found["columns"] == [
        {"sql": "a", "queries": 4.0, "predicates": 2},
        {"sql": "b", "queries": 3.0, "predicates": 1},
    ]
    assert found["correlation"] == {"nodes": ["a", "b"], "edges": [{"a": "a", "b": "b", "queries": 3.0}]}
    assert found["drift"] == []


def test_drift_is_the_distance_of_each_stretch_from_the_one_before() -> None:
    entries = [asked(above(A if day < 10 else B, day), day=day) for day in range(20)]
    found = columns_asked(entries)
    assert [window.queries for window in found.windows] == [5.0] * 4
    assert [window.score for window in found.windows] == [None, 0.0, 1.0, 0.0]
    assert found.windows[0].time == START.isoformat()


def test_nothing_asked_is_nothing_told() -> None:
    assert columns_asked([]).to_dict() == {
        "columns": [],
        "correlation": {"nodes": [], "edges": []},
        "drift": [],
    }
