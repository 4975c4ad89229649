"""How many bits of a Z key each dimension gets.

Z-order gives all dimensions the same number of bits. "Self-organising layouts for Delta" (thesis), section
4.4, calls it a weakness that the number of an SOP cluster then weighs no more than any one column. Here the
shares are searched for, by whatever measure the caller has: bits are added one by one where that helps most,
and from the better of that and of equal shares on single bits are added, taken away or moved from one
dimension to another as long as it helps.

>>> schedule((2, 1))
(0, 1, 0)
>>> share_bits((9, 9), 4, 6, lambda bits: abs(bits[0] - 3) + abs(bits[1] - 2))
(3, 2)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from skipstone.layout.zcurve import KEY_BITS

__all__ = ["Bits", "equal_bits", "interleaved", "schedule", "share_bits"]

Bits = tuple[int, ...]
"""The number of bits of each dimension."""
Measure = Callable[[Bits], float]
Test = Callable[[Bits], bool]
MOST_TRIALS = 240
_PATIENCE = 2


def schedule(bits: Bits) -> tuple[int, ...]:
    """Whose bit comes next, from the highest on: each dimension's bits are spread evenly over the key."""
    turns = [((turn + 0.5) / most, axis) for axis, most in enumerate(bits) for turn in range(most)]
    return tuple(axis for _, axis in sorted(turns))


def interleaved(coordinates: Sequence[npt.NDArray[np.int64]], bits: Bits) -> npt.NDArray[np.int64]:
    """Keys of points; the coordinate of dimension d has ``bits[d]`` bits."""
    if sum(bits) >= KEY_BITS:
        raise ValueError(f"{sum(bits)} bits do not fit into a signed key of {KEY_BITS}")
    left = list(bits)
    keys = np.zeros(len(coordinates[0]), np.int64)
    for axis in schedule(bits):
        left[axis] -= 1
        keys = keys << 1 | (coordinates[axis] >> left[axis] & 1)
    return keys


def equal_bits(room: Sequence[int], total: int, fits: Test = lambda _: True) -> Bits:
    """A bit for each dimension in turn, as long as there is room."""
    bits: Bits = (0,) * len(room)
    while sum(bits) < total:
        before = bits
        for axis in range(len(room)):
            more = _changed(bits, axis, 1)
            if more[axis] <= room[axis] and sum(more) <= total and fits(more):
                bits = more
        if bits == before:
            break
    return bits


def share_bits(
    room: Sequence[int],
    least: int,
    most: int,
    measure: Measure,
    fits: Test = lambda _: True,
) -> Bits:
    """The shares with the smallest measure that were found; at most ``room[d]`` for each dimension.

    Not before ``least`` bits is adding bits given up, and there are never more than ``most``. Dimensions come
    in the order of their importance. Cost: not much more than ``MOST_TRIALS`` measurements.
    """
    known: dict[Bits, float] = {}

    def measured(bits: Bits) -> float:
        if bits not in known:
            known[bits] = measure(bits)
        return known[bits]

    best = min(_grown(room, least, most, measured, fits), equal_bits(room, most, fits), key=measured)
    improved = True
    while improved and len(known) < MOST_TRIALS:
        improved = False
        for bits in _changes(best, room):
            if 0 < sum(bits) <= most and fits(bits) and measured(bits) < measured(best):
                best, improved = bits, True
                break
    return best


def _grown(room: Sequence[int], least: int, most: int, measured: Measure, fits: Test) -> Bits:
    """Always one more bit where it helps most, until it no longer helps."""
    bits: Bits = (0,) * len(room)
    best, worse = bits, 0
    while sum(bits) < most and worse < _PATIENCE:
        more = [_changed(bits, axis, 1) for axis in range(len(room)) if bits[axis] < room[axis]]
        fitting = [each for each in more if fits(each)]
        if not fitting:
            break
        bits = min(fitting, key=measured)
        if sum(best) == 0 or measured(bits) < measured(best):
            best, worse = bits, 0
        elif sum(bits) > least:
            worse += 1
    return best


def _changes(bits: Bits, room: Sequence[int]) -> list[Bits]:
    axes = range(len(bits))
    less = [_changed(bits, axis, -1) for axis in axes if bits[axis]]
    more = [_changed(bits, axis, 1) for axis in axes if bits[axis] < room[axis]]
    moved = [
        _changed(_changed(bits, giver, -1), taker, 1)
        for giver in axes
        for taker in axes
        if giver != taker and bits[giver] and bits[taker] < room[taker]
    ]
    return [*more, *less, *moved]


def _changed(bits: Bits, axis: int, by: int) -> Bits:
    return (*bits[:axis], bits[axis] + by, *bits[axis + 1 :])
