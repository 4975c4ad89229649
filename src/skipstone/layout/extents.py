"""What a range query would scan, attribute by attribute, and the cut that lowers the worst of it.

A block is scanned by a range query if its extent, from the least to the greatest of its values, meets the
range. Queries ask for about a twentieth of an attribute's rows, at any place. Every attribute is divided into
up to a hundred *steps* of about as many rows each, or into its values where these have more rows, and a range
is a twentieth of the steps, one at least. That need not be a whole number: of 50 values a range has two or
three, so two and a half on average. Of ``steps - range + 1`` places, a block whose extent goes from step
``first`` to step ``last`` is scanned from those that begin between ``first - range + 1`` and ``last``. So

    share scanned(b) = sum over blocks of share of rows * places that meet its extent / places

is what a range of attribute b scans on average. Cutting a node by one attribute narrows the extents of all
attributes that go along with it, so correlated columns profit from one another's cuts, which allocation does
not see. :class:`LeastWorst` makes the cut that most reduces

    sum over attributes b of (share scanned(b)) ^ power

so a high power favours the worst attribute and power 1 the mean. NULL lies in no range.

Cost: for each node the extents of all attributes for each cut, on at most ``_MOST_ROWS`` of its rows.

>>> codes = np.array([0, 1, 2, 3], np.int32)
>>> shares_scanned(RangeNumbers.of([codes, codes[::-1]], [4, 4]), [np.array([0, 1]), np.array([2, 3])])
array([0.5, 0.5])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from skipstone.layout.allocation import Allocation
from skipstone.layout.attributes import Attribute, Rows
from skipstone.layout.discriminators import first_cut
from skipstone.layout.hyper_tree import Choice, OpenNode
from skipstone.layout.nearest_cut import nearest_cut
from skipstone.layout.ranks import Codes

__all__ = ["LeastWorst", "RangeNumbers", "shares_scanned"]

Floats = npt.NDArray[np.float64]
_STEPS = 100
_SELECTIVITY = 0.05
_MOST_ROWS = 8_192
_NO_FIRST, _NO_LAST = np.int8(127), np.int8(-128)
"""The first and last step of rows without a value: no step lies between."""


@dataclass(frozen=True, slots=True, eq=False)
class RangeNumbers:
    """Which step of each attribute every sampled row lies in, and how many steps attributes and ranges have.

    ``first`` and ``last`` have a line for each attribute; they differ only where the value is NULL.
    """

    first: npt.NDArray[np.int8]
    last: npt.NDArray[np.int8]
    steps: Floats
    range_steps: Floats

    @classmethod
    def of(cls, codes: Sequence[Codes], values: Sequence[int]) -> RangeNumbers:
        """From the ranks of all attributes and how many values each has; NULL has the rank behind them."""
        numbers = [_steps(each, count) for each, count in zip(codes, values, strict=True)]
        null = np.stack([each >= count for each, count in zip(codes, values, strict=True)])
        stacked = np.stack(numbers).astype(np.int8)
        steps = np.array([each.max(initial=0) + 1 for each in numbers], np.float64)
        return cls(
            np.where(null, _NO_FIRST, stacked),
            np.where(null, _NO_LAST, stacked),
            steps,
            np.maximum(steps * _SELECTIVITY, 1.0),
        )

    @property
    def narrowest(self) -> Floats:
        """Of each attribute, the share of its places that a block of a single value meets, at most."""
        return self.range_steps / (self.steps - self.range_steps + 1)

    def of_rows(self, rows: Rows) -> RangeNumbers:
        """The same for some of the rows."""
        return RangeNumbers(self.first[:, rows], self.last[:, rows], self.steps, self.range_steps)

    def widths(self, inside: npt.NDArray[np.bool_] | None = None) -> Floats:
        """Of each attribute, the share of a range's places that meet the extent of the rows, or of some."""
        first = self.first if inside is None else np.where(inside, self.first, _NO_FIRST)
        last = self.last if inside is None else np.where(inside, self.last, _NO_LAST)
        least = first.min(axis=1, initial=_NO_FIRST).astype(np.float64)
        most = last.max(axis=1, initial=_NO_LAST).astype(np.float64)
        end = self.steps - self.range_steps
        places = np.minimum(most, end) - np.maximum(least - self.range_steps + 1, 0.0) + 1
        widths: Floats = np.where(most < least, 0.0, places / (end + 1))
        return widths


