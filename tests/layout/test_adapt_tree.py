"""Adaptation: the three moves on hand-made trees, nothing that does not pay, and a bound on what is lost."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from tests.layout.rows_of_numbers import column, view_of

from skipstone.layout.adapt_tree import Adaptation, AdaptLimits, LaidOut, Prices, adapt_tree
from skipstone.layout.assignment import Node, Split, Tree
from skipstone.layout.formulas import compile_formulas
from skipstone.layout.layouts import fit_layout
from skipstone.layout.numbers import block_numbers
from skipstone.layout.sample import Sample, WorkloadView
from skipstone.layout.workload_view import workload_view
from skipstone.predicate.evaluate import evaluate
from skipstone.predicate.expr import And, Column, Comparison, Expr, Literal, columns_of
from skipstone.predicate.types import LONG

A, B, C, D, E, F = (column(name) for name in "abcdef")
SIDE = 8
"""Each attribute of the small tables has the values 0 to 7, and every combination occurs."""
ANYTHING = 1.0
"""All that unqueried attributes skip may be given up."""


def below(key: Column, value: int) -> Expr:
    return Comparison("<", key, Literal(value, LONG))


def between(key: Column, low: int, high: int) -> Expr:
    return And((Comparison(">=", key, Literal(low, LONG)), below(key, high)))


def sample_of(columns: dict[Column, np.ndarray], queries: WorkloadView) -> Sample:
    rows = [
        dict(zip(columns, values, strict=True))
        for values in zip(*(each.tolist() for each in columns.values()), strict=True)
    ]
    bits = np.array([[evaluate(atom, row) is True for atom in queries.atoms] for row in rows], np.bool_)
    arrays: dict[Expr, pa.Array] = {key: pa.array(values) for key, values in columns.items()}
    return Sample(bits.reshape(len(rows), len(queries.atoms)), arrays, 1.0)


def every_combination(*keys: Column) -> dict[Column, np.ndarray]:
    grid = np.meshgrid(*[np.arange(SIDE)] * len(keys), indexing="ij")
    return {key: values.ravel() for key, values in zip(keys, grid, strict=True)}


def adapt(
    tree: Tree,
    filters: list[Expr],
    columns: dict[Column, np.ndarray],
    rewrite: float = 0.1,
    given_up: float = ANYTHING,
) -> tuple[Adaptation, Sample, WorkloadView]:
    queries = workload_view(filters)
    sample = sample_of(columns, queries)
    limits = AdaptLimits(len(sample) / tree.blocks, most_given_up=given_up, most_rewritten=ANYTHING)
    found = adapt_tree(LaidOut(tree), sample, queries, Prices(queries.weights, rewrite), limits)
    return found, sample, queries


def scanned(adapted: Adaptation, tree: Tree, sample: Sample, queries: WorkloadView) -> float:
    """What the queries read once the blocks of the changes are rewritten and the others stay."""
    numbers = block_numbers(tree, sample, queries.atoms)
    units = np.unique(numbers)
    touched = [units[change.units] for change in adapted.changes]
    new = block_numbers(adapted.writing, sample, queries.atoms)
    inside = np.isin(numbers, np.concatenate(touched)) if touched else np.zeros(len(numbers), np.bool_)
    where = np.where(inside, tree.blocks + new, numbers)
    total = 0.0
    for block in np.unique(where):
        bits = sample.bits[where == block]
        skip = compile_formulas(queries.formulas, len(queries.atoms)).skipped(~bits.any(axis=0)[:, None])
        total += len(bits) * float(queries.weights @ ~skip[:, 0])
    return total


def cuts(node: Node) -> Iterator[str]:
    """The attributes of a tree's cuts, from the root down."""
    if isinstance(node, Split):
        yield next(iter(columns_of(node.cut))).path[-1]
        yield from cuts(node.yes)
        yield from cuts(node.no)


# ---------------------------------------------------------------- the three moves


def test_a_node_above_two_leaves_swaps_its_attribute_for_the_one_that_is_asked_for() -> None:
    tree = Tree(Split(below(A, 4), 0, 1), 2)
    found, sample, queries = adapt(tree, [below(B, 4)], every_combination(A, B))
    assert list(cuts(found.tree.root)) == ["b"]
    assert scanned(found, tree, sample, queries) == 32


