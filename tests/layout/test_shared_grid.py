"""Cuts of join keys at places that tables share."""

from __future__ import annotations

import sys
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.layout.rows_of_numbers import column, view_of

from skipstone.joining.choose import Chosen, Limits, Refused, choose
from skipstone.joining.groups import Tables
from skipstone.joining.spans import Keys, spans_of
from skipstone.layout.assignment import Node, Split, Tree
from skipstone.layout.layouts import fit_layout
from skipstone.layout.numbers import block_numbers
from skipstone.layout.shared_grid import coarsest
from skipstone.layout.table_view import TableView
from skipstone.predicate.expr import Comparison, Literal, Value
from skipstone.predicate.types import BINARY, DATE, DOUBLE, LONG, STRING, Type

KEY = column("key")
PAIRS = st.one_of(
    st.tuples(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1)),
    st.tuples(st.floats(allow_nan=False), st.floats(allow_nan=False)),
    st.tuples(
        st.decimals(-1000, 1000, places=2, allow_nan=False),
        st.decimals(-1000, 1000, places=2, allow_nan=False),
    ),
    st.tuples(st.text(), st.text()),
    st.tuples(st.binary(), st.binary()),
)


@given(PAIRS)
@example((-(2.0**208), -(2.0**-868)))
@example((-2.0568806966515076e62, -7.839020888112185e-262))
def test_property_the_coarsest_lies_above_the_lower_and_not_above_the_higher(
    pair: tuple[Value, Value],
) -> None:
    low, high = sorted(pair)  # type: ignore[type-var]
    if low == high:
        return
    found = coarsest(low, high)
    assert low < found <= high  # type: ignore[operator]
    if isinstance(found, str):
        found.encode()


@given(st.integers(-1000, 1000), st.integers(1, 1000))
def test_property_no_other_integer_between_is_a_multiple_of_as_high_a_power(low: int, width: int) -> None:
    found = coarsest(low, low + width)
    assert isinstance(found, int)

    def power(value: int) -> float:
        return (value & -value) if value else float("inf")

    assert [value for value in range(low + 1, low + width + 1) if power(value) >= power(found)] == [found]


def cut_values(node: Node, levels: int) -> set[Value]:
    if not levels or not isinstance(node, Split):
        return set()
    assert isinstance(node.cut, Comparison)
    assert isinstance(node.cut.right, Literal)
    mine = {node.cut.right.value} if node.cut.left == KEY else set()
    return mine | cut_values(node.yes, levels - 1) | cut_values(node.no, levels - 1)


def keyed(rows: int, seed: int, others: int = 1) -> TableView:
    rng = np.random.default_rng(seed)
    columns = {KEY: rng.integers(1, 6_000_000, rows)}
    columns |= {column(f"other{number}"): rng.permutation(rows) for number in range(others)}
    return view_of(columns, 64)


def test_two_tables_of_one_key_are_cut_at_the_same_places() -> None:
    trees = []
    for seed, rows in ((1, 6_400), (2, 12_800)):
        tree = fit_layout("hyper", keyed(rows, seed), None, {"keys": "key"}).group.assignment
        assert isinstance(tree, Tree)
        trees.append(cut_values(tree.root, 3))
    assert trees[0] == trees[1]
    assert len(trees[0]) == 7
    assert 4_194_304 in trees[0]


def test_blocks_of_a_keyed_tree_span_few_keys() -> None:
    view = keyed(6_400, 3)
    design = fit_layout("hyper", view, None, {"keys": "key", "key_levels": "4"})
    numbers = block_numbers(design.group.assignment, view.sample)
    keys = view.sample.columns[KEY].to_numpy()
    spans = [np.ptp(keys[numbers == block]) for block in range(int(numbers.max()) + 1)]
    assert np.mean(spans) < 6_000_000 / 8
    assert np.bincount(numbers).min() > 0


def spans(view: TableView, **options: str) -> Keys:
    """The least and greatest key of each block of a tree."""
    numbers = block_numbers(fit_layout("hyper", view, None, options).group.assignment, view.sample)
    keys = view.sample.columns[KEY].to_numpy()
    blocks = [keys[numbers == block] for block in range(int(numbers.max()) + 1)]
    rows = np.array([len(block) for block in blocks])
    low, high = ([int(side(block)) for block in blocks] for side in (np.min, np.max))
    return Keys(low, high, np.zeros(len(rows), np.int64), rows, rows * 100_000)


def test_a_join_of_keyed_tables_reads_all_once_and_one_of_others_reads_a_table_twice_or_is_shuffled() -> None:
    def joined(cores: int, **options: str) -> Chosen | Refused:
        left, right = (spans(keyed(rows, seed, 8), **options) for rows, seed in ((6_400, 1), (12_800, 2)))
        first, second, values = spans_of(left, right, (False, False))
        return choose(Tables(first, second, len(values)), Limits(cores, hashed=1 << 40))

    for cores in (4, 16):
        grouped = joined(cores, keys="key", key_levels="4")
        assert isinstance(grouped, Chosen)
        assert max(grouped.grouping.times_read(side) for side in (0, 1)) < 1.1
    few, many = joined(4), joined(16)
    assert isinstance(few, Chosen)
    assert max(few.grouping.times_read(side) for side in (0, 1)) > 2
    assert isinstance(many, Refused)


@pytest.mark.parametrize(
    ("type_", "values"),
    [
        (DATE, pa.array(np.arange(400))),
        (LONG, pa.array([None, *range(399)])),
        (DOUBLE, pa.array([float("nan")] * 40 + [index / 7 for index in range(360)])),
        (
            Type.parse("decimal(10,2)"),
            pa.array([Decimal(index) / 4 for index in range(400)], pa.decimal128(38, 2)),
        ),
        (STRING, pa.array([f"customer {index:04d}" for index in range(400)])),
        (BINARY, pa.array([index.to_bytes(2) for index in range(400)])),
    ],
)
def test_keys_of_every_type_have_a_grid(type_: Type, values: pa.Array) -> None:
    key = column("key", type_)
    view = view_of({key: values}, 8)
    design = fit_layout("hyper", view, None, {"keys": "key"})
    sizes = np.bincount(block_numbers(design.group.assignment, view.sample))
    assert len(sizes) == 8
    assert sizes.min() >= 0.3 * view.block_rows


def test_a_key_that_cannot_be_cut_gives_way_to_other_columns() -> None:
    view = view_of({KEY: np.zeros(400, np.int64), column("other"): np.arange(400)}, 8)
    design = fit_layout("hyper", view, None, {"keys": "key"})
    assert design.parameters["left_out"] == {"key": "has one value"}
    assert len(np.unique(block_numbers(design.group.assignment, view.sample))) == 8


def test_the_least_floats_have_a_common_grid() -> None:
    least = -sys.float_info.max
    found = coarsest(least, -1.5e308)
    assert isinstance(found, float)
    assert least < found <= -1.5e308
