"""Properties of hyper-partitioning trees over random columns: every row gets the block of its cuts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from tests.layout.rows_of_numbers import column, view_of

from skipstone.errors import SkipstoneError
from skipstone.layout.assignment import Node, Split, Tree
from skipstone.layout.attributes import attribute
from skipstone.layout.layouts import fit_layout
from skipstone.layout.nearest_cut import FEWEST, nearest_cut
from skipstone.layout.numbers import block_numbers
from skipstone.predicate.evaluate import evaluate
from skipstone.predicate.expr import Column, Expr, Value
from skipstone.predicate.types import BINARY, DOUBLE, LONG, STRING

FLOATS = st.floats(width=32) | st.sampled_from((0.0, -0.0, math.nan, math.inf, -math.inf))
KINDS: dict[Column, tuple[st.SearchStrategy[Any], pa.DataType]] = {
    column("n", LONG): (st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1), pa.int64()),
    column("x", DOUBLE): (FLOATS, pa.float64()),
    column("t", STRING): (st.text("ab☃\U0001f600", max_size=4), pa.string()),
    column("raw", BINARY): (st.binary(max_size=3), pa.binary()),
}


@st.composite
def tables(draw: st.DrawFn) -> dict[Column, pa.Array]:
    rows = draw(st.integers(1, 60))
    return {
        key: pa.array(draw(st.lists(st.none() | values, min_size=rows, max_size=rows)), type_)
        for key, (values, type_) in KINDS.items()
    }


def walked(node: Node, row: dict[Expr, Value]) -> int:
    """The leaf of a row, by the reference evaluator."""
    while isinstance(node, Split):
        node = node.yes if evaluate(node.cut, row) is True else node.no
    return node


@given(tables(), st.integers(1, 12), st.sampled_from(("allocation", "worst", "cyclic")), st.booleans())
def test_property_every_row_has_the_block_that_the_cuts_lead_to(
    columns: dict[Column, pa.Array], blocks: int, balance: str, keys: bool
) -> None:
    view = view_of(columns, blocks)
    options = {"balance": balance} | ({"keys": "x,t"} if keys else {})
    try:
        tree = fit_layout("hyper", view, None, options).group.assignment
    except SkipstoneError as problem:
        assert str(problem).startswith("No column can be cut")  # noqa: PT017 (it may also not be raised)
        return
    assert isinstance(tree, Tree)
    numbers = block_numbers(tree, view.sample)
    lists = {key: values.to_pylist() for key, values in columns.items()}
    rows: list[dict[Expr, Value]] = [
        {key: values[index] for key, values in lists.items()} for index in range(len(numbers))
    ]
    assert numbers.tolist() == [walked(tree.root, row) for row in rows]
    assert set(numbers.tolist()) == set(range(tree.blocks)), "no block is empty"


@given(tables(), st.sampled_from(list(KINDS)))
def test_property_a_cut_parts_the_ranks_of_all_sampled_values(
    columns: dict[Column, pa.Array], key: Column
) -> None:
    ranked = attribute(key, columns[key])
    values = columns[key].to_pylist()
    for code in range(len(ranked.values)):
        true = [evaluate(ranked.cut(code), {key: value}) is True for value in values]
        assert true == (ranked.codes <= code).tolist()


@given(st.lists(st.integers(0, 6), min_size=1, max_size=40), st.floats(0.3, 0.7))
def test_property_no_other_cut_with_a_fifth_on_either_side_is_nearer(codes: list[int], share: float) -> None:
    ranks = np.array(codes, np.int32)
    found = nearest_cut(ranks, share)
    rows = {code: int((ranks <= code).sum()) for code in set(codes)}
    allowed = [n for n in rows.values() if FEWEST * len(ranks) <= n <= (1 - FEWEST) * len(ranks)]
    allowed = [n for n in allowed if 0 < n < len(ranks)]
    if found is None:
        assert not allowed
        return
    assert found.rows == rows[found.code]
    assert abs(found.rows - share * len(ranks)) <= min(abs(n - share * len(ranks)) for n in allowed) + 1e-9
