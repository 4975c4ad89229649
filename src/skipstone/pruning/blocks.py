"""What is known about the blocks of a table, in memory, one array entry per block.

Unknown is explicit everywhere: a null bound, a count of -1, a cleared ``known`` flag. Unknown never
skips a block. Bounds cover the values that are neither NULL nor NaN; they may be loose, as those of
shortened strings are, but no value lies outside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skipstone.predicate.expr import Column, Expr, Value, columns_of, type_of
from skipstone.predicate.joined_column import joined_column_of
from skipstone.predicate.types import Kind, Type

__all__ = ["MOST_VALUES", "SET_KINDS", "BlockSet", "Counts", "Feature", "Statistics", "ValueSets", "Words"]

Counts = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
MOST_VALUES = 40
"""Value sets are made for columns and expressions with at most so many values, of these kinds."""
SET_KINDS = (Kind.STRING, Kind.BYTE, Kind.SHORT, Kind.INT, Kind.LONG, Kind.DATE)


@dataclass(frozen=True, slots=True, eq=False)
class ValueSets:
    """The exact set of non-null values of each block, as bits over one dictionary.

    The dictionary has at most 256 values, NaN may be one of them. Bit ``i`` of a block is bit
    ``i % 64`` of word ``i // 64``. ``words`` has shape (blocks, words); where ``known`` is false
    the words of that block mean nothing.

    With ``last`` the dictionary has ranges, from each value to the one in ``last``, both included: every
    value of the block lies in a range that has a bit. Ranges may overlap.
    """

    dictionary: tuple[Value, ...]
    words: Words
    known: npt.NDArray[np.bool_]
    last: tuple[Value, ...] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Statistics:
    """Statistics of one column or tracked expression over all blocks.

    ``low`` and ``high`` are Arrow arrays: bool for BOOLEAN, int64 for integral and temporal kinds,
    float64, decimal128(38, scale), string, binary. ``nans`` is 0 for types that are not floating.
    """

    type: Type
    low: pa.Array
    high: pa.Array
    nulls: Counts
    nans: Counts
    values: ValueSets | None = None


@dataclass(frozen=True, slots=True)
class Feature:
    """A normalised predicate that union vectors have a bit for; ``text`` is its SQL."""

    predicate: Expr
    text: str


@dataclass(frozen=True, eq=False)
class BlockSet:
    """All blocks of a table. Not slotted: what is derived from it is cached beside its fields.

    ``rows`` is -1 where unknown. ``statistics`` is keyed by normalised columns and tracked calls.
    ``unions`` holds the union vectors packed like value sets; a cleared bit in ``union_known``
    means that this feature was never evaluated on that block.
    """

    rows: Counts
    statistics: Mapping[Expr, Statistics]
    features: tuple[Feature, ...]
    unions: Words
    union_known: Words

    def __len__(self) -> int:
        return len(self.rows)

    @classmethod
    def of(cls, rows: Counts, statistics: Mapping[Expr, Statistics]) -> BlockSet:
        """Blocks without features."""
        empty: Words = np.zeros((len(rows), 0), np.uint64)
        return cls(rows, statistics, (), empty, empty)

    @cached_property
    def absent(self) -> Words:
        """Bit set: no row of the block has the feature. Shape (words, blocks), words contiguous."""
        return np.ascontiguousarray((self.union_known & ~self.unions).T)

    @cached_property
    def feature_columns(self) -> tuple[frozenset[Column], ...]:
        """The columns that each feature reads."""
        return tuple(columns_of(feature.predicate) for feature in self.features)

    @cached_property
    def feature_indices(self) -> Mapping[Column, tuple[int, ...]]:
        """The indices of the features that read a column."""
        found: dict[Column, list[int]] = {}
        for index, columns in enumerate(self.feature_columns):
            for column in columns:
                found.setdefault(column, []).append(index)
        return {column: tuple(indices) for column, indices in found.items()}

    @cached_property
    def paths(self) -> frozenset[tuple[str, ...]]:
        """The paths of the columns that have statistics, whatever their type."""
        return frozenset(key.path for key in self.statistics if isinstance(key, Column))

    @cached_property
    def value_keys(self) -> tuple[Expr, ...]:
        """The columns and tracked calls that have a value set for any block."""
        return tuple(
            key
            for key, statistics in self.statistics.items()
            if statistics.values is not None and statistics.values.known.any()
            if statistics.type == type_of(key)
        )

    @cached_property
    def value_set_indices(self) -> Mapping[frozenset[Column], tuple[int, ...]]:
        """The indices of the value sets by the columns that they are about."""
        found: dict[frozenset[Column], tuple[int, ...]] = {}
        for index, key in enumerate(self.value_keys):
            columns = columns_of(key)
            found[columns] = (*found.get(columns, ()), index)
        return found

    @cached_property
    def joined(self) -> Mapping[object, BlockSet]:
        """What is known of the rows of other tables that have the keys of a block's rows, by the join.

        How many these are is not known.
        """
        found: dict[object, dict[Expr, Statistics]] = {}
        for key, statistics in self.statistics.items():
            if (joined := joined_column_of(key)) is not None and statistics.values is not None:
                found.setdefault(joined.join, {})[joined.column] = statistics
        return {join: BlockSet.of(np.full(len(self), -1), known) for join, known in found.items()}

    @cached_property
    def has_empty(self) -> bool:
        """Whether any block is known to have no rows."""
        return bool((self.rows == 0).any())

    @cached_property
    def derived(self) -> dict[object, object]:
        """A cache for what readers of these blocks compute once and use for every query."""
        return {}
