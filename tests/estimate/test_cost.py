"""The cost model: fits recover what was measured, and what was not measured goes with it."""

from __future__ import annotations

import math
from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skipstone.catalog.column_sizes import PerRow
from skipstone.errors import SkipstoneError
from skipstone.estimate.cost import (
    DEFAULT,
    Coefficients,
    CostModel,
    Extent,
    Observation,
    RewriteFeatures,
    fit,
)
from skipstone.estimate.rewrite_features import placed_by, rewrite_features
from skipstone.layout.assignment import Clusters, Dimension, Grid, Partitioned, Split, Tree, VectorMap
from skipstone.predicate.expr import Column, Comparison, Expr, Literal
from skipstone.predicate.types import INT

TRUTH = Coefficients(2.0, 40.0, 0.5, 0.4, 0.05, 0.8, 0.15, 0.05, 0.002, 0.01, 0.01)
WIDE, NARROW = PerRow(100.0, 9.0), PerRow(12.0, 6.0)


def extent(rows: float, row: PerRow = WIDE) -> Extent:
    return Extent.of(rows, row)


SHAPES = [
    RewriteFeatures(extent(rows * 1e6, row), z, s, a)
    for rows, row in ((5, WIDE), (5, NARROW), (20, WIDE), (80, NARROW))
    for z in (1, 3)
    for s in (0, 4, 12)
    for a in (0, 10)
]
READS = [
    (extent(rows * 1e6, row), files)
    for rows in (0.1, 2, 10)
    for row in (WIDE, NARROW)
    for files in (1, 20, 300)
]
X, Y = (Column((name,), INT) for name in "xy")
CUT_X, CUT_Y = (Comparison("<", column, Literal(5, INT)) for column in (X, Y))
SAME = Comparison("=", X, Y)


def observations(truth: Coefficients, noise: float = 0.0, seed: int = 0) -> list[Observation]:
    rng = np.random.default_rng(seed)

    def off() -> float:
        return float(rng.uniform(1 - noise, 1 + noise))

    rewrites = [Observation.rewrite(shape, truth.rewrite_seconds(shape) * off()) for shape in SHAPES]
    reads = [
        Observation.read(size, files, (truth.read_fixed + truth.read_seconds(size, files)) * off())
        for size, files in READS
    ]
    return rewrites + reads


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0.2, 5), min_size=11, max_size=11))
def test_a_fit_recovers_the_coefficients_that_made_the_observations(factors: list[float]) -> None:
    truth = Coefficients(*(factor * known for factor, known in zip(factors, astuple(DEFAULT), strict=True)))
    found = fit(observations(truth), DEFAULT)
    for shape in SHAPES:
        assert found.rewrite_seconds(shape) == pytest.approx(truth.rewrite_seconds(shape), rel=0.1)
    for size, files in READS:
        expected = truth.read_seconds(size, files)
        assert found.read_seconds(size, files) == pytest.approx(expected, rel=0.1, abs=0.05)


def test_a_fit_through_noise_predicts_within_the_noise() -> None:
    found = fit(observations(TRUTH, noise=0.2), DEFAULT)
    for shape in SHAPES:
        assert found.rewrite_seconds(shape) == pytest.approx(TRUTH.rewrite_seconds(shape), rel=0.2)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0.001, 1e4), min_size=len(SHAPES), max_size=len(SHAPES)))
def test_no_coefficient_is_ever_negative(seconds: list[float]) -> None:
    seen = [Observation.rewrite(*pair) for pair in zip(SHAPES, seconds, strict=True)]
    found = fit(seen, DEFAULT)
    assert all(getattr(found, name) >= 0 for name in Coefficients.__slots__)


def test_what_was_not_observed_is_slower_by_as_much_as_what_was() -> None:
    shape = RewriteFeatures(extent(10e6), 1, 0, 0)
    found = fit([Observation.rewrite(shape, 2 * TRUTH.rewrite_seconds(shape))] * 2, TRUTH)
    assert found.read_per_mb == TRUTH.read_per_mb
    assert found.rewrite_per_row_sop_feature == pytest.approx(2 * TRUTH.rewrite_per_row_sop_feature)
    assert found.rewrite_seconds(shape) == pytest.approx(2 * TRUTH.rewrite_seconds(shape))


def test_busy_hours_do_not_turn_cheap_features_into_dear_ones() -> None:
    """Rewrites with many features happened to run while the machine was busy."""
    quiet, busy = RewriteFeatures(extent(10e6), 1, 6, 30), RewriteFeatures(extent(10e6), 0, 14, 90)
    seen = [
        Observation.rewrite(shape, TRUTH.rewrite_seconds(shape))
        for shape in (quiet, RewriteFeatures(extent(1e6), 1, 6, 10))
    ]
    seen += [Observation.rewrite(busy, 2.5 * TRUTH.rewrite_seconds(busy))] * 2
    found = CostModel(TRUTH, base=TRUTH).refreshed(seen).coefficients
    assert found.rewrite_per_gb > 0.5 * TRUTH.rewrite_per_gb
    assert found.rewrite_per_row_additional < 4 * TRUTH.rewrite_per_row_additional


