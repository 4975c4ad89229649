"""Counting pairs by classes gives the product of the bit matrices, whichever way is chosen."""

from __future__ import annotations

import numpy as np
import pytest

from skipstone.layout import cooccurrence
from skipstone.layout.cooccurrence import group_predicates


def case(seed: int) -> tuple[np.ndarray, list[int]]:
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, 20, (700, 4))
    bits = [columns[:, c] < bound for c in range(4) for bound in (3, 5, 9, 14)]
    bits += [columns[:, 0] == columns[:, 1]]
    return np.stack(bits, axis=1), [0] * 4 + [1] * 4 + [2] * 4 + [3] * 4 + [4]


def expected(bits: np.ndarray, rows: np.ndarray, cuts: np.ndarray, atoms: np.ndarray) -> np.ndarray:
    ones = np.ones((len(rows), 1))
    left, right = (np.concatenate([bits[rows][:, which], ones], axis=1) for which in (cuts, atoms))
    counts: np.ndarray = left.T @ right
    return counts


@pytest.mark.parametrize("way", ["together", "_by_product", "_by_histogram"])
@pytest.mark.parametrize("seed", range(3))
def test_counts_equal_the_matrix_product(way: str, seed: int) -> None:
    bits, subjects = case(seed)
    rng = np.random.default_rng(seed)
    groups = group_predicates([bits[:, p].copy() for p in range(bits.shape[1])], subjects)
    rows = np.flatnonzero(rng.random(len(bits)) < 0.6)
    cuts, atoms = (np.flatnonzero(rng.random(bits.shape[1]) < 0.7) for _ in range(2))
    with np.errstate(invalid="ignore"):
        found = getattr(groups, way)(rows, cuts, atoms)
    assert found.tolist() == expected(bits, rows, cuts, atoms).tolist()


def test_bits_come_back_from_classes() -> None:
    bits, subjects = case(1)
    groups = group_predicates([bits[:, p].copy() for p in range(bits.shape[1])], subjects)
    rows = np.arange(0, 700, 3)
    for predicate in range(bits.shape[1]):
        assert groups.bits(rows, predicate).tolist() == bits[rows, predicate].tolist()


def test_a_group_of_too_many_classes_is_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cooccurrence, "_MOST_CLASSES", 50)
    bits = np.random.default_rng(0).random((500, 40)) < 0.5
    groups = group_predicates([bits[:, p].copy() for p in range(40)], [0] * 40)
    assert len(groups.groups) > 1
    rows, every = np.arange(500), np.arange(40)
    assert groups.together(rows, every, every).tolist() == expected(bits, rows, every, every).tolist()
