"""SOP combined with Z-order: what is chosen, degenerate workloads, and that Spark numbers rows alike."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date, timedelta
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import DateType, DoubleType, IntegerType, StringType, StructField, StructType
from tests.layout import cases

from skipstone.catalog.logical_names import LogicalNames
from skipstone.layout.assignment import Assignment, Clusters, Grid, Partitioned, VectorMap
from skipstone.layout.assignment_json import assignment_from_json, assignment_to_json
from skipstone.layout.bit_shares import interleaved, schedule, share_bits
from skipstone.layout.contract import Design
from skipstone.layout.filtered import atoms_of
from skipstone.layout.quick_scan import QuickScan
from skipstone.layout.ranks import Ranked
from skipstone.layout.sample import Sample
from skipstone.layout.select_features import select_features
from skipstone.layout.selforg import SelfOrg, SelfOrgOptions, _grid, _Shares
from skipstone.layout.simulate import simulate
from skipstone.layout.sop_clusters import order_clusters
from skipstone.layout.workload_view import workload_view
from skipstone.layout.zcurve import order_keys
from skipstone.predicate.expr import And, Column, Comparison, Expr, Match, Not, Or, Value
from skipstone.predicate.normalize import normalize_filter
from skipstone.predicate.render import to_sql
from skipstone.pruning.blocks import Feature
from skipstone.spark.engine.assign import BLOCK, with_block
from skipstone.workload.selection import Thresholds

LATE = Comparison("<", cases.DAY, cases.SHIPPED)
RARE = Match("ends_with", cases.KIND, "7")


def log(z: bool = True, sop: bool = True) -> list[Expr]:
    """Ranges with changing constants, and two predicates that never change."""
    days = [
        And((cases.compare(">=", cases.DAY, n * 40), cases.compare("<", cases.DAY, n * 40 + 50)))
        for n in range(20)
    ]
    prices = [cases.compare("<", cases.PRICE, 5.0 * n) for n in range(1, 9)]
    fixed: list[Expr] = [RARE, Not(cases.compare("=", cases.CITY, "Bonn")), And((RARE, LATE))]
    return [normalize_filter(each) for each in (days + prices) * z + fixed * (10 * sop)]


def case(z: bool = True, sop: bool = True, block_rows: int = 600, rows: int = 3000) -> cases.Case:
    view = workload_view(log(z, sop))
    bits = cases.bits_of(view.atoms, cases.rows_of(rows, 7))
    return cases.case(rows=rows, block_rows=block_rows).without_features().with_queries(view, bits)


def fit(found: cases.Case, layout: SelfOrg | None = None, curve: str = "z") -> Design:
    return (layout or SelfOrg()).fit(found.view, found.workload, SelfOrgOptions(curve))


@cache
def fitted() -> tuple[cases.Case, Design]:
    found = case()
    return found, fit(found)


def clusters(assignment: Assignment) -> list[Clusters]:
    assert isinstance(assignment, Grid)
    return [each for each in assignment.dimensions if isinstance(each, Clusters)]


def scanned(design: Design, found: cases.Case) -> float:
    numbers = found.numbers(design.group.assignment)
    return simulate(numbers, found.sample, found.queries, design.group.features).mean


def test_ranges_and_predicates_share_the_blocks() -> None:
    found, design = fitted()
    assert isinstance(design.group.assignment, Grid)
    assert len(clusters(design.group.assignment)) == 1
    assert cases.DAY in {
        each.expr for each in design.group.assignment.dimensions if not isinstance(each, Clusters)
    }
    assert {RARE, LATE} <= {feature.predicate for feature in design.group.features}
    assert design.parameters["sop_bits"]
    numbers = found.numbers(design.group.assignment)
    rows = np.bincount(numbers) * found.sample.scale
    assert rows.max() <= 3 * found.view.block_rows


def test_shares_that_were_searched_for_scan_less_than_equal_ones() -> None:
    found, design = fitted()
    assert scanned(design, found) < scanned(fit(found, SelfOrg(searched=False)), found)


def test_a_hilbert_curve_will_do_as_well() -> None:
    found, design = fitted()
    other = fit(found, curve="hilbert")
    assert (design.parameters["curve"], other.parameters["curve"]) == ("z", "hilbert")
    assert "along the Hilbert curve" in other.note
    assert scanned(other, found) < 1.5 * scanned(design, found)
    assert assignment_to_json(other.group.assignment) != assignment_to_json(design.group.assignment)


def test_a_hilbert_curve_over_many_axes_loses_no_bits() -> None:
    """Five axes of 13 bits would need 65: rows of the upper half of the first would join the lower half's."""
    found = case(block_rows=300)
    axes = (cases.DAY, cases.SHIPPED, cases.KIND, cases.CITY, cases.PRICE)
    atoms = found.queries.atoms
    grid = _grid(found.view, atoms, _Shares(axes, (13, 1, 1, 1, 1), "hilbert"))
    plain = _grid(found.view, atoms, _Shares(axes, (12, 1, 1, 1, 1), "hilbert"))
    days = np.array(found.sample.columns[cases.DAY].to_pylist())

    def widths(assignment: Assignment) -> float:
        numbers = found.numbers(assignment)
        return float(np.mean([np.ptp(days[numbers == block]) for block in np.unique(numbers)]))

    assert widths(grid) < 1.2 * widths(plain)


