"""Formulas: judging many situations at once equals judging one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from skipstone.layout.formulas import compile_formulas, holds
from skipstone.layout.sample import Formula

ATOMS = 5
FORMULAS: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.integers(0, ATOMS - 1), st.booleans()),
    lambda inner: st.tuples(st.sampled_from(["and", "or"]), st.lists(inner, max_size=4).map(tuple)),
    max_leaves=12,
)


def skipped(formula: Formula, vanished: np.ndarray) -> bool:
    if isinstance(formula, bool):
        return not formula
    if isinstance(formula, int):
        return bool(vanished[formula])
    parts = [skipped(part, vanished) for part in formula[1]]
    return any(parts) if formula[0] == "and" else all(parts)


@given(st.lists(FORMULAS, min_size=1, max_size=8), st.integers(0, 10_000))
@settings(max_examples=300, deadline=None)
def test_every_situation_is_judged_as_on_its_own(formulas: list[Formula], seed: int) -> None:
    vanished = np.random.default_rng(seed).random((ATOMS, 7)) < 0.5
    expected = [[skipped(formula, vanished[:, s]) for s in range(7)] for formula in formulas]
    assert compile_formulas(formulas, ATOMS).skipped(vanished).tolist() == expected


@given(st.lists(FORMULAS, min_size=1, max_size=8), st.integers(0, 10_000))
@settings(max_examples=200, deadline=None)
def test_some_of_the_queries_are_judged_as_among_all(formulas: list[Formula], seed: int) -> None:
    rng = np.random.default_rng(seed)
    vanished = rng.random((ATOMS, 7)) < 0.5
    chosen = np.flatnonzero(rng.random(len(formulas)) < 0.5)
    queries = compile_formulas(formulas, ATOMS)
    assert queries.take(chosen).skipped(vanished).tolist() == queries.skipped(vanished)[chosen].tolist()


@given(FORMULAS, st.integers(0, 10_000))
@settings(max_examples=200, deadline=None)
def test_what_is_skipped_has_no_matching_row(formula: Formula, seed: int) -> None:
    bits = np.random.default_rng(seed).random((4, ATOMS)) < 0.3
    vanished = ~np.any(bits, axis=0)
    if compile_formulas([formula], ATOMS).skipped(vanished[:, None])[0, 0]:
        assert not holds(formula, bits).any()
