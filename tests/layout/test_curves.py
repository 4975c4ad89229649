"""The curves: every cell once, and along Hilbert's each step goes to a neighbour."""

from __future__ import annotations

import numpy as np
import pytest

from skipstone.layout import hilbert_curve, zcurve

SHAPES = [(1, 4), (2, 1), (2, 4), (3, 3), (4, 2), (5, 2)]


def cells(dimensions: int, bits: int) -> np.ndarray:
    side = 1 << bits
    return np.stack(np.unravel_index(np.arange(side**dimensions), (side,) * dimensions), axis=1)


@pytest.mark.parametrize(("dimensions", "bits"), SHAPES)
@pytest.mark.parametrize("curve", [zcurve.order_keys, hilbert_curve.order_keys])
def test_every_cell_has_a_place_of_its_own(curve, dimensions: int, bits: int) -> None:
    keys = curve(cells(dimensions, bits), bits)
    assert sorted(keys.tolist()) == list(range(1 << (bits * dimensions)))


@pytest.mark.parametrize(("dimensions", "bits"), SHAPES)
def test_hilbert_steps_go_to_a_neighbour(dimensions: int, bits: int) -> None:
    points = cells(dimensions, bits)
    path = points[np.argsort(hilbert_curve.order_keys(points, bits))]
    assert (np.abs(np.diff(path, axis=0)).sum(axis=1) == 1).all()


def test_z_order_interleaves_bits() -> None:
    assert zcurve.order_keys(np.array([[0b10, 0b01]]), 2).tolist() == [0b1001]
