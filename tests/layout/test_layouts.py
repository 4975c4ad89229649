"""All layouts behind their contract: blocks for every row, soundness, determinism, and less to scan."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from tests.layout import cases

from skipstone.errors import SkipstoneError
from skipstone.layout import LAYOUTS
from skipstone.layout.assignment import Dimension, Grid, Partitioned, Tree, VectorMap, blocks_of
from skipstone.layout.assignment_json import assignment_to_json
from skipstone.layout.contract import Design
from skipstone.layout.grid import GridOptions
from skipstone.layout.numbers import block_numbers
from skipstone.layout.own_options import NoOptions
from skipstone.layout.qdtree import QdTree
from skipstone.layout.sample import Sample
from skipstone.layout.simulate import simulate
from skipstone.layout.table_view import FitWorkload, TableView, VectorCounts
from skipstone.layout.workload_view import workload_view
from skipstone.layout.zorder import ZORDER
from skipstone.predicate.expr import Column, Comparison, Expr, Match, Or
from skipstone.predicate.normalize import normalize_filter

NAMES = ("range", "zorder", "hilbert", "sop", "selforg", "qdtree", "hyper")
FOR_QUERIES = NAMES[:-1]


@cache
def whole() -> cases.Case:
    return cases.with_features_as_atoms(cases.case())


@cache
def design(name: str) -> Design:
    return whole().fit(name)


def scanned(design: Design, case: cases.Case) -> np.ndarray:
    numbers = case.numbers(design.group.assignment)
    features = tuple(dict.fromkeys((*case.workload.features, *design.group.features)))
    return simulate(numbers, case.sample, case.queries, features).scanned


def test_all_layouts_are_known_by_name() -> None:
    assert tuple(LAYOUTS) == (*NAMES, "gsop"), "whose designs have several groups: test_gsop.py"


@pytest.mark.parametrize("name", NAMES)
def test_every_row_gets_a_block_of_the_assignment(name: str) -> None:
    numbers = whole().numbers(design(name).group.assignment)
    assert len(numbers) == len(whole().sample)
    assert numbers.min() >= 0
    assert numbers.max() < blocks_of(design(name).group.assignment)
    assert len(np.unique(numbers)) > 10


@pytest.mark.parametrize("name", NAMES)
def test_no_query_scans_fewer_rows_than_it_needs(name: str) -> None:
    rows = cases.rows_of(3000, 7)
    needed = cases.needed(whole().queries, rows)
    found = scanned(design(name), whole())
    assert (found >= needed - 1e-12).all()
    assert (needed > 0).any()


@pytest.mark.parametrize("name", NAMES)
def test_less_is_scanned_than_in_any_order(name: str) -> None:
    weights = whole().queries.weights
    anyhow = np.arange(len(whole().sample), dtype=np.int32) // 60
    before = simulate(anyhow, whole().sample, whole().queries, whole().workload.features).mean
    after = scanned(design(name), whole()) @ weights / weights.sum()
    assert after < 0.8 * before


@pytest.mark.parametrize("name", NAMES)
def test_the_same_input_gives_the_same_assignment(name: str) -> None:
    again = cases.with_features_as_atoms(cases.case()).fit(name)
    assert assignment_to_json(again.group.assignment) == assignment_to_json(design(name).group.assignment)


@pytest.mark.parametrize("name", NAMES)
def test_the_number_of_blocks_is_about_rows_by_block_rows(name: str) -> None:
    assert 25 <= blocks_of(design(name).group.assignment) <= 75


def test_the_qd_tree_scans_least_of_those_that_do_not_search_by_simulation() -> None:
    weights = whole().queries.weights
    means = {name: scanned(design(name), whole()) @ weights for name in NAMES if name != "selforg"}
    assert min(means, key=lambda name: means[name]) == "qdtree"


@pytest.mark.parametrize("name", NAMES)
def test_horizontal_partitions_never_share_a_block(name: str) -> None:
    case = cases.by_city(whole())
    assignment = case.fit(name).group.assignment
    assert isinstance(assignment, Partitioned)
    assert assignment.values == cases.CITIES[:4]
    numbers = case.numbers(assignment)
    assert case.sample.partition is not None
    owners = {(int(n), int(p)) for n, p in zip(numbers, case.sample.partition, strict=True)}
    assert len(owners) == len({block for block, _ in owners}) > 10
    unlisted = numbers[case.sample.partition == 4]
    assert (unlisted == assignment.blocks - 1).all()


@pytest.mark.parametrize("name", FOR_QUERIES)
def test_a_workload_without_usable_filters_is_refused_in_one_sentence(name: str) -> None:
    none = np.zeros((len(whole().sample), 0), np.bool_)
    empty = whole().without_features().with_queries(workload_view([]), none)
    with pytest.raises(SkipstoneError) as refused:
        empty.fit(name)
    assert str(refused.value).count(".") == 1


@pytest.mark.parametrize("name", FOR_QUERIES)
def test_a_layout_that_needs_queries_refuses_to_do_without(name: str) -> None:
    layout = LAYOUTS[name]
    assert layout.needs(layout.options()).workload
    with pytest.raises(SkipstoneError, match=f"The layout {name} is fitted for queries, and there are none"):
        layout.fit(whole().view, None, layout.options())


@pytest.mark.parametrize("name", ["range", "zorder", "hilbert"])
def test_a_grid_by_named_columns_needs_no_workload(name: str) -> None:
    sample = replace(whole().sample, bits=np.zeros((len(whole().sample), 0), np.bool_))
    options = GridOptions(("City", "day"))
    needs = LAYOUTS[name].needs(options)
    assert (needs.workload, needs.all_columns) == (False, True)
    found = LAYOUTS[name].fit(TableView(sample, 600), None, options)
    assert found.group.sort == (cases.CITY, cases.DAY)
    numbers = block_numbers(found.group.assignment, sample)
    assert 25 <= len(np.unique(numbers)) <= 75
    days = np.array(sample.columns[cases.DAY].to_pylist())
    widths = [np.ptp(days[numbers == block]) for block in np.unique(numbers)]
    assert np.mean(widths) < 500, "blocks are ranges of days"


def test_new_rows_follow_the_same_assignment() -> None:
    """Rows that were not in the sample, unseen vectors included, get blocks of the same layout."""
    bits = cases.bits_of(whole().queries.atoms, cases.rows_of(3000, 8))
    other = cases.case(seed=8).with_queries(whole().queries, bits)
    for name in NAMES:
        numbers = other.numbers(design(name).group.assignment)
        assert 0 <= numbers.min() <= numbers.max() < blocks_of(design(name).group.assignment)


def test_sop_fits_counted_vectors_of_the_whole_table() -> None:
    assert LAYOUTS["sop"].needs(NoOptions()).vector_counts
    vectors = np.unique(whole().workload.feature_bits, axis=0)
    many = np.full(len(vectors), 100.0)
    counts = VectorCounts(vectors, many, (None,) * len(vectors))
    found = replace(whole(), view=replace(whole().view, vector_counts=counts)).fit("sop")
    assert isinstance(found.group.assignment, VectorMap)
    assert len(found.group.assignment.vectors) == len(vectors)
    split = VectorCounts(
        np.concatenate([vectors, vectors]),
        np.concatenate([many, many]),
        ("Bonn",) * len(vectors) + (None,) * len(vectors),
    )
    parts = cases.by_city(whole())
    assignment = replace(parts, view=replace(parts.view, vector_counts=split)).fit("sop").group.assignment
    assert isinstance(assignment, Partitioned)
    assert assignment.values == ("Bonn",)


def test_nan_is_one_horizontal_partition() -> None:
    vectors = np.unique(whole().workload.feature_bits, axis=0)[:2]
    values = (float("nan"), 1.0, float("nan"), 1.0)
    counts = VectorCounts(np.repeat(vectors, 2, axis=0), np.full(4, 100.0), values)
    sample = replace(
        whole().sample,
        partition=np.zeros(len(whole().sample), np.int32),
        partition_values=(1.0,),
        partition_by=cases.PRICE,
    )
    view = replace(whole().view, sample=sample, vector_counts=counts)
    assignment = replace(whole(), view=view).fit("sop").group.assignment
    assert isinstance(assignment, Partitioned)
    assert repr(assignment.values) == "(1.0, nan)"


def test_sop_keeps_the_rows_of_a_vector_together_unless_it_is_large() -> None:
    assignment = design("sop").group.assignment
    assert isinstance(assignment, VectorMap)
    assert assignment.spread is not None
    assert assignment.spread.expr not in {cases.CITY, cases.REGION, cases.KIND, cases.DAY}
    numbers = whole().numbers(assignment)
    single = assignment.ways == 1
    assert single.any()
    assert not single.all()
    for number in np.unique(numbers):
        assert (numbers == number).sum() * whole().sample.scale < 4 * whole().view.block_rows


def test_a_grid_takes_the_columns_it_is_given() -> None:
    group = whole().fit("range", columns="city, day").group
    assert isinstance(group.assignment, Grid)
    assert [each.expr for each in group.assignment.dimensions if isinstance(each, Dimension)] == [
        cases.CITY,
        cases.DAY,
    ]
    assert group.sort == (cases.CITY, cases.DAY)
    sizes = np.bincount(whole().numbers(group.assignment))
    assert (sizes > 0).all()
    few = ZORDER.fit(whole().view, whole().workload, GridOptions(most_columns=2))
    assert len(few.group.sort) == 2


def test_a_grid_refuses_a_column_that_was_not_sampled() -> None:
    with pytest.raises(SkipstoneError, match=r"^absent is not among .*; there are city, day, kind, "):
        whole().fit("range", columns="absent")


def test_null_and_nan_rows_have_buckets() -> None:
    numbers = whole().numbers(whole().fit("range", columns="price").group.assignment)
    prices = whole().sample.columns[cases.PRICE]
    null = np.array(prices.is_null())
    assert len(np.unique(numbers[null])) == 1


def test_the_leaves_of_a_qd_tree_keep_their_limits() -> None:
    view = replace(whole().view, max_block_rows=1200)
    found = QdTree().fit(view, whole().workload, NoOptions())
    sizes = np.bincount(whole().numbers(found.group.assignment)) * whole().sample.scale
    assert sizes.min() >= 600 / 4
    assert sizes.max() <= 1200
    plain = QdTree(balanced=True, ranges=0).fit(whole().view, whole().workload, NoOptions())
    assert isinstance(plain.group.assignment, Tree)
    sizes = np.bincount(whole().numbers(plain.group.assignment)) * whole().sample.scale
    assert sizes.min() >= 600 / 2


def test_a_qd_tree_says_how_many_of_its_candidates_it_cuts_by() -> None:
    cuts = blocks_of(design("qdtree").group.assignment) - 1
    assert (
        design("qdtree").note == f"{cuts} cuts out of {design('qdtree').parameters['candidates']} candidates"
    )
    assert design("qdtree").parameters["cuts"] == cuts
    split = cases.by_city(whole()).fit("qdtree")
    assignment = split.group.assignment
    assert isinstance(assignment, Partitioned)
    assert split.parameters["cuts"] == sum(blocks_of(part) - 1 for part in assignment.parts)


def test_a_qd_tree_keeps_union_vectors_for_what_needs_a_feature_bit() -> None:
    kept = {feature.predicate for feature in design("qdtree").group.features}
    assert all(not (isinstance(each, Comparison) and each.op in "<>") for each in kept)
    atoms = [atom for atom in whole().queries.atoms if isinstance(atom, Match)]
    assert atoms
    assert set(atoms) & kept


def test_a_qd_tree_parts_the_rows_that_match_no_pattern_from_all_others_at_once() -> None:
    count, patterns = 8_000, 10
    rng = np.random.default_rng(3)
    # A row in five matches one of the patterns, whatever day it is of.
    matched = np.where(rng.random(count) < 0.2, rng.integers(0, patterns, count), -1)
    texts = [f"{row}: the {index} of it" if index >= 0 else f"{row}" for row, index in enumerate(matched)]
    asked = [Match("contains", cases.KIND, f"the {index} of") for index in range(patterns)]
    days = [cases.compare("<", cases.DAY, day) for day in (50, 100)]
    view = workload_view([normalize_filter(each) for each in (*asked, *days)])
    rows: list[dict[Column, object]] = [
        {cases.KIND: text, cases.DAY: int(day)}
        for text, day in zip(texts, rng.integers(0, 1000, count), strict=True)
    ]
    columns: dict[Expr, pa.Array] = {
        cases.DAY: pa.array([row[cases.DAY] for row in rows], pa.int64()),
        cases.KIND: pa.array(texts),
    }
    sample = Sample(cases.bits_of(view.atoms, rows), columns, 1.0)
    case = cases.Case(TableView(sample, count // 16), FitWorkload(view))
    tree = case.fit("qdtree")
    assert isinstance(tree.group.assignment, Tree)
    assert any(isinstance(feature.predicate, Or) for feature in tree.group.features)
    found = scanned(tree, case)[:patterns]
    assert found.max() <= 0.25, "no pattern makes the rows without any be read"
