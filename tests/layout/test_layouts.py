"""All layouts behind their contract: blocks for every row, soundness, determinism, and less to scan."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tests.layout import cases

from skipstone.errors import SkipstoneError
from skipstone.layout import LAYOUTS
from skipstone.layout.assignment import Grid, Partitioned, Tree, VectorMap, blocks_of
from skipstone.layout.codec import assignment_to_json
from skipstone.layout.contract import Fitted
from skipstone.layout.grid import GridLayout
from skipstone.layout.numbers import block_numbers
from skipstone.layout.qdtree import QdTree
from skipstone.layout.range import composite_range
from skipstone.layout.sample import Fitting
from skipstone.layout.simulate import simulate
from skipstone.layout.sop import fit_table
from skipstone.layout.view import workload_view

NAMES = ("range", "zorder", "hilbert", "sop", "selforg", "qdtree")


@cache
def whole() -> Fitting:
    return cases.with_features_as_atoms(cases.fitting())


@cache
def fitted(name: str) -> Fitted:
    return LAYOUTS[name].fit(whole())


def scanned(fit: Fitted, fitting: Fitting) -> np.ndarray:
    numbers = block_numbers(fit.assignment, fitting)
    features = tuple(dict.fromkeys((*fitting.features, *fit.features)))
    return simulate(numbers, fitting.sample, fitting.workload, features).scanned


def test_all_layouts_are_known_by_name() -> None:
    assert tuple(LAYOUTS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_row_gets_a_block_of_the_assignment(name: str) -> None:
    numbers = block_numbers(fitted(name).assignment, whole())
    assert len(numbers) == len(whole().sample)
    assert numbers.min() >= 0
    assert numbers.max() < blocks_of(fitted(name).assignment)
    assert len(np.unique(numbers)) > 10


@pytest.mark.parametrize("name", NAMES)
def test_no_query_scans_fewer_rows_than_it_needs(name: str) -> None:
    rows = cases.rows_of(3000, 7)
    needed = cases.needed(whole().workload, rows)
    found = scanned(fitted(name), whole())
    assert (found >= needed - 1e-12).all()
    assert (needed > 0).any()


@pytest.mark.parametrize("name", NAMES)
def test_less_is_scanned_than_in_any_order(name: str) -> None:
    weights = whole().workload.weights
    anyhow = np.arange(len(whole().sample), dtype=np.int32) // 60
    before = simulate(anyhow, whole().sample, whole().workload, whole().features).mean
    after = scanned(fitted(name), whole()) @ weights / weights.sum()
    assert after < 0.8 * before


@pytest.mark.parametrize("name", NAMES)
def test_the_same_input_gives_the_same_assignment(name: str) -> None:
    again = LAYOUTS[name].fit(cases.with_features_as_atoms(cases.fitting()))
    assert assignment_to_json(again.assignment) == assignment_to_json(fitted(name).assignment)


@pytest.mark.parametrize("name", NAMES)
def test_the_number_of_blocks_is_about_rows_by_block_rows(name: str) -> None:
    assert 25 <= blocks_of(fitted(name).assignment) <= 75


def test_the_qd_tree_scans_least_of_those_that_do_not_search_by_simulation() -> None:
    weights = whole().workload.weights
    means = {name: scanned(fitted(name), whole()) @ weights for name in NAMES if name != "selforg"}
    assert min(means, key=lambda name: means[name]) == "qdtree"


@pytest.mark.parametrize("name", NAMES)
def test_horizontal_partitions_never_share_a_block(name: str) -> None:
    fitting = cases.by_city(whole())
    fit = LAYOUTS[name].fit(fitting)
    assert isinstance(fit.assignment, Partitioned)
    assert fit.assignment.values == cases.CITIES[:4]
    numbers = block_numbers(fit.assignment, fitting)
    assert fitting.sample.partition is not None
    owners = {(int(n), int(p)) for n, p in zip(numbers, fitting.sample.partition, strict=True)}
    assert len(owners) == len({block for block, _ in owners}) > 10
    unlisted = numbers[fitting.sample.partition == 4]
    assert (unlisted == fit.assignment.blocks - 1).all()


@pytest.mark.parametrize("name", NAMES)
def test_a_workload_without_usable_filters_is_refused_in_one_sentence(name: str) -> None:
    empty = replace(
        whole(),
        workload=workload_view([]),
        features=(),
        feature_weights=np.zeros(0),
        sample=replace(whole().sample, bits=np.zeros((len(whole().sample), 0), np.bool_)),
    )
    with pytest.raises(SkipstoneError):
        LAYOUTS[name].fit(empty)


def test_new_rows_follow_the_same_assignment() -> None:
    """Rows that were not in the sample, unseen vectors included, get blocks of the same layout."""
    other = cases.with_features_as_atoms(replace(cases.fitting(seed=8), workload=whole().workload))
    rows = cases.rows_of(3000, 8)
    bits = cases.bits_of(whole().workload.atoms, rows)
    other = replace(other, workload=whole().workload, sample=replace(other.sample, bits=bits))
    for name in NAMES:
        numbers = block_numbers(fitted(name).assignment, other)
        assert 0 <= numbers.min() <= numbers.max() < blocks_of(fitted(name).assignment)


def test_sop_fits_counted_vectors_of_the_whole_table() -> None:
    fitting = whole()
    vectors = np.unique(fitting.feature_bits, axis=0)
    fit = fit_table(fitting, vectors, np.full(len(vectors), 100))
    assert isinstance(fit.assignment, VectorMap)
    assert len(fit.assignment.vectors) == len(vectors)
    parts = fit_table(
        fitting, np.concatenate([vectors, vectors]), np.full(2 * len(vectors), 100), cases.CITY,
        ["Bonn"] * len(vectors) + [None] * len(vectors),
    )  # fmt: skip
    assert isinstance(parts.assignment, Partitioned)
    assert parts.assignment.values == ("Bonn",)


def test_sop_keeps_the_rows_of_a_vector_together_unless_it_is_large() -> None:
    assignment = fitted("sop").assignment
    assert isinstance(assignment, VectorMap)
    assert assignment.spread is not None
    assert assignment.spread.expr not in {cases.CITY, cases.REGION, cases.KIND, cases.DAY}
    numbers = block_numbers(assignment, whole())
    single = assignment.ways == 1
    assert single.any()
    assert not single.all()
    for number in np.unique(numbers):
        assert (numbers == number).sum() * whole().sample.scale < 4 * whole().block_rows


def test_a_grid_takes_the_columns_it_is_given() -> None:
    fit = composite_range([cases.CITY, cases.DAY]).fit(whole())
    assert isinstance(fit.assignment, Grid)
    assert [each.expr for each in fit.assignment.dimensions] == [cases.CITY, cases.DAY]
    assert fit.sort == (cases.CITY, cases.DAY)
    sizes = np.bincount(block_numbers(fit.assignment, whole()))
    assert (sizes > 0).all()


def test_a_grid_refuses_a_column_that_was_not_sampled() -> None:
    with pytest.raises(SkipstoneError, match="absent"):
        GridLayout("range", None, (cases.Column(("absent",), cases.INT),)).fit(whole())


def test_null_and_nan_rows_have_buckets() -> None:
    fit = GridLayout("range", None, (cases.PRICE,)).fit(whole())
    numbers = block_numbers(fit.assignment, whole())
    prices = whole().sample.columns[cases.PRICE]
    null = np.array(prices.is_null())
    assert len(np.unique(numbers[null])) == 1


def test_the_leaves_of_a_qd_tree_keep_their_limits() -> None:
    fit = QdTree().fit(replace(whole(), max_block_rows=1200))
    sizes = np.bincount(block_numbers(fit.assignment, whole())) * whole().sample.scale
    assert sizes.min() >= 600 / 4
    assert sizes.max() <= 1200
    plain = QdTree(balanced=True, ranges=0).fit(whole())
    assert isinstance(plain.assignment, Tree)
    sizes = np.bincount(block_numbers(plain.assignment, whole())) * whole().sample.scale
    assert sizes.min() >= 600 / 2


def test_a_qd_tree_keeps_union_vectors_for_what_statistics_cannot_tell() -> None:
    kept = {feature.predicate for feature in fitted("qdtree").features}
    assert all(not (isinstance(each, cases.Comparison) and each.op in "<>") for each in kept)
    atoms = [atom for atom in whole().workload.atoms if isinstance(atom, cases.Match)]
    assert atoms
    assert set(atoms) & kept


def test_a_qd_tree_parts_the_rows_that_match_no_pattern_from_all_others_at_once() -> None:
    count, patterns = 8_000, 10
    rng = np.random.default_rng(3)
    # A row in five matches one of the patterns, whatever day it is of.
    matched = np.where(rng.random(count) < 0.2, rng.integers(0, patterns, count), -1)
    texts = [f"{row}: the {place} of it" if place >= 0 else f"{row}" for row, place in enumerate(matched)]
    asked = [cases.Match("contains", cases.KIND, f"the {place} of") for place in range(patterns)]
    days = [cases.compare("<", cases.DAY, day) for day in (50, 100)]
    view = workload_view([cases.normalize_filter(each) for each in (*asked, *days)])
    rows = [
        {cases.KIND: text, cases.DAY: int(day)}
        for text, day in zip(texts, rng.integers(0, 1000, count), strict=True)
    ]
    columns = {
        cases.DAY: cases.pa.array([row[cases.DAY] for row in rows], cases.pa.int64()),
        cases.KIND: cases.pa.array(texts),
    }
    sample = cases.Sample(cases.bits_of(view.atoms, rows), columns, 1.0)
    fitting = Fitting(sample=sample, workload=view, block_rows=count // 16)
    fit = LAYOUTS["qdtree"].fit(fitting)
    assert isinstance(fit.assignment, Tree)
    assert any(isinstance(feature.predicate, cases.Or) for feature in fit.features)
    found = scanned(fit, fitting)[:patterns]
    assert found.max() <= 0.25, "no pattern makes the rows without any be read"