def test_without_sop_features_it_is_plain_z_order() -> None:
    found = case(sop=False)
    design = fit(found)
    assert clusters(design.group.assignment) == []
    assert scanned(design, found) < 0.5


def test_without_z_features_clusters_are_cut_along_a_filtered_column_or_spread() -> None:
    found = case(z=False)
    design = fit(found)
    assert scanned(design, found) < 0.8
    bare = found.with_sample(replace(found.sample, columns={}))
    design = fit(bare)
    assert isinstance(design.group.assignment, VectorMap)
    assert design.parameters["curve"] is None
    assert len(np.unique(bare.numbers(design.group.assignment))) > 10


def test_blocks_may_be_fewer_than_clusters() -> None:
    found = case(block_rows=12_000)
    design = fit(found)
    assert 1 <= len(np.unique(found.numbers(design.group.assignment))) <= 4


def test_thresholds_decide_what_is_a_dimension() -> None:
    design = fit(case(), SelfOrg(thresholds=Thresholds(theta=10_000)))
    assert design.parameters["sop"]
    assert all(isinstance(each, Expr) for each in design.group.expressions)


def test_additional_features_have_statistics_but_no_dimension() -> None:
    """shipped follows day, so it is not a dimension of its own in the thesis's way."""
    found = case()
    more = [normalize_filter(cases.compare(">", cases.SHIPPED, 50 * n)) for n in range(5)]
    view = workload_view([*log(), *more])
    bits = cases.bits_of(view.atoms, cases.rows_of(3000, 7))
    found = found.with_queries(view, bits)
    design = fit(found, SelfOrg(searched=False))
    assert "shipped" in str(design.parameters["additional"])
    assert "shipped" not in str(design.parameters["z"])


def test_every_additional_predicate_gets_its_bit() -> None:
    """What analyze says is kept in statistics is kept."""
    found = case()
    texts = [f"none {n}" for n in range(80)]
    pairs = [(cases.compare("=", cases.KIND, text), Match("ends_with", cases.KIND, text)) for text in texts]
    never = [normalize_filter(Or(pair)) for pair in pairs]
    view = workload_view([*log(), *never], np.append(np.ones(len(log())), np.arange(80.0) + 1))
    bits = cases.bits_of(view.atoms, cases.rows_of(3000, 7))
    found = found.with_queries(view, bits)
    chosen = select_features(view, found.sample, Thresholds(gamma=1))
    design = fit(found, SelfOrg(thresholds=Thresholds(gamma=1)))
    extra = {each.expr for each in chosen.additional if each.kind == "sop"}
    beyond = {each.expr for each in chosen.dropped if each.code == "BEYOND_STATISTICS"}
    kept = {feature.predicate for feature in design.group.features}
    assert set(never[20:]) <= extra <= kept, "the most frequent"
    assert beyond
    assert beyond.isdisjoint(kept)


def test_a_column_that_few_rows_differ_in_is_no_constant() -> None:
    view = workload_view([cases.compare(">", cases.REGION, n) for n in range(4)])
    regions = np.where(np.arange(40_000) % 20_000 == 7, 9, 0)
    bits = regions[:, None] > np.arange(4)
    found = select_features(view, Sample(bits, {cases.REGION: pa.array(regions)}, 1.0))
    assert [each.expr for each in found.z] == [cases.REGION]


def test_neighbouring_clusters_share_bits_and_unseen_vectors_have_a_bucket() -> None:
    rng = np.random.default_rng(5)
    bits = rng.random((4000, 9)) < rng.uniform(0.05, 0.5, 9)
    features = tuple(Feature(cases.compare("=", cases.REGION, n), str(n)) for n in range(9))
    found = order_clusters(features, np.ones(9), bits)
    joined = found.joined(3)
    assert joined.buckets <= 8
    assert 0 <= joined.otherwise < joined.buckets
    sizes = np.bincount(joined.bucket_of, found.rows)
    assert sizes.min() > 100
    assert len(found.vectors) == len(np.unique(bits, axis=0))


