"""``balance=worst``: each cut is the one after which ranges scan least, by the real extents of all blocks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.layout.rows_of_numbers import column, view_of

from skipstone.layout.assignment import Node, Split, Tree
from skipstone.layout.attributes import Attribute, Rows, attribute
from skipstone.layout.extents import RangeNumbers, shares_scanned
from skipstone.layout.layouts import fit_layout
from skipstone.layout.nearest_cut import nearest_cut
from skipstone.layout.numbers import block_numbers
from skipstone.layout.table_view import TableView

ROWS = 240
SHAPES = ("many", "few", "skewed", "follows", "some NULL")


def table(shapes: list[str], seed: int) -> TableView:
    """Columns of several shapes; some of them go along with one another."""
    rng = np.random.default_rng(seed)
    day = rng.integers(0, 1_000, ROWS)
    drawn: dict[str, Callable[[], object]] = {
        "many": lambda: rng.permutation(ROWS),
        "few": lambda: rng.integers(0, 7, ROWS),
        "skewed": lambda: rng.zipf(1.6, ROWS).clip(max=60),
        "follows": lambda: day + rng.integers(0, 40, ROWS),
        "some NULL": lambda: pa.array([None if rng.random() < 0.2 else int(value) for value in day]),
    }
    return view_of({column(f"c{number}"): drawn[shape]() for number, shape in enumerate(shapes)}, 4)


def leaves(node: Node) -> list[int]:
    return [*leaves(node.yes), *leaves(node.no)] if isinstance(node, Split) else [node]


def score(numbers: RangeNumbers, blocks: list[Rows], power: float) -> float:
    return float((shares_scanned(numbers, blocks) ** power).sum())


def best(numbers: RangeNumbers, columns: list[Attribute], rows: Rows, others: list[Rows]) -> float:
    """The least score after a cut of these rows in the middle, by any column; others stay as they are."""
    found = []
    for each in columns:
        cut = nearest_cut(each.codes[rows], 0.5)
        if cut is not None:
            left = each.codes[rows] <= cut.code
            found.append(score(numbers, [rows[left], rows[~left], *others], 12.0))
    return min(found)


@given(st.lists(st.sampled_from(SHAPES), min_size=2, max_size=5), st.integers(0, 10_000))
def test_property_no_other_column_would_leave_less_to_scan(shapes: list[str], seed: int) -> None:
    view = table(shapes, seed)
    tree = fit_layout("hyper", view, None, {"balance": "worst"}).group.assignment
    assert isinstance(tree, Tree)
    root = tree.root
    if not (isinstance(root, Split) and isinstance(root.yes, Split) and tree.blocks == 4):
        return
    columns = [attribute(expr, values) for expr, values in view.sample.columns.items()]
    ranges = RangeNumbers.of([each.codes for each in columns], [len(each.values) for each in columns])
    of_block = block_numbers(tree, view.sample)

    def rows(node: Node) -> Rows:
        return np.flatnonzero(np.isin(of_block, leaves(node))).astype(np.int64)

    # First all rows are cut, then those on the left, with the right side as it is.
    whole = np.arange(ROWS, dtype=np.int64)
    assert score(ranges, [rows(root.yes), rows(root.no)], 12.0) == pytest.approx(
        best(ranges, columns, whole, [])
    )
    if len(leaves(root.yes)) == 2:
        made = [rows(root.yes.yes), rows(root.yes.no), rows(root.no)]
        assert score(ranges, made, 12.0) == pytest.approx(
            best(ranges, columns, rows(root.yes), [rows(root.no)])
        )


def test_extents_are_those_of_the_rows_and_not_of_the_cuts() -> None:
    """Of columns that follow one another one is cut; the cuts of the others would narrow nothing more."""
    day = np.arange(ROWS)
    columns = {
        column("day"): day,
        column("week"): day // 7,
        column("free"): np.random.default_rng(0).permutation(ROWS),
    }
    view = view_of(columns, 4)
    design = fit_layout("hyper", view, None, {"balance": "worst"})
    allocation = design.parameters["allocation"]
    assert isinstance(allocation, dict)
    assert min(allocation["day"], allocation["week"]) == 0.0
    shares = design.parameters["scanned_by_ranges"]
    assert isinstance(shares, dict)
    assert shares["week"] < 0.7, "the cuts of the other column serve it"
