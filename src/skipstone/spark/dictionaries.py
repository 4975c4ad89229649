"""Small value sets: which columns have few values, and each block's set as bits of one word.

The dictionary comes from a sample and need not be complete: the last bit says that a block has a value
outside of it, and then nothing is concluded from that block's set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column as SparkColumn
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from skipstone.predicate.blocks import Counts, ValueSets
from skipstone.predicate.expr import Value
from skipstone.predicate.types import Kind, Type
from skipstone.spark.kept import Kept
from skipstone.spark.stored_bounds import canonical_values
from skipstone.spark.table_files import TableFiles

__all__ = ["Dictionary", "find_dictionaries", "value_sets"]

_MOST_VALUES = 40
_OTHER = 62
_FILES = 6
_ROWS = 2_000
_KINDS = (Kind.STRING, Kind.BYTE, Kind.SHORT, Kind.INT, Kind.LONG, Kind.DATE)


@dataclass(frozen=True, slots=True)
class Dictionary:
    """The values of a column in a sample, most frequent first, canonical and as Spark literals."""

    type: Type
    values: tuple[Value, ...]

    def position_bit(self, column: SparkColumn) -> SparkColumn:
        """The bit of a row's value; none for NULL, the last one for a value that is not here."""
        bit = F.when(column.isNull(), _long(0))
        for place, value in enumerate(self.values):
            bit = bit.when(column == self._literal(value), _long(1 << place))
        return bit.otherwise(_long(1 << _OTHER))

    def _literal(self, value: Value) -> SparkColumn:
        if self.type.kind is Kind.DATE:
            return F.date_from_unix_date(F.lit(value))
        return F.lit(value).cast(self.type.text)

    def complete(self, words: pa.Array) -> npt.NDArray[np.bool_]:
        """The blocks whose values are all in the dictionary."""
        present: npt.NDArray[np.int64] = words.fill_null(0).to_numpy(zero_copy_only=False)
        complete: npt.NDArray[np.bool_] = (present >> _OTHER) & 1 == 0
        return complete


def _long(value: int) -> SparkColumn:
    return F.lit(value).cast("bigint")


def find_dictionaries(
    spark: SparkSession, files: TableFiles, chosen: Counts, kept: Sequence[Kept]
) -> dict[int, Dictionary]:
    """Dictionaries of the kept columns that show few values in the first rows of some files."""
    candidates = {place: item for place, item in enumerate(kept) if item.type.kind in _KINDS}
    if not candidates or not len(chosen):
        return {}
    some = np.unique(np.linspace(0, len(chosen) - 1, _FILES).astype(np.int64))
    columns = [_sampled(files, item).alias(f"v{place}") for place, item in candidates.items()]
    pieces = [files.frame(spark, chosen[[i]]).select(*columns).limit(_ROWS).toArrow() for i in some]
    sample = pa.concat_tables(pieces)
    found = {place: _dictionary(item.type, sample[f"v{place}"]) for place, item in candidates.items()}
    return {place: dictionary for place, dictionary in found.items() if dictionary is not None}


def _sampled(files: TableFiles, item: Kept) -> SparkColumn:
    value = SparkColumn(files.opener.guarded(F.expr(item.sql)._jc))
    return value.cast("binary") if item.type.kind is Kind.STRING else value


def _dictionary(type_: Type, column: pa.ChunkedArray) -> Dictionary | None:
    counted = pc.value_counts(column.drop_null().combine_chunks())
    if not 0 < len(counted) <= _MOST_VALUES or len(counted) * 4 > len(column):
        return None
    order = pc.array_sort_indices(counted.field("counts"), order="descending")
    values = canonical_values(counted.field("values").take(order), type_)
    if any(value is None or (isinstance(value, str) and len(value) > 128) for value in values):
        return None
    return Dictionary(type_, values)


def value_sets(dictionary: Dictionary, words: pa.Array) -> ValueSets:
    """The sets of all blocks from the OR-ed bits of their rows."""
    known = dictionary.complete(words)
    present: npt.NDArray[np.int64] = words.fill_null(0).to_numpy(zero_copy_only=False)
    bits = present.astype(np.uint64) & np.uint64((1 << len(dictionary.values)) - 1)
    return ValueSets(dictionary.values, bits.reshape(-1, 1), known)
