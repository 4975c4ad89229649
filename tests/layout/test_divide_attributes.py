"""Attributes divided among the trees of several replicas."""

from __future__ import annotations

import numpy as np
import pytest
from tests.layout.rows_of_numbers import column, view_of

from skipstone.errors import SkipstoneError
from skipstone.layout.attributes import attributes
from skipstone.layout.divide_attributes import divide_attributes, following
from skipstone.layout.table_view import TableView
from skipstone.layout.workload_view import workload_view
from skipstone.predicate.expr import And, Comparison, Literal
from skipstone.predicate.types import LONG

ROWS = 8_000


def orders() -> TableView:
    """Three days of an order that follow one another, a price that follows a quantity, and four others."""
    rng = np.random.default_rng(0)
    day, quantity = rng.integers(0, 2_000, ROWS), rng.integers(1, 51, ROWS)
    columns = {
        "ordered": day,
        "a": rng.permutation(ROWS),
        "shipped": day + rng.integers(1, 60, ROWS),
        "b": rng.permutation(ROWS),
        "received": day + rng.integers(10, 90, ROWS),
        "c": rng.permutation(ROWS),
        "quantity": quantity,
        "d": rng.permutation(ROWS),
        "price": quantity * 100 + rng.integers(0, 100, ROWS),
        "same": np.zeros(ROWS, np.int64),
    }
    return view_of({column(name): values for name, values in columns.items()}, 100)


def names(view: TableView, trees: int, *asked: tuple[float, tuple[str, ...]]) -> list[set[str]]:
    """The names of each tree's columns; queries compare some with a constant, each so often."""
    filters = [
        And(tuple(Comparison("<", column(name), Literal(5, LONG)) for name in (*compared, compared[0])))
        for _, compared in asked
    ]
    queries = workload_view(filters, [weight for weight, _ in asked]) if asked else None
    found = divide_attributes(view, trees, queries)
    return [{expr.path[0] for expr in share} for share in found]  # type: ignore[union-attr]


@pytest.mark.parametrize("trees", [1, 2, 3, 4])
def test_every_attribute_is_in_one_tree_and_correlated_ones_are_in_the_same(trees: int) -> None:
    shares = names(orders(), trees)
    assert len(shares) == trees
    assert sorted(name for share in shares for name in share) == sorted(
        ["ordered", "shipped", "received", "quantity", "price", "a", "b", "c", "d"]
    )
    assert any(share >= {"ordered", "shipped", "received"} for share in shares)
    assert any(share >= {"quantity", "price"} for share in shares)


def test_trees_need_about_as_much_as_one_another() -> None:
    # The days count little more than one attribute, so that two others go with them.
    assert sorted(len(share) for share in names(orders(), 3)) == [2, 3, 4]


def test_where_all_follow_one_another_every_tree_still_has_an_attribute() -> None:
    base = np.random.default_rng(1).permutation(1_000)
    view = view_of({column(f"c{number}"): base + number for number in range(4)}, 10)
    assert sorted(map(len, divide_attributes(view, 3))) == [1, 1, 2]


def test_the_division_is_the_same_each_time() -> None:
    assert divide_attributes(orders(), 3) == divide_attributes(orders(), 3)


@pytest.mark.parametrize("trees", [0, 3])
def test_fewer_columns_than_trees_are_refused(trees: int) -> None:
    view = view_of({column("a"): np.arange(100), column("b"): np.arange(100), column("c"): np.zeros(100)}, 4)
    with pytest.raises(
        SkipstoneError, match=f"There are 2 columns that can be cut; they do not make {trees} trees"
    ):
        divide_attributes(view, trees)


def test_rows_of_one_value_do_not_follow_the_order_in_which_they_were_sampled() -> None:
    view = view_of({column("id"): np.arange(4_000), column("flag"): np.arange(4_000) % 2}, 4)
    found, _ = attributes(view.sample.columns, list(view.sample.columns))
    assert following(found).max() == 0.0


def test_columns_that_are_compared_together_are_in_one_tree() -> None:
    shares = names(orders(), 3, (9.0, ("a", "d")), (1.0, ("a", "b")), (5.0, ("c",)), (8.0, ("b",)))
    assert any(share >= {"a", "d"} for share in shares)
    assert not any(share >= {"a", "b"} for share in shares), "mostly b is compared alone"
    assert any(share >= {"ordered", "shipped", "received"} for share in shares)


def test_columns_that_are_asked_for_most_are_in_different_trees() -> None:
    alone = [(50.0, (name,)) for name in ("a", "b", "c")]
    shares = names(orders(), 3, *alone, (1.0, ("ordered",)))
    assert sorted(len(share & {"a", "b", "c"}) for share in shares) == [1, 1, 1]
    assert sum(map(len, shares)) == 9, "what nobody asks for is in some tree too"