def test_only_the_part_that_queries_read_swaps_its_attribute() -> None:
    tree = Tree(Split(below(A, 4), Split(below(B, 4), 0, 1), Split(below(B, 4), 2, 3)), 4)
    asked: list[Expr] = [And((below(A, 4), below(C, 4)))]
    found, sample, queries = adapt(tree, asked, every_combination(A, B, C))
    [change] = found.changes
    assert change.units.tolist() == [0, 1]
    assert scanned(found, tree, sample, queries) == 128  # a half of a half of 512 rows


def test_a_split_is_pulled_up_without_rewriting_the_side_that_nobody_reads() -> None:
    # b is cut below a on both sides; queries are about b < 4 and c, so blocks with b >= 4 need no change.
    tree = Tree(Split(below(A, 4), Split(below(B, 4), 0, 1), Split(below(B, 4), 2, 3)), 4)
    found, sample, queries = adapt(tree, [And((below(B, 4), below(C, 4)))], every_combination(A, B, C))
    [change] = found.changes
    assert change.units.tolist() == [0, 2]
    assert change.cost == pytest.approx(25.6)  # 256 rows
    assert scanned(found, tree, sample, queries) == 128


def test_a_rotation_brings_the_cut_that_is_asked_for_above_the_other() -> None:
    tree = Tree(Split(below(A, 4), Split(below(B, 2), 0, 1), Split(below(B, 6), 2, 3)), 4)
    found, sample, queries = adapt(tree, [below(B, 4)], every_combination(A, B))
    assert next(cuts(found.tree.root)) == "b"
    assert scanned(found, tree, sample, queries) == 32


# -------------------------------------------------------------- what is never done


@pytest.mark.parametrize("most", [0.0, 0.25, 0.5, 0.8])
def test_less_than_the_share_is_rewritten_and_the_blocks_that_queries_read_most_in_vain(most: float) -> None:
    tree = Tree(Split(below(A, 4), Split(below(B, 4), 0, 1), Split(below(B, 4), 2, 3)), 4)
    queries = workload_view([below(C, 2), And((below(A, 4), below(C, 2))), And((below(B, 4), below(C, 2)))])
    sample = sample_of(every_combination(A, B, C), queries)
    limits = AdaptLimits(32, most_given_up=ANYTHING, most_rewritten=most)
    found = adapt_tree(LaidOut(tree), sample, queries, Prices(queries.weights, 0.1), limits)
    units = {int(unit) for change in found.changes for unit in change.units}
    # The block a < 4, b < 4 is read by all three queries; below 4/4 a pool of two blocks is the least.
    assert len(units) / 4 < most or not units
    assert units == ({0, 1, 2} if most == 0.8 else set())


def test_a_window_without_queries_changes_nothing() -> None:
    tree = Tree(Split(below(A, 4), 0, 1), 2)
    found, _, _ = adapt(tree, [], every_combination(A, B))
    assert (found.tree, found.changes) == (tree, ())
    assert found.before == found.after
    assert found.before


def test_a_change_that_costs_more_than_it_saves_is_not_made() -> None:
    tree = Tree(Split(below(A, 4), 0, 1), 2)
    table = every_combination(A, B)
    assert adapt(tree, [below(B, 4)], table, rewrite=0.4)[0].changes
    assert not adapt(tree, [below(B, 4)], table, rewrite=0.6)[0].changes  # 32 rows saved, 64 * 0.6 to rewrite


def test_the_fixed_costs_of_a_rewrite_have_to_be_saved_too() -> None:
    tree = Tree(Split(below(A, 4), 0, 1), 2)
    queries = workload_view([below(B, 4)])
    sample = sample_of(every_combination(A, B), queries)
    for fixed, changes in ((20.0, 1), (30.0, 0)):  # 32 saved, 6.4 for rewriting
        limits = AdaptLimits(32, most_given_up=ANYTHING, most_rewritten=ANYTHING)
        found = adapt_tree(LaidOut(tree), sample, queries, Prices(queries.weights, 0.1, fixed), limits)
        assert len(found.changes) == changes


def test_a_file_with_rows_in_several_leaves_is_left_alone_unless_all_of_them_change() -> None:
    tree = Tree(Split(below(A, 4), Split(below(B, 4), 0, 1), Split(below(B, 4), 2, 3)), 4)
    queries = workload_view([And((below(A, 4), below(C, 4)))])
    columns = every_combination(A, B, C)
    sample = sample_of(columns, queries)
    files = block_numbers(tree, sample, queries.atoms).copy()
    appended = (columns[C] == 7) & (columns[B] == 0)
    files[appended] = 4
    limits = AdaptLimits(128, most_given_up=ANYTHING, most_rewritten=ANYTHING)
    found = adapt_tree(LaidOut(tree, files), sample, queries, Prices(queries.weights, 0.1), limits)
    assert [change.units.tolist() for change in found.changes] == [[0, 1]]