@pytest.mark.parametrize("seed", range(12))
def test_the_quick_measure_never_promises_more_than_pruning_keeps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = cases.with_features_as_atoms(cases.case(rows=800, queries=30, seed=seed))
    ors = [each for each in found.queries.filters if each not in found.queries.atoms][:3]
    features = (*found.workload.features, *(Feature(each, to_sql(each)) for each in ors))
    along = [cases.DAY, cases.KIND, cases.PRICE][seed % 3]
    order = np.argsort(np.array([str(value) for value in found.sample.columns[along].to_pylist()]))
    numbers = np.empty(800, np.int32)
    numbers[order] = np.sort(rng.integers(0, 20, 800))
    quick = QuickScan.of(found.sample, found.queries, features).scanned(numbers)
    exact = simulate(numbers, found.sample, found.queries, features).mean
    assert exact - 1e-9 <= quick <= 1.5 * exact + 0.1


def test_the_quick_measure_lists_a_column_once_and_looks_only_at_what_queries_ask(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = case(rows=500)
    listed: list[Ranked] = []

    def values(column: Ranked) -> tuple[Value, ...]:
        listed.append(column)
        return tuple(column.array.to_pylist())

    monkeypatch.setattr(Ranked, "values", property(values))
    scan = QuickScan.of(found.sample, found.queries, ())
    asked = {index for subject in scan.subjects for index in subject.atoms.tolist()}
    assert len(asked) > 40, "atoms about a column"
    assert len(listed) == len(scan.subjects), "and not once for every constant"
    view = found.queries
    one = replace(view, formulas=view.formulas[:1], filters=view.filters[:1], weights=view.weights[:1])
    scan = QuickScan.of(found.sample, one, ())
    assert {index for subject in scan.subjects for index in subject.atoms.tolist()} == atoms_of(
        one.formulas[0]
    )


def test_the_quick_measure_finds_nan() -> None:
    found = case(rows=500)
    view = workload_view([normalize_filter(cases.compare("=", cases.PRICE, math.nan))])
    bits = cases.bits_of(view.atoms, cases.rows_of(500, 7))
    found = found.with_queries(view, bits)
    assert bits.any()
    assert not bits.all()
    # Blocks of nothing but NaN, which the query needs, and of everything else.
    assert QuickScan.of(found.sample, found.queries, ()).scanned(bits[:, 0].astype(np.int32)) == bits.mean()


def test_equal_shares_interleave_as_the_z_curve_does() -> None:
    points = np.random.default_rng(1).integers(0, 8, (50, 3))
    keys = interleaved(list(points.T), (3, 3, 3))
    assert keys.tolist() == order_keys(points, 3).astype(np.int64).tolist()
    assert schedule((4, 2)).count(0) == 4
    assert share_bits((2, 2), 3, 4, lambda bits: -bits[1])[1] == 2


def test_a_stored_assignment_numbers_rows_alike() -> None:
    found, design = fitted()
    again = assignment_from_json(assignment_to_json(design.group.assignment))
    assert (found.numbers(again) == found.numbers(design.group.assignment)).all()


def test_spark_numbers_the_same_rows_alike(spark: SparkSession) -> None:
    """Also with NULL, NaN, an unseen vector, and inside horizontal partitions."""
    found = case(rows=600, block_rows=300)
    rows = cases.rows_of(600, 7)
    types = (DateType(), DateType(), StringType(), StringType(), DoubleType(), IntegerType())
    schema = StructType(
        [StructField("place", IntegerType())]
        + [StructField(column.path[0], type_) for column, type_ in zip(cases.COLUMNS, types, strict=True)]
    )

    def value(column: Column, it: object) -> object:
        days = column in (cases.DAY, cases.SHIPPED) and it is not None
        return date(1970, 1, 1) + timedelta(days=int(str(it))) if days else it

    data = [(index, *(value(c, row[c]) for c in cases.COLUMNS)) for index, row in enumerate(rows)]
    frame = spark.createDataFrame(data, schema).coalesce(1)
    names = LogicalNames({column.path: column.path for column in cases.COLUMNS})
    design = fit(found)
    (axis,) = clusters(design.group.assignment)
    assert isinstance(design.group.assignment, Grid)
    unseen = replace(axis, vectors=axis.vectors[1:], bucket_of=axis.bucket_of[1:])
    dimensions = tuple(unseen if each is axis else each for each in design.group.assignment.dimensions)
    fewer = Grid(dimensions, design.group.assignment.block_of, design.group.assignment.blocks)
    split = cases.by_city(found)
    parts = fit(split).group.assignment
    assert isinstance(parts, Partitioned)
    for assignment, of in ((fewer, found), (parts, split)):
        got = with_block(frame, assignment, names)
        assert got.columns == [*frame.columns, BLOCK]
        numbers = [row[BLOCK] for row in sorted(got.collect(), key=lambda row: row["place"])]
        assert numbers == of.numbers(assignment).tolist()