def test_two_rewrites_that_agree_outvote_a_calibration() -> None:
    """Its features were cheap ones, say; one rewrite alone may just have met a busy machine."""
    calibrated = CostModel().calibrated(observations(TRUTH))
    shape = RewriteFeatures(extent(10e6), 2, 8, 20)
    before = calibrated.coefficients.rewrite_seconds(shape)
    seen = Observation.rewrite(shape, 2.5 * before)
    once = calibrated.refreshed([seen])
    assert once.describe() == "calibrated coefficients, refreshed by 1 rewrite"
    assert 1.5 < once.coefficients.rewrite_seconds(shape) / before < 2.2
    twice = once.refreshed([seen])
    assert twice.coefficients.rewrite_seconds(shape) == pytest.approx(2.5 * before, rel=0.02)
    assert twice.describe() == "calibrated coefficients, refreshed by 2 rewrites"
    quiet = twice.refreshed([Observation.rewrite(shape, before)] * 3)
    assert quiet.coefficients.rewrite_seconds(shape) < 1.5 * before


def test_newer_observations_weigh_more() -> None:
    shape = RewriteFeatures(extent(10e6), 1, 0, 0)
    old, new = Observation.rewrite(shape, 50.0), Observation.rewrite(shape, 100.0)
    model = CostModel().refreshed([old] * 30 + [new] * 30)
    assert 75 < model.coefficients.rewrite_seconds(shape) < 100
    assert fit([old] * 30 + [new] * 30, DEFAULT).rewrite_seconds(shape) > fit(
        [new] * 30 + [old] * 30, DEFAULT
    ).rewrite_seconds(shape)


def test_only_the_newest_observations_are_kept() -> None:
    model = CostModel()
    for _ in range(3):
        model = model.refreshed(observations(TRUTH))
    kinds = [observation.kind for observation in model.observations]
    assert kinds.count("rewrite") == 64
    assert kinds.count("read") == 54
    assert model.describe() == "default coefficients, refreshed by 64 rewrites and 54 scans"


def test_a_model_survives_being_stored() -> None:
    model = CostModel().calibrated(observations(TRUTH)).refreshed([Observation.rewrite(SHAPES[0], 99.0)])
    assert CostModel.from_json(model.to_json()) == model


def test_a_model_that_cannot_be_read_is_named() -> None:
    with pytest.raises(SkipstoneError, match=r"here\.json cannot be read"):
        CostModel.from_json({"coefficients": {}}, "here.json")


def grid(*axes: Dimension | Clusters) -> Grid:
    return Grid(axes, np.zeros(math.prod(axis.buckets for axis in axes), np.int32), 1)


CLUSTERS = Clusters((CUT_X, CUT_Y), np.zeros((1, 1), np.uint64), np.zeros(1, np.int32), 0, 1)
VECTORS = VectorMap(
    (CUT_X, CUT_Y), np.zeros((1, 1), np.uint64), np.zeros(1, np.int32), np.ones(1, np.int32), 0, 1
)


@pytest.mark.parametrize(
    ("assignment", "kept", "z", "sop", "additional"),
    [
        (grid(Dimension(X, (5,)), Dimension(Y, (5,))), (), 2, 0, 0),
        (grid(Dimension(X, (5,)), CLUSTERS), (CUT_X, CUT_Y), 1, 2, 0),
        (VECTORS, (CUT_X, CUT_Y, SAME), 0, 2, 1),
        (Tree(Split(CUT_X, 0, Split(CUT_Y, 1, Split(CUT_X, 2, 3))), 4), (), 0, 3, 0),
        (Tree(Split(CUT_X, Split(CUT_Y, 0, 1), Split(SAME, 2, 3)), 4), (CUT_X, CUT_Y, SAME), 0, 2, 1),
        (Partitioned(Y, (1,), (VECTORS,)), (), 1, 2, 0),
    ],
)
def test_shapes_count_what_is_computed_per_row(
    assignment: Grid, kept: tuple[Expr, ...], z: int, sop: int, additional: int
) -> None:
    assert rewrite_features(assignment, kept, extent(2e6)) == RewriteFeatures(extent(2e6), z, sop, additional)


def test_what_rows_are_placed_by() -> None:
    assert placed_by(grid(Dimension(X, (5,)), CLUSTERS)) == ((X,), (CUT_X, CUT_Y))
    assert placed_by(Tree(Split(CUT_X, 0, 1), 2)) == ((), (CUT_X,))
