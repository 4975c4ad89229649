"""Order along the Z curve: the bits of all coordinates, interleaved.

>>> order_keys(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), 1).tolist()
[0, 1, 2, 3]
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["order_keys"]


def order_keys(points: npt.NDArray[np.int64], bits: int) -> npt.NDArray[np.uint64]:
    """Places along the curve of points (n, dimensions), whose coordinates have ``bits`` bits each."""
    keys = np.zeros(len(points), np.uint64)
    for bit in reversed(range(bits)):
        for axis in range(points.shape[1]):
            keys = (keys << np.uint64(1)) | ((points[:, axis] >> bit) & 1).astype(np.uint64)
    return keys
