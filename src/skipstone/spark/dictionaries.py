"""Small value sets: which columns have few values, and each block's set as bits of one word.

The dictionary comes from a sample and need not be complete: the last bit says that a block has a value
outside of it, and then nothing is concluded from that block's set.

A row's bit is found without a branch per value. Some bits of Spark's ``hash`` number the slots of a small
table, chosen such that the sampled values, and NULL, all fall into different slots. The slot gives the
bit; the value that the slot is for is compared with the row's, and any other value sets the last bit.

Example: ``x`` and ``y`` with hashes ending in 01 and 10 (NULL's always ends in 101010, so in 10 as well)
need the last three bits, if these are 001, 110 and 010.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from skipstone.predicate.blocks import ValueSets
from skipstone.predicate.expr import Value
from skipstone.predicate.types import Kind, Type
from skipstone.spark.kept import Kept
from skipstone.spark.stored_bounds import canonical_values
from skipstone.spark.table_files import TableFiles

__all__ = ["Dictionary", "find_dictionaries", "value_sets"]

_MOST_VALUES = 40
_LONGEST = 128
_OTHER = 62
_ROWS = 2_000
_KINDS = (Kind.STRING, Kind.BYTE, Kind.SHORT, Kind.INT, Kind.LONG, Kind.DATE)
_HASH_OF_NULL = 42
_WIDEST_TABLE = 11


@dataclass(frozen=True, slots=True)
class Dictionary:
    """The values of a column in a sample, and the slot of each: bits of its hash from ``shift`` on."""

    type: Type
    values: tuple[Value, ...]
    slots: tuple[int, ...]
    shift: int
    width: int

    def bits(self, value: str) -> str:
        """SQL for the bit of a row's value; none for NULL, the last one for a value that is not here."""
        size = 1 << self.width
        values, bits = [f"CAST(NULL AS {self.type.text})"] * size, ["0L"] * size
        for place, number in enumerate(self.slots):
            values[number] = self._literal(self.values[place])
            bits[number] = f"{1 << place}L"
        slot = f"(shiftright(hash({value}), {self.shift}) & {size - 1})"
        expected = f"array({', '.join(values)})[{slot}]"
        other = f"CASE WHEN {expected} = {value} OR {value} IS NULL THEN 0L ELSE {1 << _OTHER}L END"
        return f"array({', '.join(bits)})[{slot}] | {other}"

    def _literal(self, value: Value) -> str:
        if self.type.kind is Kind.DATE:
            return f"date_from_unix_date({value})"
        if isinstance(value, str):
            # Text in quotes would be read by the session's rules for escapes.
            return f"CAST(X'{value.encode().hex()}' AS STRING)"
        return f"CAST({value}L AS {self.type.text})"

    def complete(self, words: pa.Array) -> npt.NDArray[np.bool_]:
        """The blocks whose values are all in the dictionary."""
        present: npt.NDArray[np.int64] = words.fill_null(0).to_numpy(zero_copy_only=False)
        complete: npt.NDArray[np.bool_] = (present >> _OTHER) & 1 == 0
        return complete


def find_dictionaries(
    sampled: DataFrame, files: TableFiles, kept: Sequence[Kept], values: Sequence[str]
) -> dict[int, Dictionary]:
    """Dictionaries of the kept columns that show few values in the first rows of the sampled files.

    ``values`` is the SQL of what is kept.
    """
    candidates = {place: item for place, item in enumerate(kept) if item.type.kind in _KINDS}
    if not candidates:
        return {}
    columns = [sql for place, item in candidates.items() for sql in _sampled(place, item, values[place])]
    sample = files.first_rows(sampled.sparkSession, sampled.selectExpr(*columns), _ROWS).toArrow()
    found = {
        place: _dictionary(item.type, sample[f"value{place}"], sample[f"hash{place}"])
        for place, item in candidates.items()
    }
    return {place: dictionary for place, dictionary in found.items() if dictionary is not None}


def _sampled(place: int, item: Kept, value: str) -> tuple[str, str]:
    # As bytes, for a string may be no valid UTF-8.
    plain = f"CAST({value} AS BINARY)" if item.type.kind is Kind.STRING else value
    return f"{plain} AS value{place}", f"hash({value}) AS hash{place}"


def _dictionary(type_: Type, column: pa.ChunkedArray, hashes: pa.ChunkedArray) -> Dictionary | None:
    distinct = pa.table({"value": column, "hash": hashes}).group_by(["value", "hash"]).aggregate([])
    distinct = distinct.filter(pc.is_valid(distinct["value"]))
    if not 0 < len(distinct) <= _MOST_VALUES or len(distinct) * 4 > len(column):
        return None
    distinct = distinct.sort_by("value").combine_chunks()
    values = canonical_values(_flat(distinct["value"]), type_)
    if any(value is None or (isinstance(value, str) and len(value) > _LONGEST) for value in values):
        return None
    table = _table(distinct["hash"].to_numpy())
    return None if table is None else Dictionary(type_, values, *table)


def _flat(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def _table(hashes: npt.NDArray[np.int32]) -> tuple[tuple[int, ...], int, int] | None:
    """Slots of the hashes, first bit and number of bits such that no two share a slot, nor one NULL's."""
    all_ = np.append(hashes, np.int32(_HASH_OF_NULL))
    for width in range(len(hashes).bit_length(), _WIDEST_TABLE + 1):
        for shift in range(32 - width):
            slots = (all_ >> np.int32(shift)) & np.int32((1 << width) - 1)
            if len(np.unique(slots)) == len(slots):
                return tuple(int(slot) for slot in slots[:-1]), shift, width
    return None


def value_sets(dictionary: Dictionary, words: pa.Array) -> ValueSets:
    """The sets of all blocks from the OR-ed bits of their rows."""
    known = dictionary.complete(words)
    present: npt.NDArray[np.int64] = words.fill_null(0).to_numpy(zero_copy_only=False)
    bits = present.astype(np.uint64) & np.uint64((1 << len(dictionary.values)) - 1)
    return ValueSets(dictionary.values, bits.reshape(-1, 1), known)
