"""The curves: every cell once, and along Hilbert's each step goes to a neighbour."""

from __future__ import annotations

import numpy as np
import pytest

from skipstone.layout import hilbert_curve, zcurve
from skipstone.layout.assignment import Dimension
from skipstone.layout.bit_shares import interleaved
from skipstone.layout.grid import Curve, _gathered
from skipstone.predicate.expr import Column
from skipstone.predicate.types import INT

CURVES = [zcurve.order_keys, hilbert_curve.order_keys]
SHAPES = [(1, 4), (2, 1), (2, 4), (3, 3), (4, 2), (5, 2)]


def cells(dimensions: int, bits: int) -> np.ndarray:
    side = 1 << bits
    return np.stack(np.unravel_index(np.arange(side**dimensions), (side,) * dimensions), axis=1)


@pytest.mark.parametrize(("dimensions", "bits"), SHAPES)
@pytest.mark.parametrize("curve", CURVES)
def test_every_cell_has_a_position_of_its_own(curve: Curve, dimensions: int, bits: int) -> None:
    keys = curve(cells(dimensions, bits), bits)
    assert sorted(keys.tolist()) == list(range(1 << (bits * dimensions)))


@pytest.mark.parametrize(("dimensions", "bits"), SHAPES)
def test_hilbert_steps_go_to_a_neighbour(dimensions: int, bits: int) -> None:
    points = cells(dimensions, bits)
    path = points[np.argsort(hilbert_curve.order_keys(points, bits))]
    assert (np.abs(np.diff(path, axis=0)).sum(axis=1) == 1).all()


@pytest.mark.parametrize("curve", CURVES)
def test_more_bits_than_a_key_has_are_refused(curve: Curve) -> None:
    highest = np.full((1, 4), (1 << 16) - 1)
    keys = curve(np.concatenate([highest, highest >> 1]), 16)
    assert len(np.unique(keys)) == 2, "64 bits are all there"
    with pytest.raises(ValueError, match="5 coordinates of 13 bits do not fit"):
        curve(np.zeros((1, 5), np.int64), 13)
    with pytest.raises(ValueError, match="64 bits do not fit"):
        interleaved([np.zeros(1, np.int64)] * 4, (16,) * 4)


@pytest.mark.parametrize("curve", [None, *CURVES])
def test_one_fine_column_among_coarse_ones_keeps_neighbours_together(curve: Curve | None) -> None:
    """Four columns of 18 bits each would need 72: the highest bits must not be lost."""
    numbers = [np.arange(1, (1 << 18) + 1), *[np.ones(1 << 18, np.int64)] * 3]
    dimensions = tuple(
        Dimension(Column((f"c{index}",), INT), tuple(range(int(each.max()) - 1)))
        for index, each in enumerate(numbers)
    )
    grid = _gathered(dimensions, [each.astype(np.int32) for each in numbers], 64, curve)
    found = grid.block_of[np.ravel_multi_index(numbers, [each.buckets for each in dimensions])]
    widest = max(int(np.ptp(np.flatnonzero(found == block))) for block in range(64))
    assert widest < 4 * len(found) / 64, "values of a block are neighbours"


def test_z_order_interleaves_bits() -> None:
    assert zcurve.order_keys(np.array([[0b10, 0b01]]), 2).tolist() == [0b1001]
