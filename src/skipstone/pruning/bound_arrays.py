"""The lower, or the upper, bounds of all blocks as one array, ready for comparison.

A bound array is None where nothing is known of any block, a numpy array for everything that is a number,
and :class:`TextBounds` for strings and binary. An unknown bound among numbers is the least (of lower
bounds) or greatest (of upper bounds) number of the array, which no comparison below
ever concludes from: for 64-bit integers and doubles it is a bound that is trivially true. Decimals
are unscaled integers: int64 where all of them fit, Python integers otherwise.

Texts compare by their first eight bytes, held as one big-endian integer; only where these are equal
are the texts themselves looked at. ``'jeans' < 'shoes'`` is one comparison of two 64-bit numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from skipstone.predicate.types import Kind, Type
from skipstone.predicate.value_ranges import Key
from skipstone.pruning.masks import Flags, Mask

__all__ = [
    "MAX",
    "MIN",
    "BoundArray",
    "Numbers",
    "TextBounds",
    "alike",
    "at_least",
    "below",
    "bound_array",
    "less",
    "take",
]

MIN = -(1 << 63)
MAX = (1 << 63) - 1
_KEY_BYTES = 8

Numbers = npt.NDArray[Any]
"""int64, float64 or, for decimals that are longer, Python's own numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class TextBounds:
    """Strings or binary; null is unknown. ``keys`` is None for bounds that were derived.

    Texts of some of the blocks are not gathered before they are needed: with an ``index``, the bound
    of block i is ``texts[index[i]]``.
    """

    stored: pa.Array | pa.Scalar
    keys: npt.NDArray[np.uint64] | None = None
    index: npt.NDArray[np.intp] | None = None

    @property
    def texts(self) -> pa.Array | pa.Scalar:
        """The texts, one per block; a single one if all are the same."""
        return self.stored if self.index is None else self.stored.take(pa.array(self.index))

    def some(self, indices: npt.NDArray[np.intp]) -> pa.Array:
        """The texts at these indices."""
        return self.stored.take(pa.array(indices if self.index is None else self.index[indices]))


BoundArray = Numbers | TextBounds | None


def bound_array(bounds: pa.Array, type: Type, *, upper: bool) -> BoundArray:
    """The array that the stored lower or upper bounds of all blocks make."""
    if bounds.null_count == len(bounds):
        return None
    if type.kind in (Kind.STRING, Kind.BINARY):
        return TextBounds(bounds, _text_keys(bounds, upper=upper))
    unknown = MAX if upper else MIN
    if type.kind is Kind.DECIMAL:
        return _unscaled(bounds, type.scale, unknown)
    if type.floating:
        numbers = _numpy(bounds.cast(pa.float64()), math.inf if upper else -math.inf)
        return np.where(np.isnan(numbers), math.inf if upper else -math.inf, numbers)
    return _numpy(bounds.cast(pa.int64()), unknown)


def _numpy(bounds: pa.Array, unknown: float) -> Numbers:
    known = bounds if bounds.null_count == 0 else bounds.fill_null(pa.scalar(unknown, bounds.type))
    numbers: Numbers = known.to_numpy(zero_copy_only=False)
    return numbers


def _unscaled(bounds: pa.Array, scale: int, unknown: int) -> Numbers:
    """Decimals as unscaled integers, read from Arrow's 128-bit words."""
    bounds = bounds.cast(pa.decimal128(38, scale))
    words = np.frombuffer(bounds.buffers()[1], np.int64).reshape(-1, 2)
    words = words[bounds.offset : bounds.offset + len(bounds)]
    low, high = words[:, 0], words[:, 1]
    known = bounds.is_valid().to_numpy(zero_copy_only=False)
    # The extremes themselves are left out, for they stand for unknown.
    fits = (high == low >> 63) & (low != MIN) & (low != MAX)
    if (fits | ~known).all():
        return np.where(known, low, unknown)
    numbers = np.empty(len(bounds), dtype=object)
    numbers[:] = [
        (int(h) << 64) + int(u) if k else math.copysign(math.inf, unknown)
        for h, u, k in zip(high.tolist(), low.view(np.uint64).tolist(), known.tolist(), strict=True)
    ]
    return numbers


