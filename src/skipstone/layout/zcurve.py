"""Order along the Z curve: the bits of all coordinates, interleaved.

>>> order_keys(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), 1).tolist()
[0, 1, 2, 3]
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["KEY_BITS", "affordable_bits", "order_keys"]

KEY_BITS = 64


def affordable_bits(wanted: int, dimensions: int) -> int:
    """The bits that each of so many coordinates can have in one key.

    >>> affordable_bits(13, 4), affordable_bits(13, 5)
    (13, 12)
    """
    return min(wanted, KEY_BITS // dimensions)


def order_keys(points: npt.NDArray[np.int64], bits: int) -> npt.NDArray[np.uint64]:
    """Positions along the curve of points (n, dimensions), whose coordinates have ``bits`` bits each."""
    if bits * points.shape[1] > KEY_BITS:
        raise ValueError(f"{points.shape[1]} coordinates of {bits} bits do not fit into a key of {KEY_BITS}")
    keys = np.zeros(len(points), np.uint64)
    for bit in reversed(range(bits)):
        for axis in range(points.shape[1]):
            keys = (keys << np.uint64(1)) | ((points[:, axis] >> bit) & 1).astype(np.uint64)
    return keys
