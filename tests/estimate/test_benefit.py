"""The benefit: estimates on a sample against the same layout over all rows, and their arithmetic."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from tests.layout.cases import Case

from skipstone.catalog.column_sizes import ColumnSizes, PerRow
from skipstone.estimate.benefit import Load, Scanned, load_of, observed_days, scanned_blocks, volume
from skipstone.estimate.cost import DEFAULT, Extent
from skipstone.layout.contract import Design
from skipstone.layout.grid import GridOptions
from skipstone.layout.sample import Sample, WorkloadView
from skipstone.layout.simulate import simulate
from skipstone.layout.table_view import FitWorkload, TableView
from skipstone.layout.workload_view import workload_view
from skipstone.layout.zorder import ZORDER
from skipstone.predicate.expr import And, Column, Comparison, Expr, Literal
from skipstone.predicate.render import to_sql
from skipstone.predicate.types import LONG
from skipstone.pruning.blocks import Feature
from skipstone.workload.predicates import LoggedFilter

ROWS, BLOCK_ROWS, SAMPLED = 120_000, 2_000, 12_000
NUMBERS = tuple(Column((f"n{index}",), LONG) for index in range(3))
KINDS = tuple(Column((f"k{index}",), LONG) for index in range(12))


def equals(column: Column, value: int) -> Expr:
    return Comparison("=", column, Literal(value, LONG))


def between(column: Column, low: int, high: int) -> tuple[Expr, Expr]:
    return (
        Comparison(">=", column, Literal(low, LONG)),
        Comparison("<", column, Literal(high, LONG)),
    )


@pytest.fixture(scope="module")
def everything() -> Case:
    """All rows of a table: three numbers of which one is skewed, twelve rare kinds, and queries on each."""
    rng = np.random.default_rng(5)
    values: dict[Column, np.ndarray] = {
        NUMBERS[0]: rng.integers(0, 100_000, ROWS),
        NUMBERS[1]: rng.integers(0, 1_000, ROWS),
        NUMBERS[2]: np.minimum(rng.zipf(1.3, ROWS), 50_000),
    }
    values |= {kind: rng.choice(100, ROWS, p=[0.03, *[0.97 / 99] * 99]) for kind in KINDS}
    filters: list[Expr] = []
    for start in range(0, 90_000, 9_000):
        filters.append(And(between(NUMBERS[0], start, start + 5_000)))
        filters.append(And(between(NUMBERS[1], start // 100, start // 100 + 40)))
        filters.append(And(between(NUMBERS[2], start // 1_000 + 2, start // 1_000 + 4)))
    filters += [equals(kind, 0) for kind in KINDS for _ in range(2)]
    view = workload_view(filters)
    features = tuple(Feature(equals(kind, 0), to_sql(equals(kind, 0))) for kind in KINDS)
    bits = np.stack([holds(atom, values) for atom in view.atoms], axis=1)
    columns: dict[Expr, pa.Array] = {key: pa.array(column) for key, column in values.items()}
    return with_features(Case(TableView(Sample(bits, columns, 1.0), BLOCK_ROWS), FitWorkload(view)), features)


def holds(atom: Expr, values: dict[Column, np.ndarray]) -> np.ndarray:
    assert isinstance(atom, Comparison)
    assert isinstance(atom.left, Column)
    assert isinstance(atom.right, Literal)
    compare = {"=": np.equal, "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
    found: np.ndarray = compare[atom.op](values[atom.left], np.asarray(atom.right.value))
    return found


def with_features(case: Case, features: tuple[Feature, ...]) -> Case:
    numbers = {atom: number for number, atom in enumerate(case.queries.atoms)}
    bits = case.sample.bits[:, [numbers[feature.predicate] for feature in features]]
    return replace(case, workload=FitWorkload(case.queries, features, np.full(len(features), 2.0), bits))


def drawn(case: Case, rows: int, seed: int = 0) -> Case:
    chosen = np.sort(np.random.default_rng(seed).choice(len(case.sample), rows, replace=False))
    columns = {key: column.take(pa.array(chosen)) for key, column in case.sample.columns.items()}
    smaller = Sample(case.sample.bits[chosen], columns, len(case.sample) / rows)
    return replace(case.with_sample(smaller), workload=case.workload.of_rows(chosen))


def skipped(scanned: Scanned | np.ndarray, view: WorkloadView) -> float:
    share = scanned.share if isinstance(scanned, Scanned) else scanned
    return float(1 - share @ view.weights / view.weights.sum())


def compared(everything: Case, design: Design, sample: Case) -> tuple[float, float, float]:
    """The skipped share of all rows: real, estimated with and without the correction."""
    view, features = everything.queries, everything.workload.features
    assignment = design.group.assignment
    real = simulate(everything.numbers(assignment), everything.sample, view, features)
    numbers = sample.numbers(assignment)
    estimate = scanned_blocks(numbers, sample.sample, view, features)
    plain = simulate(numbers, sample.sample, view, features)
    return skipped(real.scanned, view), skipped(estimate, view), skipped(plain.scanned, view)


@pytest.mark.parametrize("z", [1, 2, 3])
def test_the_estimate_for_z_features_is_within_a_factor(everything: Case, z: int) -> None:
    sample = drawn(everything, SAMPLED)
    design = ZORDER.fit(sample.view, sample.workload, GridOptions(NUMBERS[:z]))
    real, estimate, _ = compared(everything, design, sample)
    assert real > 0.1
    assert 1 / 1.25 <= estimate / real <= 1.25


@pytest.mark.parametrize("sop", [4, 8, 12])
def test_the_estimate_for_sop_features_is_within_a_factor(everything: Case, sop: int) -> None:
    some = with_features(everything, everything.workload.features[:sop])
    sample = drawn(some, SAMPLED)
    real, estimate, _ = compared(some, sample.fit("sop"), sample)
    assert real > 0.05
    assert 1 / 1.25 <= estimate / real <= 1.25


def test_the_correction_comes_closer_to_the_truth(everything: Case) -> None:
    sample = drawn(everything, SAMPLED // 4)
    for name in ("zorder", "qdtree"):
        real, estimate, plain = compared(everything, sample.fit(name), sample)
        assert plain > real, "blocks of a sample look too good"
        assert abs(estimate - real) < abs(plain - real)


def test_a_sample_of_everything_needs_no_correction(everything: Case) -> None:
    numbers = (np.arange(ROWS) // BLOCK_ROWS).astype(np.int32)
    view, features = everything.queries, everything.workload.features
    exact = simulate(numbers, everything.sample, view, features)
    found = scanned_blocks(numbers, everything.sample, view, features)
    np.testing.assert_array_equal(found.share, exact.scanned)


def test_without_queries_nothing_is_scanned_also_in_a_sample_that_would_be_corrected() -> None:
    values: dict[Expr, pa.Array] = {Column(("x",), LONG): pa.array(range(10))}
    sample = Sample(np.zeros((10, 0), np.bool_), values, scale=4.0)
    found = scanned_blocks(np.zeros(10, np.int32), sample, workload_view([]), ())
    assert (len(found.share), len(found.blocks)) == (0, 0)


def test_bytes_are_those_of_the_columns_that_each_query_reads() -> None:
    a, b = equals(NUMBERS[0], 1), equals(NUMBERS[1], 2)
    entries = [
        LoggedFilter(a, 3.0, columns=("n0",)),
        LoggedFilter(a, 1.0, columns=("n0", "n1")),
        LoggedFilter(b),
    ]
    view = workload_view([entry.filter for entry in entries], [entry.weight for entry in entries])
    load = load_of(view, entries, ColumnSizes({"n0": PerRow(2, 1), "n1": PerRow(10, 6)}))
    assert load.weights.tolist() == [4.0, 1.0]
    assert load.row_bytes.tolist() == [(3 * 2 + 12) / 4, 12.0]
    assert load.row_values.tolist() == [(3 * 1 + 7) / 4, 7.0]


def test_the_volume_is_extrapolated_to_the_table() -> None:
    scanned = Scanned(np.array([0.5, 0.1]), np.array([4.0, 1.0]))
    load = Load(np.array([1.0, 10.0]), np.array([100.0, 10.0]), np.array([4.0, 3.0]))
    found = volume(scanned, load, 1e6, DEFAULT)
    assert found.rows == pytest.approx(1.5e6)
    assert found.bytes == pytest.approx(60e6)
    assert found.files == 14.0
    assert found.seconds == pytest.approx(DEFAULT.read_seconds(Extent(60e6, 1.5e6, 5e6), 14))


def test_the_rate_of_queries_is_unknown_without_times() -> None:
    start = datetime(2024, 5, 1)
    assert observed_days([None, None]) is None
    assert observed_days([start]) is None
    assert observed_days([start, start]) is None
    assert observed_days([start + timedelta(hours=12 * step) for step in range(4)]) == pytest.approx(2.0)
