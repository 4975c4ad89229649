"""Ranks of a column's values: the order of any type as small integers.

Quantiles, minima, maxima and value sets only need the order of values, so every column of a sample is
turned once into codes over its sorted distinct values. Strings, decimals and floats then cost as little as
integers do. Cost: one hash pass over the rows and one sort of the distinct values.

>>> ranked = rank(pa.array(["b", None, "a", "b"]))
>>> ranked.codes.tolist(), ranked.values
([1, -1, 0, 1], ('a', 'b'))
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from skipstone.predicate.evaluate import order_key
from skipstone.predicate.expr import Value

__all__ = ["NULL", "Codes", "Ranked", "rank", "rank_of"]

Codes = npt.NDArray[np.int32]
NULL = -1


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """``codes`` are indices in ``values``, -1 for NULL; ``values`` are sorted, NaN is the last.

    ``array`` holds the same values as an Arrow array.
    """

    codes: Codes
    array: pa.Array

    @property
    def values(self) -> tuple[Value, ...]:
        """The distinct values in order, in canonical form."""
        return tuple(self.array.to_pylist())

    @property
    def has_nan(self) -> bool:
        """Whether the last value is NaN."""
        if not len(self.array) or not pa.types.is_floating(self.array.type):
            return False
        return math.isnan(self.array[-1].as_py())


def rank(column: pa.Array) -> Ranked:
    """Codes of a column in one of the Arrow types of block statistics."""
    if pa.types.is_floating(column.type):
        # A sum with 0.0 makes -0.0 equal to 0.0; every NaN becomes the same one.
        column = pc.add(column, 0.0)
        column = pc.if_else(pc.is_nan(column), pa.scalar(math.nan, column.type), column)
    encoded = column.dictionary_encode()
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    new_code: Codes = np.empty(len(order) + 1, np.int32)
    new_code[order] = np.arange(len(order), dtype=np.int32)
    new_code[-1] = NULL
    codes = encoded.indices.fill_null(len(order)).to_numpy(zero_copy_only=False)
    return Ranked(new_code[codes], encoded.dictionary.take(pa.array(order)))


def rank_of(value: Value, values: pa.Array, above: bool = False) -> int:
    """How many of some sorted values are below this one; with ``above``, or equal to it.

    >>> rank_of("b", pa.array(["a", "b", "c"])), rank_of("b", pa.array(["a", "b", "c"]), above=True)
    (1, 2)
    """
    search = bisect_right if above else bisect_left
    return search(range(len(values)), order_key(value), key=lambda number: order_key(values[number].as_py()))