def _text_keys(bounds: pa.Array, *, upper: bool) -> npt.NDArray[np.uint64]:
    """The first eight bytes of each text as a number; a shorter text is padded with zeros.

    Then ``a < b`` gives ``key(a) <= key(b)``, and so ``key(a) < key(b)`` gives ``a < b``.
    """
    texts = bounds.cast(pa.large_binary()).fill_null(b"")
    _, ends, data = texts.buffers()
    offsets = np.frombuffer(ends, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    start, length = offsets[:-1], np.diff(offsets)
    chars = np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)
    keys = np.zeros(len(texts), np.uint64)
    for index in range(_KEY_BYTES):
        at = np.minimum(start + index, len(chars) - 1)
        keys = (keys << np.uint64(8)) | np.where(length > index, chars[at], 0).astype(np.uint64)
    if upper and bounds.null_count:
        keys[bounds.is_null().to_numpy(zero_copy_only=False)] = np.iinfo(np.uint64).max
    return keys


def below(left: BoundArray, key: Key) -> Mask:
    """Where the bound is known to be smaller than ``key``."""
    if left is None:
        return False
    if isinstance(left, TextBounds):
        return _text_compare(left, key, smaller=True)
    if left.dtype == np.int64:
        assert isinstance(key, int)
        return False if key <= MIN else left < min(key, MAX)
    return np.asarray(left < key, dtype=np.bool_)


def at_least(left: BoundArray, key: Key) -> Mask:
    """Where the bound is known to be ``key`` or greater."""
    if left is None:
        return False
    if isinstance(left, TextBounds):
        return _text_compare(left, key, smaller=False)
    if left.dtype == np.int64:
        assert isinstance(key, int)
        return False if key > MAX else left >= max(key, MIN + 1)
    return np.asarray(left >= key, dtype=np.bool_)


def _text_compare(left: TextBounds, key: Key, *, smaller: bool) -> Mask:
    compare = pc.less if smaller else pc.greater_equal
    scalar = pa.scalar(key, left.stored.type)
    if left.keys is None:
        return _flags(compare(left.texts, scalar))
    assert isinstance(key, (str, bytes))
    encoded = key.encode() if isinstance(key, str) else key
    number = np.uint64(int.from_bytes(encoded[:_KEY_BYTES].ljust(_KEY_BYTES, b"\0"), "big"))
    known: Flags = left.keys < number if smaller else left.keys > number
    if len(doubtful := np.flatnonzero(left.keys == number)):
        known[doubtful] = _flags(compare(left.some(doubtful), scalar))
    return known


def less(left: BoundArray, right: BoundArray, *, or_equal: bool = False) -> Mask:
    """Where, block by block, the left bound is known to be smaller than the right one."""
    if left is None or right is None:
        return False
    if isinstance(left, TextBounds) and isinstance(right, TextBounds):
        return _flags((pc.less_equal if or_equal else pc.less)(left.texts, right.texts))
    assert isinstance(left, np.ndarray)
    assert isinstance(right, np.ndarray)
    known: Flags = np.asarray(left <= right if or_equal else left < right, dtype=np.bool_)
    if left.dtype == right.dtype:
        return known
    # Python integers reach beyond int64, where the numbers that stand for unknown are ordinary.
    narrow = right if left.dtype == object else left
    return np.asarray(known & (narrow != MIN) & (narrow != MAX), dtype=np.bool_)


def alike(low: Numbers, high: Numbers) -> tuple[Numbers, Numbers]:
    """Both as numbers of one kind, in which unknown is still beyond all others."""
    if low.dtype == high.dtype:
        return low, high
    return _unlimited(low), _unlimited(high)


def _unlimited(numbers: Numbers) -> Numbers:
    if numbers.dtype == object:
        return numbers
    out = numbers.astype(object)
    out[numbers == MIN], out[numbers == MAX] = -math.inf, math.inf
    return out


def _flags(answer: pa.Array | pa.Scalar) -> Mask:
    if isinstance(answer, pa.Scalar):
        return bool(answer.as_py())
    known = answer.fill_null(False) if answer.null_count else answer
    flags: Flags = known.to_numpy(zero_copy_only=False)
    return flags


def take(some: BoundArray, index: npt.NDArray[np.intp]) -> BoundArray:
    """The bounds of some of the blocks."""
    if isinstance(some, TextBounds):
        if isinstance(some.stored, pa.Scalar):
            return some
        keys = None if some.keys is None else some.keys[index]
        return TextBounds(some.stored, keys, index if some.index is None else some.index[index])
    return some if some is None or some.ndim == 0 else some[index]
