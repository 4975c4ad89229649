"""Drift: new constants are none, new columns and new shapes are, and it is always between 0 and 1."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skipstone.estimate.drift import drift, form_of
from skipstone.predicate.expr import And, Column, Comparison, Expr, In, IsNull, Like, Literal, Not, Opaque
from skipstone.predicate.types import INT, STRING

DAY, PRICE, CITY = Column(("day",), INT), Column(("price",), INT), Column(("city",), STRING)


def compare(op: str, column: Column, value: object) -> Expr:
    return Comparison(op, column, Literal(value, column.type))


def on(column: Column, *values: int, times: float = 1e6) -> list[tuple[Expr, float]]:
    return [(compare(">=", column, value), times) for value in values]


workloads = st.lists(
    st.tuples(
        st.builds(
            compare, st.sampled_from(["<", "=", ">="]), st.sampled_from([DAY, PRICE]), st.integers(0, 9)
        ),
        st.floats(0.5, 9),
    ),
    min_size=1,
    max_size=8,
)


def test_a_moving_window_is_no_drift() -> None:
    found = drift(on(DAY, 1, 2, 3), on(DAY, 100, 101), (DAY,), ())
    assert (found.distance, found.unserved, found.score) == (0.0, 0.0, 0.0)


def test_another_column_is_a_drift_that_the_layout_does_not_serve() -> None:
    found = drift(on(DAY, 1, 2), on(PRICE, 1, 2), (DAY,), ())
    assert (found.distance, found.unserved, found.unserved_before, found.score) == (1.0, 1.0, 0.0, 1.0)


def test_samples_of_one_workload_are_as_far_apart_as_chance_has_it() -> None:
    random = np.random.default_rng(0)
    columns = [Column((f"c{index}",), INT) for index in range(12)]
    scores, noises, distances = [], [], []
    for _ in range(60):
        old, new = (
            [pair for c in random.choice(12, 40) for pair in on(columns[c], 1, times=1.0)] for _ in "ab"
        )
        found = drift(old, new, columns, ())
        scores.append(found.score)
        noises.append(found.noise)
        distances.append(found.distance)
    assert np.mean(distances) == pytest.approx(np.mean(noises), rel=0.1)
    assert np.mean(distances) > 0.2
    assert max(scores) < 0.2
    few = drift(on(columns[0], 1, times=20.0), on(columns[1], 1, times=20.0), columns, ())
    assert few.score > 0.5, "a change of everything shows in few queries, too"


def test_a_quarter_of_new_queries_is_a_drift_of_a_quarter() -> None:
    found = drift(on(DAY, 1, 2, 3, 4), on(DAY, 1, 2, 3) + on(PRICE, 1), (DAY,), ())
    assert found.score == pytest.approx(0.25, abs=0.001)
    assert found.queries == 4e6


def test_a_predicate_that_implies_a_feature_is_served() -> None:
    feature = compare("<", PRICE, 10)
    served = drift([(feature, 1.0)], [(compare("=", PRICE, 3), 1.0)], (), (feature,))
    assert served.unserved == 0.0
    other = drift([(feature, 1.0)], [(compare("=", CITY, "Oslo"), 1.0)], (), (feature,))
    assert other.unserved == 1.0


def test_an_equality_cut_serves_only_what_implies_it() -> None:
    oslo, bonn = compare("=", CITY, "Oslo"), compare("=", CITY, "Bonn")
    found = drift([(oslo, 1.0)], [(oslo, 1.0), (bonn, 1.0)], (), (oslo,))
    assert found.distance == 0.0
    assert found.score == pytest.approx(0.5)


def test_null_tests_beside_comparisons_do_not_count() -> None:
    plain = compare("<", DAY, 5)
    guarded = And((Not(IsNull(DAY)), plain))
    assert drift([(plain, 1.0)], [(guarded, 1.0)], (DAY,), ()).score == 0.0


def test_an_unfiltered_scan_is_unserved() -> None:
    found = drift(on(DAY, 1), [(Literal(True, INT), 1.0)], (DAY,), ())
    assert found.unserved == 1.0


@settings(max_examples=60, deadline=None)
@given(workloads, workloads)
def test_drift_is_a_distance_between_nothing_and_one(
    before: list[tuple[Expr, float]], now: list[tuple[Expr, float]]
) -> None:
    found = drift(before, now, (DAY,), ())
    assert 0.0 <= found.distance <= 1.0 + 1e-12
    assert 0.0 <= found.score <= 1.0 + 1e-12
    assert drift(now, before, (DAY,), ()).distance == pytest.approx(found.distance)
    assert drift(before, before, (DAY,), ()).score == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("predicate", "form"),
    [
        (compare("<", DAY, 5), "(day range ?)"),
        (In(CITY, (Literal("a", STRING), Literal("b", STRING))), "(city equals ?)"),
        (Like(CITY, "%x%"), "(city like ?)"),
        (Not(compare("=", CITY, "x")), "not (city equals ?)"),
        (Opaque("f(city)", "UDF", (CITY,)), "UDF(city)"),
    ],
)
def test_forms_leave_constants_out(predicate: Expr, form: str) -> None:
    assert form_of(predicate) == form