def _steps(codes: Codes, values: int) -> npt.NDArray[np.int64]:
    """The step of each row: values in order, gathered until they have a hundredth of the rows."""
    counts = np.bincount(codes, minlength=values + 1)[:values]
    before = np.cumsum(counts) - counts
    number = (before * _STEPS) // max(int(counts.sum()), 1)
    _, dense = np.unique(number, return_inverse=True)
    return np.append(dense, 0)[np.minimum(codes, values)]


def shares_scanned(numbers: RangeNumbers, blocks: Sequence[Rows]) -> Floats:
    """What a range of each attribute scans on average when rows lie in these blocks."""
    rows = sum(len(block) for block in blocks)
    shares: Floats = np.zeros(len(numbers.steps))
    for block in blocks:
        shares += len(block) / rows * numbers.of_rows(block).widths()
    return shares


class LeastWorst:
    """Chooses the cut that most reduces the sum of the attributes' shares to a power."""

    def __init__(self, attributes: tuple[Attribute, ...], numbers: RangeNumbers, power: float) -> None:
        """Nothing is cut yet, so all of the table is scanned."""
        self._attributes = attributes
        self._numbers = numbers
        self._power = power
        self._shares: Floats = np.ones(len(attributes))

    def choose(self, node: OpenNode, allocation: Allocation) -> Choice | None:
        """The best cut by any attribute; among equals that of the least-allocated one."""
        near = self._near(node)
        found: list[tuple[float, int]] = []
        for number in allocation.least_first():
            codes = self._attributes[number].codes[near.rows]
            cut = nearest_cut(codes, node.share)
            if cut is not None:
                shares = self._shares + near.change(codes <= cut.code)
                found.append((round(_norm(shares, self._power), 12), number))
        # Sorting keeps the order of equals. Few of the rows may have a cut that all of them have not.
        return first_cut(self._attributes, [number for _, number in sorted(found, key=itemgetter(0))], node)

    def made(self, node: OpenNode, choice: Choice) -> None:
        """Less is scanned from now on."""
        near = self._near(node)
        codes = self._attributes[choice.attribute].codes[near.rows]
        self._shares = self._shares + near.change(codes <= choice.cut.code)

    def _near(self, node: OpenNode) -> _SomeRows:
        rows = node.rows[:: max(1, len(node.rows) // _MOST_ROWS)]
        coverage = len(node.rows) / self._numbers.first.shape[1]
        numbers = self._numbers.of_rows(rows)
        return _SomeRows(rows, numbers, numbers.widths(), coverage)


def _norm(shares: Floats, power: float) -> float:
    """In the order of the sum of the shares to the power, which itself is too small to be told apart.

    >>> round(_norm(np.array([0.6, 0.8]), 2.0), 6), _norm(np.array([0.5, 0.25]), 64.0)
    (1.0, 0.5)
    """
    most = float(shares.max())
    return most * float(((shares / most) ** power).sum()) ** (1 / power) if most > 0.0 else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class _SomeRows:
    """Rows that stand for all of a node, which has this share of the table."""

    rows: Rows
    numbers: RangeNumbers
    widths: Floats
    coverage: float

    def change(self, left: npt.NDArray[np.bool_]) -> Floats:
        """By how much less is scanned of each attribute when these rows are parted from the others."""
        share = float(left.mean())
        narrowed = share * self.numbers.widths(left) + (1 - share) * self.numbers.widths(~left)
        return self.coverage * (narrowed - self.widths)
