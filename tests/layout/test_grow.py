"""Growing: the first cut is the best of all by brute force, and ORs are understood."""

from __future__ import annotations

import numpy as np
import pytest

from skipstone.layout.cooccurrence import group_predicates
from skipstone.layout.formulas import compile_formulas
from skipstone.layout.grow import Grown, Limits, grow
from skipstone.layout.sample import Formula

NONE = np.zeros(0, np.int64)


def tree(bits: np.ndarray, formulas: list[Formula], weights: list[float], limits: Limits) -> Grown:
    columns = [bits[:, index].copy() for index in range(bits.shape[1])]
    groups = group_predicates(columns, list(range(bits.shape[1])))
    return grow(groups, compile_formulas(formulas, bits.shape[1]), np.array(weights), limits, NONE)


def gain(bits: np.ndarray, formulas: list[Formula], weights: list[float], cut: int) -> float:
    total = 0.0
    for side in (bits[bits[:, cut]], bits[~bits[:, cut]]):
        vanished = ~side.any(axis=0)[:, None]
        skipped = compile_formulas(formulas, bits.shape[1]).skipped(vanished)[:, 0]
        total += len(side) * float(np.array(weights) @ skipped)
    return total


@pytest.mark.parametrize("seed", range(20))
def test_the_first_cut_gains_most(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bits = rng.random((200, 6)) < rng.uniform(0.05, 0.6, 6)
    formulas: list[Formula] = [0, ("and", (1, 2)), ("or", (3, ("and", (4, 5)))), ("and", (2, True))]
    weights = [float(weight) for weight in rng.integers(1, 9, 4)]
    grown = tree(bits, formulas, weights, Limits(20, 1e9))
    allowed = [cut for cut in range(6) if 20 <= bits[:, cut].sum() <= 180]
    gains = {cut: gain(bits, formulas, weights, cut) for cut in allowed}
    if not gains or max(gains.values()) <= 0:
        assert len(grown.leaves) == 1
    else:
        assert gains[grown.root.cut] == max(gains.values())


@pytest.mark.parametrize("seed", range(5))
def test_leaves_hold_every_row_once_and_say_which_queries_read_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bits = rng.random((400, 8)) < 0.4
    formulas: list[Formula] = [("and", (i, (i + 1) % 8)) for i in range(8)]
    grown = tree(bits, formulas, [1.0] * 8, Limits(10, 1e9))
    assert sorted(np.concatenate([leaf.rows for leaf in grown.leaves]).tolist()) == list(range(400))
    queries = compile_formulas(formulas, 8)
    for leaf, reads in zip(grown.leaves, grown.reads, strict=True):
        assert len(leaf.rows) >= 10
        vanished = ~np.any(bits[leaf.rows], axis=0)[:, None]
        assert queries.skipped(vanished)[:, 0].tolist() == (~reads).tolist()


def test_an_or_is_skipped_only_where_all_its_branches_are() -> None:
    bits = np.zeros((90, 2), bool)
    bits[:30, 0] = bits[30:60, 1] = True
    grown = tree(bits, [("or", (0, 1))], [1.0], Limits(10, 1e9))
    sizes = {len(leaf.rows): bool(reads[0]) for leaf, reads in zip(grown.leaves, grown.reads, strict=True)}
    assert len(grown.leaves) == 1 or False in sizes.values()


def test_the_budget_goes_to_the_cuts_that_gain_most() -> None:
    rng = np.random.default_rng(1)
    bits = rng.random((1000, 10)) < 0.5
    formulas: list[Formula] = list(range(10))
    few = tree(bits, formulas, [1.0] * 10, Limits(5, 1e9, leaves=8))
    assert len(few.leaves) == 8


def test_a_node_that_gains_nothing_is_halved_until_it_is_small_enough() -> None:
    values = np.arange(1000)
    bits = np.stack([values < bound for bound in range(100, 1000, 100)], axis=1)
    groups = group_predicates([bits[:, index].copy() for index in range(9)], [0] * 9)
    queries = compile_formulas([True], 9)
    grown = grow(groups, queries, np.ones(1), Limits(50, 250), np.arange(9))
    assert max(len(leaf.rows) for leaf in grown.leaves) <= 250
    assert min(len(leaf.rows) for leaf in grown.leaves) >= 50
