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
from dataclasses import dataclass, replace

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
    """The ranges of all attributes, and the share of what each of them skips that may be given up."""

    numbers: RangeNumbers
    most_given_up: Floats

    @classmethod
    def of(cls, attributes: Sequence[Attribute]) -> RangeSkips:
        """The ranges of some attributes, of which there is at least one; all may be given up."""
        numbers = RangeNumbers.of([each.codes for each in attributes], [each.null for each in attributes])
        return cls(numbers, np.ones(len(attributes)))

    def keeping(self, skipped: Floats, least: Floats) -> RangeSkips:
        """The same, where of so many rows that ranges skip so many must remain."""
        may = 1.0 - least / np.maximum(skipped, _TINY)
        return replace(self, most_given_up=np.clip(may, 0.0, 1.0))

    def skipped(self, blocks: Sequence[Indices]) -> Floats:
        """The sampled rows that a range of each attribute skips, for each of these blocks."""
        found: Floats = np.zeros((len(blocks), len(self.most_given_up)))
        for index, rows in enumerate(blocks):
            found[index] = len(rows) * (1.0 - self.numbers.of_rows(rows).widths())
        return found

    def allows(self, before: Floats, touched: Floats, after: Floats) -> bool:
        """Whether a change may turn what is touched, out of what is there, into this."""
        return bool((touched - after <= self.most_given_up * before + _TINY).all())

    def certainly_allowed(self, before: Floats, in_order: Floats) -> int:
        """How many of the blocks, in this order, may be touched whatever becomes of them."""
        lost = np.cumsum(in_order, axis=0)
        fits = (lost <= self.most_given_up * before + _TINY).all(axis=1)
        return len(in_order) if fits.all() else int(np.argmin(fits))
