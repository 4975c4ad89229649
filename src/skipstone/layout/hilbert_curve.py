"""Order along the Hilbert curve in any number of dimensions.

The transposed form of J. Skilling, "Programming the Hilbert curve" (2004): undo the rotations and exchanges
of each level from the top, then decode a Gray code; the position along the curve is the interleaved result.
Neighbours along the curve are neighbours in space, which the Z curve does not promise. Cost: O(bits *
dimensions) vector operations over all points.

>>> order_keys(np.array([[0, 0], [0, 1], [1, 1], [1, 0]]), 1).tolist()
[0, 1, 2, 3]
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from skipstone.layout import zcurve

__all__ = ["order_keys"]


def order_keys(points: npt.NDArray[np.int64], bits: int) -> npt.NDArray[np.uint64]:
    """Positions along the curve of points (n, dimensions), whose coordinates have ``bits`` bits each."""
    axes = points.astype(np.int64).T.copy()
    _undo_rotations(axes, bits)
    for axis in range(1, len(axes)):
        axes[axis] ^= axes[axis - 1]
    flips = np.zeros(axes.shape[1], np.int64)
    for bit in range(bits - 1, 0, -1):
        flips ^= np.where(axes[-1] >> bit & 1, (1 << bit) - 1, 0)
    axes ^= flips
    return zcurve.order_keys(axes.T, bits)


def _undo_rotations(axes: npt.NDArray[np.int64], bits: int) -> None:
    """From the top level down: flip the lower bits of the first axis, or exchange them with this axis."""
    for bit in range(bits - 1, 0, -1):
        lower = (1 << bit) - 1
        for axis in range(len(axes)):
            inverted = (axes[axis] >> bit & 1).astype(np.bool_)
            exchange = np.where(inverted, 0, (axes[0] ^ axes[axis]) & lower)
            axes[0] ^= np.where(inverted, lower, exchange)
            axes[axis] ^= exchange
