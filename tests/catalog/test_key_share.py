"""How many blocks have keys like those of one block."""

from __future__ import annotations

import pytest
from tests.catalog.segments import SETTINGS, A, S, bounds, segment

from skipstone.catalog import Catalog, merge
from skipstone.catalog.key_share import key_share
from skipstone.predicate.expr import Call, Expr
from skipstone.predicate.types import INT, LONG, STRING
from skipstone.pruning.blocks import Statistics


def catalog(statistics: dict[Expr, Statistics], blocks: int) -> Catalog:
    return merge([segment([f"f{index}" for index in range(blocks)], statistics)])


def test_keys_of_a_sorted_column_are_in_one_block() -> None:
    found = catalog({A: bounds(INT, [0, 10, 20, 30], [9, 19, 29, 39])}, 4)
    assert key_share(A, found, SETTINGS) == pytest.approx(0.25)


def test_keys_of_a_column_in_any_order_are_in_all_blocks() -> None:
    found = catalog({A: bounds(INT, [0, 1, 2, 3], [39, 38, 37, 36])}, 4)
    assert key_share(A, found, SETTINGS) == pytest.approx(1.0)


def test_of_a_cast_without_statistics_what_is_cast_counts() -> None:
    found = catalog({A: bounds(INT, [0, 10], [9, 19])}, 2)
    assert key_share(Call("cast", (A,), LONG), found, SETTINGS) == pytest.approx(0.5)
    assert key_share(Call("coalesce", (A,), INT), found, SETTINGS) is None
    assert key_share(S, found, SETTINGS) is None


def test_texts_have_shares_too_and_what_is_unknown_has_none() -> None:
    found = catalog({S: bounds(STRING, ["a", "m"], ["l", "z"])}, 2)
    assert key_share(S, found, SETTINGS) == pytest.approx(0.5)
    unknown = catalog({S: bounds(STRING, [None, None], [None, None])}, 2)
    assert key_share(S, unknown, SETTINGS) is None
    assert key_share(S, merge([]), SETTINGS) is None
    assert key_share(S, found, {"other": "settings"}) == pytest.approx(1.0)
