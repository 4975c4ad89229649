"""What ranges of attributes that no query is about still skip, and how much of it a change would give up.

A range of a twentieth of one attribute (:mod:`~skipstone.layout.extents`) skips of a block of r rows, on
average, r * (1 - width) rows, where width is the share of the attribute's ranges that the block's extent
meets. That is a sum over blocks, so what a change gives up is known from the blocks that it touches, and a
bound that every change keeps for the blocks below its node holds for the whole table.

The thesis measures robustness by allocation, which is blind to correlation and is lost for blocks whose tree
is; extents are measured on the blocks themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skipstone.layout.attributes import Attribute
from skipstone.layout.extents import RangeNumbers

__all__ = ["RangeSkips"]

Floats = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
_TINY = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class RangeSkips:
    """The ranges of all attributes; ``bounded`` tells of which at most a share may be given up."""

    numbers: RangeNumbers
    bounded: npt.NDArray[np.bool_]
    most_given_up: float

    @classmethod
    def of(cls, attributes: Sequence[Attribute], bounded: Sequence[bool], most_given_up: float) -> RangeSkips:
        """The ranges of some attributes, of which there is at least one."""
        numbers = RangeNumbers.of([each.codes for each in attributes], [each.null for each in attributes])
        return cls(numbers, np.array(bounded, np.bool_), most_given_up)

    def skipped(self, blocks: Sequence[Indices]) -> Floats:
        """The sampled rows that a range of each attribute skips, for each of these blocks."""
        found: Floats = np.zeros((len(blocks), len(self.bounded)))
        for index, rows in enumerate(blocks):
            found[index] = len(rows) * (1.0 - self.numbers.of_rows(rows).widths())
        return found

    def allows(self, before: Floats, touched: Floats, after: Floats) -> bool:
        """Whether a change may turn what is touched, out of what is there, into this."""
        lost = (touched - after)[self.bounded]
        return bool((lost <= self.most_given_up * before[self.bounded] + _TINY).all())

    def certainly_allowed(self, before: Floats, in_order: Floats) -> int:
        """How many of the blocks, in this order, may be touched whatever becomes of them."""
        lost = np.cumsum(in_order, axis=0)[:, self.bounded]
        fits = (lost <= self.most_given_up * before[self.bounded] + _TINY).all(axis=1)
        return len(in_order) if fits.all() else int(np.argmin(fits))
