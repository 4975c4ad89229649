"""Truth per block, where an answer that is the same for all blocks costs nothing.

A mask is either one ``bool`` for every block or an array with one bool per block. Most statistics
are uniform in something (no block has NaN, no block is all NULL), so most combinations are free.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["Flags", "Mask", "both", "compact", "either", "negated", "spread", "take"]

Flags = npt.NDArray[np.bool_]
Mask = bool | Flags


def compact(flags: Flags) -> Mask:
    """A single bool where all flags agree."""
    if flags.all():
        return True
    return flags if flags.any() else False


def either(left: Mask, right: Mask) -> Mask:
    """Where at least one holds."""
    if isinstance(left, bool):
        return True if left else right
    if isinstance(right, bool):
        return True if right else left
    return left | right


def both(left: Mask, right: Mask) -> Mask:
    """Where both hold."""
    if isinstance(left, bool):
        return right if left else False
    if isinstance(right, bool):
        return left if right else False
    return left & right


def negated(mask: Mask) -> Mask:
    """Where it does not hold."""
    return not mask if isinstance(mask, bool) else ~mask


def spread(mask: Mask, size: int) -> Flags:
    """One flag per block."""
    return np.full(size, mask) if isinstance(mask, bool) else np.broadcast_to(mask, (size,))


def take(mask: Mask, index: npt.NDArray[np.intp]) -> Mask:
    """The flags of some of the blocks."""
    return mask if isinstance(mask, bool) or mask.ndim == 0 else mask[index]
