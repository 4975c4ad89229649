"""The hyper-partitioning tree: worked examples of the thesis, equal blocks, hard columns, determinism."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest
from tests.layout.rows_of_numbers import column, view_of

from skipstone.errors import SkipstoneError
from skipstone.layout.assignment import Node, Split, Tree
from skipstone.layout.assignment_json import assignment_from_json, assignment_to_json
from skipstone.layout.contract import Design
from skipstone.layout.layouts import fit_layout, needs_of
from skipstone.layout.numbers import block_numbers
from skipstone.layout.simulate import virtual_blocks
from skipstone.layout.table_view import TableView
from skipstone.layout.workload_view import workload_view
from skipstone.predicate.expr import Column, Comparison, Expr, Literal, columns_of
from skipstone.predicate.types import DOUBLE, LONG, STRING
from skipstone.pruning.prune import prune

RNG = np.random.default_rng(0)
FOUR = tuple(column(f"r.{number}") for number in range(1, 5))


def four_attributes(blocks: int = 8, rows: int = 4_096) -> TableView:
    """The relation of figures 3.2 and 3.3: four independent attributes."""
    return view_of({each: RNG.permutation(rows) for each in FOUR}, blocks)


def fit(view: TableView, **options: str) -> Design:
    return fit_layout("hyper", view, None, options)


def tree_of(design: Design) -> Tree:
    tree = design.group.assignment
    assert isinstance(tree, Tree)
    return tree


def discriminators(tree: Tree) -> list[list[str]]:
    """The attributes of each level, from left to right."""
    level, found = [tree.root], []
    while nodes := [node for node in level if isinstance(node, Split)]:
        found.append([next(iter(columns_of(node.cut))).path[-1] for node in nodes])
        level = [side for node in nodes for side in (node.yes, node.no)]
    return found


def paths(node: Node, before: tuple[Expr, ...] = ()) -> Iterator[tuple[Expr, ...]]:
    """The cuts on the way to each leaf."""
    if isinstance(node, Split):
        yield from paths(node.yes, (*before, node.cut))
        yield from paths(node.no, (*before, node.cut))
    else:
        yield before


def sizes(view: TableView, design: Design) -> np.ndarray:
    numbers = block_numbers(design.group.assignment, view.sample)
    return np.bincount(numbers, minlength=tree_of(design).blocks)


# ------------------------------------------------------------ the thesis's examples


def test_allocations_are_those_of_figure_3_3() -> None:
    design = fit(four_attributes())
    # Which of the attributes 2 to 4 has one cut less is left open; none is cut twice on one way.
    assert sorted(design.parameters["allocation"].values()) == [1.0, 1.5, 1.5, 2.0]  # type: ignore[attr-defined]
    assert all(len(set(map(columns_of, cuts))) == 3 for cuts in paths(tree_of(design).root))
    assert [len(level) for level in discriminators(tree_of(design))] == [1, 2, 4]
    assert discriminators(tree_of(design))[:2] == [["1"], ["2", "3"]]
    assert "robustness 4.2" in design.note


def test_a_kd_tree_of_three_levels_cuts_the_first_three_attributes_everywhere_as_in_figure_3_2() -> None:
    design = fit(four_attributes(), balance="cyclic")
    assert discriminators(tree_of(design)) == [["1"], ["2"] * 2, ["3"] * 4]
    assert tree_of(design).blocks == 8
    for cuts in paths(tree_of(design).root):
        assert [column for cut in cuts for column in columns_of(cut)] == list(FOUR[:3])
    assert list(design.parameters["allocation"].values()) == [2.0, 2.0, 2.0, 0.0]  # type: ignore[attr-defined]


def test_a_search_visits_only_buckets_that_can_match_as_in_figure_4_1() -> None:
    # Where r.2 is a node's discriminator and its value is at most 130, no row of the left side has r.2 > 130.
    view = four_attributes(rows=256)
    design = fit(view)
    numbers = block_numbers(design.group.assignment, view.sample)
    asked = Comparison(">", FOUR[1], Literal(130, LONG))
    visited = [
        leaf
        for leaf, cuts in enumerate(sides_of(tree_of(design).root))
        if all(may_match(*cut) for cut in cuts)
    ]
    blocks = virtual_blocks(numbers, view.sample, workload_view([]), ())
    read = np.flatnonzero(~prune(asked, blocks).skip).tolist()
    holding = np.unique(numbers[view.sample.columns[FOUR[1]].to_numpy() > 130]).tolist()
    assert holding == read
    assert set(read) <= set(visited), "bounds rule out all that the tree rules out"
    assert 0 < len(visited) < tree_of(design).blocks


def sides_of(
    node: Node, before: tuple[tuple[Expr, bool], ...] = ()
) -> Iterator[tuple[tuple[Expr, bool], ...]]:
    if isinstance(node, Split):
        yield from sides_of(node.yes, (*before, (node.cut, True)))
        yield from sides_of(node.no, (*before, (node.cut, False)))
    else:
        yield before


def may_match(cut: Expr, left: bool) -> bool:
    """Whether a side of a cut can have rows with r.2 > 130."""
    assert isinstance(cut, Comparison)
    assert isinstance(cut.right, Literal)
    return not (left and cut.left == FOUR[1] and isinstance(cut.right.value, int) and cut.right.value <= 130)


# --------------------------------------------------------------------- equal blocks


@pytest.mark.parametrize("balance", ["allocation", "worst", "cyclic"])
@pytest.mark.parametrize("blocks", [2, 3, 7, 64, 100, 129])
def test_there_are_as_many_blocks_as_wanted_and_values_that_differ_make_them_equal(
    balance: str, blocks: int
) -> None:
    view = four_attributes(blocks, rows=blocks * 32)
    found = sizes(view, fit(view, balance=balance))
    assert len(found) == blocks
    assert found.max() - found.min() <= 2


def test_skewed_columns_with_few_values_leave_blocks_within_the_stated_bounds() -> None:
    skewed = {
        column("few"): RNG.zipf(1.5, 8_000) % 5,
        column("flag"): (RNG.random(8_000) < 0.3).astype(np.int64),
        column("many"): RNG.integers(0, 1_000, 8_000),
    }
    view = view_of(skewed, 40)
    design = fit(view)
    found = sizes(view, design)
    assert found.sum() == 8_000
    assert found.min() >= 0.4 * 0.75 * view.block_rows
    assert found.max() <= 1.6 * 1.25 * view.block_rows
    assert design.parameters["uncut"] == 0


def test_a_cut_leaves_at_least_a_fifth_on_either_side() -> None:
    numbers = pa.array((np.arange(1_000) < 150).astype(np.int64))
    view = view_of({column("rare"): numbers, column("n"): RNG.permutation(1_000)}, 2)
    assert discriminators(tree_of(fit(view))) == [["n"]]
    common = pa.array((np.arange(1_000) < 250).astype(np.int64))
    view = view_of({column("common"): common, column("n"): RNG.permutation(1_000)}, 2)
    assert discriminators(tree_of(fit(view))) == [["common"]]


# --------------------------------------------------------------------- hard columns


def test_constant_and_null_columns_are_left_out_and_said_so() -> None:
    rows = 1_000
    view = view_of(
        {
            column("same"): np.full(rows, 7),
            column("nothing"): pa.nulls(rows, pa.int64()),
            column("n"): RNG.permutation(rows),
        },
        8,
    )
    design = fit(view)
    assert design.parameters["left_out"] == {"same": "has one value", "nothing": "is NULL"}
    assert "left out: same (has one value), nothing (is NULL)" in design.note
    assert list(design.parameters["allocation"]) == ["n"]  # type: ignore[call-overload]
    assert sizes(view, design).tolist() == [125] * 8


def test_a_table_of_constants_is_refused_in_one_sentence() -> None:
    view = view_of({column("same"): np.full(100, 7), column("nothing"): pa.nulls(100, pa.int64())}, 4)
    with pytest.raises(SkipstoneError, match=r"^No column can be cut: each has one value, or only NULL"):
        fit(view)


def test_one_column_is_cut_into_ranges() -> None:
    view = view_of({column("n"): RNG.permutation(1_000)}, 10)
    numbers = block_numbers(fit(view).group.assignment, view.sample)
    ordered = numbers[np.argsort(view.sample.columns[column("n")].to_numpy())]
    assert (np.diff(ordered) >= 0).all()
    assert len(np.unique(ordered)) == 10


def test_nulls_are_parted_from_values_and_all_go_to_one_side() -> None:
    values = [None if index % 2 else index for index in range(400)]
    view = view_of({column("half"): pa.array(values)}, 2)
    design = fit(view)
    numbers = block_numbers(design.group.assignment, view.sample)
    assert set(numbers[1::2].tolist()) == {1}
    assert set(numbers[::2].tolist()) == {0}


def test_nan_is_above_all_numbers_and_below_null() -> None:
    values = [math.nan] * 100 + [None] * 100 + [float(index) for index in range(200)]
    view = view_of({column("x", DOUBLE): pa.array(values)}, 4)
    numbers = block_numbers(fit(view).group.assignment, view.sample)
    assert [len(set(part.tolist())) for part in (numbers[:100], numbers[100:200], numbers[200:])] == [1, 1, 2]
    assert len(set(numbers.tolist())) == 4


def test_texts_are_cut_at_the_shortest_text_between_neighbours() -> None:
    view = view_of({column("city", STRING): pa.array(["Aachen", "Bonn", "Bochum", "Celle"] * 50)}, 4)
    assert {cut.right.value for cuts in paths(tree_of(fit(view)).root) for cut in cuts} == {"B", "Bon", "C"}  # type: ignore[union-attr]


def test_long_texts_that_bounds_cannot_part_get_bits() -> None:
    site = "https://example.org/" + "a" * 60
    texts = pa.array([f"{site}/{index:04d}" for index in range(256)])
    features = fit(view_of({column("url", STRING): texts}, 4)).group.features
    assert len(features) == 6
    assert {feature.predicate.op for feature in features} == {"<", ">="}  # type: ignore[union-attr]
    assert fit(view_of({column("n"): np.arange(256)}, 4)).group.features == ()


def test_nested_columns_are_attributes_and_expressions_of_queries_are_not() -> None:
    nested = Column(("place", "x"), LONG)
    design = fit(view_of({nested: RNG.permutation(100)}, 4))
    assert list(design.parameters["allocation"]) == ["place.x"]  # type: ignore[call-overload]


def test_rows_that_are_all_alike_stay_one_block_and_are_counted() -> None:
    values = np.where(np.arange(1_000) < 500, 0, np.arange(1_000))
    view = view_of({column("n"): values}, 8)
    design = fit(view)
    assert sizes(view, design).max() == 500
    assert design.parameters["uncut"] == 1
    assert "no column can cut them: 1 block" in design.note


# ------------------------------------------------------------------ options and more


def test_only_the_named_columns_are_attributes() -> None:
    design = fit(four_attributes(), columns="r.2,r.4")
    assert list(design.parameters["allocation"]) == ["r.`2`", "r.`4`"]  # type: ignore[call-overload]
    with pytest.raises(SkipstoneError, match=r"r\.9 is not among the sampled columns"):
        fit(four_attributes(), columns="r.9")


def test_correlated_columns_share_cuts_when_the_worst_is_balanced() -> None:
    rows = 16_384
    day = RNG.integers(0, 10_000, rows)
    columns = {column(f"day{number}"): day + RNG.integers(0, 30, rows) for number in range(4)}
    columns |= {column(f"free{number}"): RNG.permutation(rows) for number in range(4)}
    view = view_of(columns, 256)
    fair, worst = fit(view), fit(view, balance="worst")
    shares = [np.array(list(each.parameters["scanned_by_ranges"].values())) for each in (fair, worst)]  # type: ignore[attr-defined]
    assert shares[1].max() < shares[0].max() - 0.1
    assert shares[1].mean() < shares[0].mean() + 0.05
    assert sum(list(worst.parameters["allocation"].values())[:4]) <= 4.0  # type: ignore[attr-defined]


@pytest.mark.parametrize("balance", ["allocation", "worst", "cyclic"])
def test_the_same_sample_gives_the_same_tree_and_it_can_be_stored(balance: str) -> None:
    view = four_attributes(20)
    first, second = (assignment_to_json(fit(view, balance=balance).group.assignment) for _ in range(2))
    assert first == second
    assert assignment_from_json(first) == fit(view, balance=balance).group.assignment


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"balance": "even"}, "There is no balance even; choose one of allocation, worst, cyclic"),
        ({"power": "0.5"}, "power must be from 1 to 64"),
        ({"power": "high"}, "A number is wanted, and there is 'high'"),
        ({"key_levels": "2"}, "name keys too"),
        ({"keys": "nobody"}, "nobody is not among the sampled columns"),
    ],
)
def test_what_there_is_not_is_refused(options: dict[str, str], said: str) -> None:
    with pytest.raises(SkipstoneError, match=said):
        fit(four_attributes(), **options)


def test_it_needs_every_column_and_no_workload() -> None:
    needs = needs_of("hyper", {})
    assert (needs.workload, needs.all_columns) == (False, True)


def test_least_allocated_is_several_times_as_robust_as_a_kd_tree() -> None:
    view = view_of({column(f"c{number:02d}"): RNG.permutation(20_000) for number in range(16)}, 1_000)
    fair, cyclic = (
        fit(view, balance=balance).parameters["robustness"] for balance in ("allocation", "cyclic")
    )
    assert isinstance(fair, float)
    assert isinstance(cyclic, float)
    assert fair >= 4 * cyclic


def test_among_equals_columns_with_few_values_are_cut_first_while_they_can_be() -> None:
    rows = 4_096
    columns = {column(f"c{number}"): RNG.permutation(rows) for number in range(6)}
    columns[column("flag")] = np.arange(rows) % 2
    design = fit(view_of(columns, 64))
    assert discriminators(tree_of(design))[0] == ["flag"]
    assert design.parameters["allocation"]["flag"] == 2.0  # type: ignore[index]
