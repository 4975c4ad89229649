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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from skipstone.catalog.tracked import Tracked
from skipstone.predicate.expr import Expr, Value
from skipstone.predicate.types import Kind, Type
from skipstone.pruning.blocks import MOST_VALUES, SET_KINDS, ValueSets
from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.engine.stored_bounds import canonical_values

__all__ = ["Dictionary", "find_dictionaries", "value_sets"]

_LONGEST = 128
_OTHER = 62
_ROWS = 2_000
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
        for index, number in enumerate(self.slots):
            values[number] = _literal(self.type, self.values[index])
            bits[number] = f"{1 << index}L"
        slot = f"(shiftright(hash({value}), {self.shift}) & {size - 1})"
        expected = f"array({', '.join(values)})[{slot}]"
        other = f"CASE WHEN {expected} = {value} OR {value} IS NULL THEN 0L ELSE {1 << _OTHER}L END"
        return f"array({', '.join(bits)})[{slot}] | {other}"

    def complete(self, words: pa.Array) -> npt.NDArray[np.bool_]:
        """The blocks whose values are all in the dictionary."""
        present: npt.NDArray[np.int64] = words.fill_null(0).to_numpy(zero_copy_only=False)
        complete: npt.NDArray[np.bool_] = (present >> _OTHER) & 1 == 0
        return complete


def find_dictionaries(
    sampled: DataFrame,
    table: OpenTable,
    tracked: Sequence[Tracked],
    texts: Sequence[str],
    known: Mapping[Expr, Sequence[Value]],
) -> dict[int, Dictionary]:
    """Dictionaries of what is tracked and shows few values: known ones and those in some sampled rows.

    The first rows of the sampled files are looked at. ``texts`` is the SQL of what is tracked.
    """
    candidates = {index: item for index, item in enumerate(tracked) if item.type.kind in SET_KINDS}
    if not candidates:
        return {}
    spark = sampled.sparkSession
    columns = [sql for index, item in candidates.items() for sql in _sampled(index, item, texts[index])]
    sample = table.first_rows(spark, sampled.selectExpr(*columns), _ROWS).toArrow()
    hashes = _hashes(
        spark, {index: (item.type, known.get(item.expr, ())) for index, item in candidates.items()}
    )
    found = {}
    for index, item in candidates.items():
        rows = pa.table({"value": sample[f"value{index}"], "hash": sample[f"hash{index}"]})
        dictionary = _dictionary(item.type, rows, known.get(item.expr, ()), hashes.get(index, ()))
        if dictionary is not None:
            found[index] = dictionary
    return found


def _sampled(index: int, item: Tracked, value: str) -> tuple[str, str]:
    # As bytes, for a string may be no valid UTF-8.
    plain = f"CAST({value} AS BINARY)" if item.type.kind is Kind.STRING else value
    return f"{plain} AS value{index}", f"hash({value}) AS hash{index}"


def _hashes(
    spark: SparkSession, known: Mapping[int, tuple[Type, Sequence[Value]]]
) -> dict[int, tuple[int, ...]]:
    """Spark's hashes of known values. The optimizer computes them all; no job runs."""
    lists = {
        index: f"array({', '.join(f'hash({_literal(type_, value)})' for value in values)}) AS hash{index}"
        for index, (type_, values) in known.items()
        if values
    }
    if not lists:
        return {}
    row = spark.sql(f"SELECT {', '.join(lists.values())}").first()
    assert row is not None
    return {index: tuple(row[f"hash{index}"]) for index in lists}


def _literal(type_: Type, value: Value) -> str:
    if type_.kind is Kind.DATE:
        return f"date_from_unix_date({value})"
    if isinstance(value, str):
        # Text in quotes would be read by the session's rules for escapes.
        return f"CAST(X'{value.encode().hex()}' AS STRING)"
    return f"CAST({value}L AS {type_.text})"


def _dictionary(
    type_: Type, rows: pa.Table, known: Sequence[Value], hashes: Sequence[int]
) -> Dictionary | None:
    distinct = rows.group_by(["value", "hash"]).aggregate([]).filter(pc.is_valid(pc.field("value")))
    if len(distinct) > MOST_VALUES or (not known and len(distinct) * 4 > len(rows)):
        return None
    sampled = canonical_values(distinct["value"].combine_chunks(), type_)
    hash_of = dict(zip(known, hashes, strict=True)) | dict(
        zip(sampled, distinct["hash"].to_pylist(), strict=True)
    )
    if any(value is None or (isinstance(value, str) and len(value) > _LONGEST) for value in hash_of):
        return None
    if not 0 < len(hash_of) <= MOST_VALUES:
        return None
    values = tuple(sorted(hash_of))
    table = _table(np.array([hash_of[value] for value in values], np.int32))
    return None if table is None else Dictionary(type_, values, *table)


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
