"""Simulations on a small made-up table with the columns that the ranges use."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.tpch.simulations import (
    best_columns,
    clustering_seconds,
    generated_workload,
    simulate_layouts,
    simulate_ranges,
    sweep_features,
)
from benchmarks.tpch.simulator import Simulator
from benchmarks.tpch.values import REGIONS, SEGMENTS
from skipstone.layout.formulas import holds
from skipstone.layout.sample import Sample
from skipstone.layout.table_view import FitWorkload, TableView
from skipstone.layout.workload_view import workload_view
from skipstone.predicate.expr import And, Column, Comparison, Expr, Literal
from skipstone.predicate.types import DATE, INT, STRING
from skipstone.pruning.blocks import Feature

ROWS = 6_000
DAY = Column(("o_orderdate",), DATE)
REGION, SEGMENT = Column(("cr_name",), STRING), Column(("c_mktsegment",), STRING)
QUANTITY = Column(("l_quantity",), INT)
FIRST = 8766  # 1994-01-01


@pytest.fixture(scope="module")
def simulator() -> Simulator:
    random = np.random.default_rng(3)
    days, regions, segments = (
        random.integers(0, 365, ROWS),
        random.integers(0, 5, ROWS),
        random.integers(0, 5, ROWS),
    )
    quantities = random.integers(1, 51, ROWS)
    atoms: dict[Expr, np.ndarray] = {
        Comparison("=", REGION, Literal("ASIA", STRING)): regions == REGIONS.index("ASIA"),
        Comparison("=", SEGMENT, Literal("BUILDING", STRING)): segments == SEGMENTS.index("BUILDING"),
        Comparison("<", QUANTITY, Literal(11, INT)): quantities < 11,
        Comparison("<", DAY, Literal(FIRST + 31, DATE)): days < 31,
    }
    asked = list(atoms)
    view = workload_view([And((asked[0], asked[3])), And((asked[1], asked[3])), And((asked[0], asked[2]))])
    sample = Sample(
        np.stack([atoms[atom] for atom in view.atoms], axis=1),
        {
            DAY: pa.array(FIRST + days, pa.int64()),
            REGION: pa.array([REGIONS[region] for region in regions]),
            SEGMENT: pa.array([SEGMENTS[segment] for segment in segments]),
            QUANTITY: pa.array(quantities),
        },
        scale=1.0,
    )
    features = tuple(Feature(atom, str(index)) for index, atom in enumerate(asked[:3]))
    indices = [view.atoms.index(atom) for atom in asked[:3]]
    workload = FitWorkload(view, features, np.array([2.0, 1.0, 1.0]), sample.bits[:, indices])
    needed = 100.0 * float(np.mean([holds(formula, sample.bits).mean() for formula in view.formulas]))
    return Simulator(TableView(sample, 100), workload, sample, view, needed)


def test_the_papers_ranges_have_a_block_for_each_day_and_for_each_combination(simulator: Simulator) -> None:
    found = simulate_ranges(simulator)
    assert found["range1"]["blocks"] == 365
    assert found["range2"]["blocks"] <= 12 * 5 * 5 * 5
    # A day hardly tells regions apart; the composite range holds just what each query asks for.
    assert 30.0 < found["range1"]["percent_scanned"] < (31 / 365 * 2 + 1) / 3 * 100 + 1.0
    assert found["range2"]["percent_scanned"] == pytest.approx(simulator.percent_needed)


@pytest.mark.parametrize("layout", ["zorder", "hilbert", "sop", "qdtree"])
def test_every_layout_scans_less_than_all_and_no_less_than_needed(simulator: Simulator, layout: str) -> None:
    found = simulate_layouts(simulator, [layout], ROWS, lambda: 0.0, blocks=(20, 60))
    coarse, fine = found[f"{layout} 20"], found[f"{layout} 60"]
    for piece in (coarse, fine):
        assert simulator.percent_needed - 1e-9 <= piece["percent_scanned"] < 80.0
        assert piece["blocks"] > 1
    assert fine["percent_scanned"] <= coarse["percent_scanned"] + 1.0


def test_more_features_never_make_fewer_distinct_vectors(simulator: Simulator) -> None:
    found = sweep_features(simulator, 200)
    assert list(found) == ["1", "2", "3"]
    vectors = [piece["vectors"] for piece in found.values()]
    assert vectors == sorted(vectors)
    assert vectors[-1] == 8


def test_the_best_columns_are_among_the_candidates(simulator: Simulator) -> None:
    found = best_columns(simulator, 30, ROWS, most=2)
    assert len(found["columns"]) == 2
    assert set(found["columns"]) <= set(found["candidates"])
    assert found["percent_scanned_on_training"] < 100.0


def test_clustering_is_timed_by_the_given_clock() -> None:
    ticks = iter([5.0, 7.5])
    assert clustering_seconds(50, 8, lambda: next(ticks)) == 2.5


def test_the_generated_workload_reads_the_table_and_is_seeded() -> None:
    queries = generated_workload(20, seed=1).queries
    assert len(queries) == 20
    assert all(" FROM tpch WHERE " in query.sql for query in queries)
    assert generated_workload(20, seed=1) != generated_workload(20, seed=2)