# ------------------------------------------------------------------- properties


def random_case(seed: int, attributes: int = 4) -> tuple[Tree, list[Expr], dict[Column, np.ndarray]]:
    rng = np.random.default_rng(seed)
    keys = (A, B, C, D, E, F)[:attributes]
    columns = {key: rng.integers(0, 64, 600) for key in keys}
    view = view_of(columns, 15)
    tree = fit_layout("hyper", view, None, {}).group.assignment
    assert isinstance(tree, Tree)
    filters: list[Expr] = []
    for _ in range(6):
        low = {key: int(rng.integers(0, 48)) for key in keys[:2]}
        parts = [between(key, at, at + 16) for key, at in low.items()]
        filters.append(And(tuple(parts)) if rng.random() < 0.5 else parts[0])
    return tree, filters, columns


@pytest.mark.parametrize("seed", range(12))
def test_changes_save_what_they_say_and_never_make_the_total_worse(seed: int) -> None:
    tree, filters, columns = random_case(seed)
    rewrite = (0.01, 0.5, 2.0)[seed % 3]
    found, sample, queries = adapt(tree, filters, columns, rewrite)
    nothing = Adaptation(tree, Tree(0, 1), (), {}, {}, frozenset())
    before, after = (scanned(each, tree, sample, queries) for each in (nothing, found))
    saved, cost = (sum(getattr(each, what) for each in found.changes) for what in ("saved", "cost"))
    assert before - after == pytest.approx(saved)
    assert saved >= cost
    rows = sum(len(leaf) for change in found.changes for leaf in change.grown.leaves)
    assert cost == pytest.approx(rewrite * rows)
    spans = [(change.span.first, change.span.last) for change in found.changes]
    assert all(one[1] <= other[0] for one, other in pairwise(spans)), "changes overlap"


@pytest.mark.parametrize("seed", range(6))
def test_unqueried_attributes_lose_at_most_the_share_that_is_allowed(seed: int) -> None:
    tree, filters, columns = random_case(seed, 6)
    for given_up in (0.0, 0.2, 1 / 3):
        found, _, _ = adapt(tree, filters, columns, 0.01, given_up)
        for expr, share in found.before.items():
            if expr not in found.queried:
                assert 1 - found.after[expr] >= (1 - given_up) * (1 - share) - 1e-9


def test_many_adaptations_give_up_no_more_than_one_may() -> None:
    tree, filters, columns = random_case(2, 6)
    queries = workload_view(filters)
    sample = sample_of(columns, queries)
    prices = Prices(queries.weights, 0.01)
    now = adapt_tree(LaidOut(tree), sample, queries, prices, AdaptLimits(40)).before
    skipped_twice_as_much = {expr: 1 - 2 * (1 - share) for expr, share in now.items()}
    limits = AdaptLimits(40, most_given_up=0.5, most_rewritten=ANYTHING, scanned_first=skipped_twice_as_much)
    assert adapt_tree(LaidOut(tree), sample, queries, prices, AdaptLimits(40)).changes
    found = adapt_tree(LaidOut(tree), sample, queries, prices, limits)
    for expr, share in now.items():
        assert expr in found.queried or found.after[expr] <= share + 1e-9


def test_more_is_saved_when_more_may_be_given_up() -> None:
    tree, filters, columns = random_case(0, 6)
    few, many = (adapt(tree, filters, columns, 0.01, given_up)[0] for given_up in (0.2, 1.0))
    assert 0 < sum(change.saved for change in few.changes) < sum(change.saved for change in many.changes)


def test_the_same_input_gives_the_same_changes() -> None:
    tree, filters, columns = random_case(3)
    one, other = (adapt(tree, filters, columns)[0] for _ in range(2))
    assert one.changes
    assert one.tree == other.tree
    assert [change.units.tolist() for change in one.changes] == [c.units.tolist() for c in other.changes]


def test_every_leaf_of_the_new_tree_has_a_number_of_its_own() -> None:
    tree, filters, columns = random_case(1)
    found, sample, queries = adapt(tree, filters, columns)
    assert found.changes
    for each in (found.tree, found.writing):
        assert np.unique(block_numbers(each, sample, queries.atoms)).max() < each.blocks
