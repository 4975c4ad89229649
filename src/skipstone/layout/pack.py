"""Bits as 64-bit words, as union vectors and feature vectors are stored.

>>> pack(np.array([[True, False, True]])).tolist()
[[5]]
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from skipstone.pruning.blocks import Words

__all__ = ["pack"]


def pack(bits: npt.NDArray[np.bool_]) -> Words:
    """Words of rows of bits: bit i of a row is bit ``i % 64`` of word ``i // 64``."""
    width = (bits.shape[1] + 63) // 64
    padded = np.zeros((len(bits), width * 64), np.bool_)
    padded[:, : bits.shape[1]] = bits
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64).reshape(len(bits), width)
