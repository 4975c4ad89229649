"""Cuts of a join key at places that several tables share.

Two tables that are joined by a key profit if their blocks end at the same keys: then a block of one meets few
blocks of the other. Medians of two samples never agree. So a key is cut on a grid that is a function of its
type alone: at multiples of a power of two (of days for dates, of microseconds for timestamps, of the last
digit for decimals, of any size for floats), and for texts where a character or byte is such a multiple.

Of all places that leave at least a fifth of a node's rows on either side, the coarsest is taken. There is
only one: of two neighbouring multiples of 2^j one is a multiple of 2^(j+1). So tables whose keys are spread
nearly alike are cut at the same places.

>>> coarsest(299_000, 5_100_000), coarsest(-3, 7), coarsest(5, 6)
(4194304, 0, 6)
>>> coarsest(0.3, 0.8), coarsest("Customer#0012", "Customer#0087")
(0.5, 'Customer#008')
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from skipstone.layout.allocation import Allocation
from skipstone.layout.attributes import Attribute, common_prefix
from skipstone.layout.hyper_tree import Choice, Discriminator, OpenNode
from skipstone.layout.nearest_cut import FEWEST, Cut
from skipstone.layout.ranks import rank_of
from skipstone.predicate.expr import Value

__all__ = ["JoinKeys", "coarsest", "shared_cut"]

_SIGN = 1 << 80
"""More than any integer here: shifted by it, all are positive and 0 is a multiple of the highest power."""
_SURROGATES = range(0xD800, 0xE000)


def coarsest(low: Value, high: Value) -> Value:
    """The value above ``low`` and at most ``high`` that is a multiple of the highest power of two."""
    match low, high:
        case int(), int():
            return _whole(low, high)
        case float(), float():
            return _floating(low, high)
        case Decimal(), Decimal():
            scale = high.as_tuple().exponent
            assert isinstance(scale, int)
            return Decimal(_whole(int(low.scaleb(-scale)), int(high.scaleb(-scale)))).scaleb(scale)
        case str(), str():
            common = common_prefix(low, high)
            code = _whole(ord(low[common]) if common < len(low) else -1, ord(high[common]))
            return high[:common] + (high[common] if code in _SURROGATES else chr(code))
        case bytes(), bytes():
            common = common_prefix(low, high)
            return high[:common] + bytes([_whole(low[common] if common < len(low) else -1, high[common])])
    raise TypeError(f"{low!r} and {high!r} have no common grid")


def _whole(low: int, high: int) -> int:
    shifted = high + _SIGN
    step = ((low + _SIGN) ^ shifted).bit_length() - 1
    return (shifted >> step << step) - _SIGN


def _floating(low: float, high: float) -> float:
    if low < 0.0 <= high:
        return 0.0
    if math.isinf(high) or math.isinf(low):
        return high
    exponent = max(math.frexp(low)[1], math.frexp(high)[1])
    while True:
        try:
            steps = math.ldexp(high, -exponent)
            # Below zero, what is too little for a float is still one whole step below.
            found = math.ldexp(-1.0 if high < 0.0 == steps else math.floor(steps), exponent)
        except OverflowError:  # a grid so coarse has no number below the least ones
            found = -math.inf
        if found > low:
            return found
        exponent -= 1


def shared_cut(attribute: Attribute, node: OpenNode) -> tuple[Cut, Value] | None:
    """The cut on the shared grid, and the value below which rows go to the left; None if there is none."""
    codes = np.sort(attribute.codes[node.rows])
    count = len(codes)
    # What is below the first of these is too little for the left side, what is above the second too much.
    low, high = codes[math.ceil(FEWEST * count) - 1], codes[min(count - 1, int((1 - FEWEST) * count))]
    values = attribute.values
    high = min(high, _last_number(attribute))
    if low >= high:
        return None
    value = coarsest(values[int(low)].as_py(), values[int(high)].as_py())
    code = rank_of(value, values) - 1
    return Cut(code, int(np.searchsorted(codes, code, side="right"))), value


def _last_number(attribute: Attribute) -> int:
    """The rank of the last value that is a number."""
    last = len(attribute.values) - 1
    value = attribute.values[last].as_py()
    return last - 1 if isinstance(value, float) and math.isnan(value) else last


@dataclass(frozen=True, slots=True, eq=False)
class JoinKeys:
    """The first levels are cut by the keys in turn, on the shared grid, and the others by ``others``."""

    attributes: tuple[Attribute, ...]
    keys: tuple[int, ...]
    levels: int
    others: Discriminator

    def choose(self, node: OpenNode, allocation: Allocation) -> Choice | None:
        """A key on the first levels, or what others choose."""
        turns = range(len(self.keys)) if node.depth <= self.levels else ()
        for turn in turns:
            number = self.keys[(node.depth - 1 + turn) % len(self.keys)]
            attribute = self.attributes[number]
            if (found := shared_cut(attribute, node)) is not None:
                return Choice(number, found[0], attribute.below(found[1]))
        return self.others.choose(node, allocation)

    def made(self, node: OpenNode, choice: Choice) -> None:
        """Others have to know of the cuts by keys too."""
        self.others.made(node, choice)
