"""Exact statistics of small files, for every type and for the values that go wrong elsewhere."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.opened import opened

from skipstone.api import table
from skipstone.catalog.tracked import TrackedSet
from skipstone.predicate.expr import Column, Expr, Value
from skipstone.pruning.blocks import BlockSet, Statistics
from skipstone.spark.engine.job_settings import PER_FILE
from skipstone.spark.engine.resolve_tracked import tracked_columns, tracked_expressions, tracked_features
from skipstone.spark.engine.statistics import compute

pytestmark = pytest.mark.usefixtures("usual_plans")

EPOCH = dt.date(1970, 1, 1)


def blocks_of(
    spark: SparkSession,
    folder: Path,
    files: Sequence[pa.Table],
    expressions: Sequence[str] = (),
    features: Sequence[str] = (),
    *,
    known: Mapping[str, Sequence[Value]] = {},
) -> BlockSet:
    folder.mkdir(exist_ok=True)
    for index, rows in enumerate(files):
        pq.write_table(rows, folder / f"part-{index:03d}.parquet", store_schema=False)
    found = opened(table(spark, str(folder)))
    order = np.argsort(found.files.paths)
    kept = tracked_columns(found.snapshot.schema) + tracked_expressions(found, expressions)
    values = {item.expr: known[item.sql.strip("`")] for item in kept if item.sql.strip("`") in known}
    return compute(found, order, TrackedSet(kept, tracked_features(found, features)), values)


def column(blocks: BlockSet, name: str) -> Statistics:
    return next(s for key, s in blocks.statistics.items() if isinstance(key, Column) and key.path == (name,))


def computed(blocks: BlockSet) -> Statistics:
    return next(s for key, s in blocks.statistics.items() if not isinstance(key, Column))


def bounds(statistics: Statistics) -> list[tuple[object, object]]:
    return list(zip(statistics.low.to_pylist(), statistics.high.to_pylist(), strict=True))


def value_set(statistics: Statistics, block: int) -> set[object] | None:
    values = statistics.values
    assert values is not None
    if not values.known[block]:
        return None
    word = int(values.words[block, 0])
    return {value for index, value in enumerate(values.dictionary) if word >> index & 1}


UTC = dt.UTC
CASES: dict[str, tuple[pa.DataType, list[object], tuple[object, object]]] = {
    "boolean": (pa.bool_(), [True, None, False], (False, True)),
    "byte": (pa.int8(), [-128, None, 127], (-128, 127)),
    "short": (pa.int16(), [-5, 300, None], (-5, 300)),
    "int": (pa.int32(), [-(2**31), None, 2**31 - 1], (-(2**31), 2**31 - 1)),
    "long": (pa.int64(), [-(2**63), None, 2**63 - 1], (-(2**63), 2**63 - 1)),
    "float": (pa.float32(), [1.5, -2.5, None], (-2.5, 1.5)),
    "double": (pa.float64(), [math.inf, None, -math.inf], (-math.inf, math.inf)),
    "decimal": (
        pa.decimal128(9, 2),
        [Decimal("-1.50"), None, Decimal("2.25")],
        (Decimal("-1.50"), Decimal("2.25")),
    ),
    "wide decimal": (
        pa.decimal128(38, 10),
        [Decimal("-1234567890123456789012345678.0000000001"), None, Decimal("0.0000000001")],
        (Decimal("-1234567890123456789012345678.0000000001"), Decimal("0.0000000001")),
    ),
    "date before 1582": (
        pa.date32(),
        [dt.date(1, 1, 1), None, dt.date(1582, 10, 4)],
        ((dt.date(1, 1, 1) - EPOCH).days, (dt.date(1582, 10, 4) - EPOCH).days),
    ),
    "timestamp": (
        pa.timestamp("us", tz="UTC"),
        [dt.datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC), None, dt.datetime(1970, 1, 1, 0, 0, 0, 1, UTC)],
        (-1, 1),
    ),
    "timestamp without zone": (
        pa.timestamp("us"),
        [dt.datetime(1970, 1, 1, 0, 0, 0, 5), None, dt.datetime(1969, 12, 31, 23, 59, 59, 999_998)],
        (-2, 5),
    ),
    "string": (pa.string(), ["b", None, "a\0", "a"], ("a", "b")),
    "string in UTF-8 order": (pa.string(), ["\uffff", "😀", None], ("\uffff", "😀")),
    "empty string": (pa.string(), ["", None, ""], ("", "")),
    "binary": (pa.binary(), [b"\x80", None, b"\x7f", b""], (b"", b"\x80")),
}


@pytest.fixture(scope="module")
def every_type(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> BlockSet:
    """One file with the values, one with NULLs only, one without rows."""
    longest = max(len(values) for _, values, _ in CASES.values())
    schema = pa.schema([(name.replace(" ", "_"), type_) for name, (type_, _, _) in CASES.items()])
    padded = [values + [None] * (longest - len(values)) for _, values, _ in CASES.values()]
    full = pa.table([pa.array(v, f.type) for v, f in zip(padded, schema, strict=True)], schema=schema)
    nulls = pa.table([pa.nulls(3, f.type) for f in schema], schema=schema)
    return blocks_of(spark, tmp_path_factory.mktemp("types") / "t", [full, nulls, schema.empty_table()])


@pytest.mark.parametrize("name", CASES)
def test_bounds_and_null_counts_are_exact(every_type: BlockSet, name: str) -> None:
    _, values, expected = CASES[name]
    found = column(every_type, name.replace(" ", "_"))
    assert bounds(found) == [expected, (None, None), (None, None)]
    missing = int(every_type.rows[0]) - sum(value is not None for value in values)
    assert found.nulls.tolist() == [missing, 3, 0]
    assert found.nans.tolist() == [0, 0, 0]


def test_rows_are_counted_in_the_order_of_the_chosen_files(every_type: BlockSet) -> None:
    assert every_type.rows.tolist() == [4, 3, 0]


@pytest.mark.parametrize("type_", [pa.float32(), pa.float64()])
def test_nans_are_counted_and_stay_out_of_the_bounds(
    spark: SparkSession, tmp_path: Path, type_: pa.DataType
) -> None:
    files = [
        pa.table({"x": pa.array(values, type_)})
        for values in ([math.nan, 1.0, None], [math.nan, math.nan, None], [-0.0, 0.0, math.nan])
    ]
    found = column(blocks_of(spark, tmp_path / "t", files), "x")
    assert bounds(found) == [(1.0, 1.0), (None, None), (0.0, 0.0)]
    assert found.nans.tolist() == [1, 2, 1]
    assert found.nulls.tolist() == [1, 1, 0]


def test_long_strings_have_shortened_bounds_that_contain_them(spark: SparkSession, tmp_path: Path) -> None:
    lengths = (62, 63, 64, 65, 66, 67, 87, 88, 89, 131, 132, 133, 263, 264, 265, 1500)
    texts = ["a" * odd + c * length for c in "xé€😀\U0010ffff" for length in lengths for odd in (0, 1, 2, 3)]
    texts = [text for text in texts if text[0] != "\U0010ffff"]
    rows = pa.table({"s": texts, "file": list(range(len(texts)))})
    found = column(blocks_of(spark, tmp_path / "t", [rows.slice(i, 1) for i in range(len(texts))]), "s")
    for text, (low, high) in zip(texts, bounds(found), strict=True):
        assert isinstance(low, str)
        assert low == text[:64]
        assert isinstance(high, str)
        assert high.encode() >= text.encode()
        assert len(high) <= 64


def test_a_string_that_cannot_be_raised_has_no_upper_bound(spark: SparkSession, tmp_path: Path) -> None:
    rows = pa.table({"s": ["\U0010ffff" * 300]})
    found = column(blocks_of(spark, tmp_path / "t", [rows]), "s")
    assert bounds(found) == [("\U0010ffff" * 64, None)]


def test_binaries_are_shortened_by_bytes(spark: SparkSession, tmp_path: Path) -> None:
    value = b"\x01" * 300
    rows = pa.table({"b": pa.array([value], pa.binary())})
    ((low, high),) = bounds(column(blocks_of(spark, tmp_path / "t", [rows]), "b"))
    assert low == value[:64]
    assert isinstance(high, bytes)
    assert value < high


def test_a_string_that_fills_the_readers_whole_buffer_is_still_remembered(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Bounds must be copies: the reader's buffer is overwritten by the next batch."""
    rows = ["a" * 16_384] + [f"m{index}" for index in range(9_000)] + ["z" * 16_384] + ["n"] * 9_000
    path = tmp_path / "t"
    path.mkdir()
    pq.write_table(pa.table({"s": rows}), path / "part-000.parquet", use_dictionary=False)
    found = opened(table(spark, str(path)))
    blocks = compute(found, np.arange(1), TrackedSet(tracked_columns(found.snapshot.schema)))
    assert bounds(column(blocks, "s")) == [("a" * 64, "z" * 63 + "{")]


def test_invalid_utf8_gives_no_bound(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t"
    values = ", ".join(f"cast(X'{text}' AS string)" for text in ("FF", "61"))
    spark.sql(f"SELECT explode(array({values})) AS s").coalesce(1).write.parquet(str(path))
    found = opened(table(spark, str(path)))
    blocks = compute(found, np.arange(1), TrackedSet(tracked_columns(found.snapshot.schema)))
    assert bounds(column(blocks, "s")) == [("a", None)]


@pytest.mark.parametrize(
    ("values", "outsider"),
    [
        (["RAIL", "SHIP", "o'neil \\n %", ""], "TRUCK"),
        ([-3, 0, 7], 8),
        ([dt.date(1400, 2, 28), dt.date(1999, 1, 1)], dt.date(2000, 1, 1)),
        ([f"value {i}" for i in range(40)], "value 40"),
    ],
)
def test_value_sets_are_exact_and_unknown_where_a_value_is_not_in_the_dictionary(
    spark: SparkSession, tmp_path: Path, values: list[Any], outsider: Any
) -> None:
    many = [*values, None] * 60
    files = [
        pa.table({"v": many}),
        pa.table({"v": [values[0], None] * 99}),
        pa.table({"v": pa.nulls(9, pa.array(many).type)}),
    ]
    # Sampled are the first rows of three of the files; this one has its odd value further behind.
    files += [pa.table({"v": many * 20 + [outsider]}), pa.table({"v": [values[-1]] * 9})]
    found = column(blocks_of(spark, tmp_path / "t", files), "v")
    whole = {(v - EPOCH).days if isinstance(v, dt.date) else v for v in values}
    one = [(v - EPOCH).days if isinstance(v, dt.date) else v for v in (values[0], values[-1], outsider)]
    assert value_set(found, 0) == whole
    assert value_set(found, 1) == {one[0]}
    assert value_set(found, 2) == set()
    assert value_set(found, 3) is None
    assert value_set(found, 4) == {one[1]}
    low, high = min(whole), max(whole)
    assert bounds(found) == [
        (low, high),
        (one[0], one[0]),
        (None, None),
        (min(low, one[2]), max(high, one[2])),
        (one[1], one[1]),
    ]


def test_a_column_of_many_values_has_no_value_set(spark: SparkSession, tmp_path: Path) -> None:
    blocks = blocks_of(spark, tmp_path / "t", [pa.table({"s": [str(i) for i in range(500)] * 9})])
    assert column(blocks, "s").values is None


def test_kept_expressions_have_statistics_and_a_failing_row_counts_as_null(
    spark: SparkSession, tmp_path: Path
) -> None:
    spark.conf.set("spark.sql.ansi.enabled", "true")
    blocks = blocks_of(spark, tmp_path / "t", [pa.table({"s": ["4", "x", "-2", None]})], ["cast(s AS int)"])
    found = computed(blocks)
    assert bounds(found) == [(-2, 4)]
    assert found.nulls.tolist() == [2]


def test_union_vectors_have_a_bit_per_feature_beyond_one_word(spark: SparkSession, tmp_path: Path) -> None:
    files = [pa.table({"x": [1, 2, None]}), pa.table({"x": [100, 129]})]
    blocks = blocks_of(spark, tmp_path / "t", files, features=[f"x = {value}" for value in range(130)])
    bits = np.unpackbits(blocks.unions.view(np.uint8), axis=1, bitorder="little")
    assert [np.flatnonzero(row).tolist() for row in bits] == [[1, 2], [100, 129]]
    known = np.unpackbits(blocks.union_known.view(np.uint8), axis=1, bitorder="little")
    assert known.sum(axis=1).tolist() == [130, 130]


def test_a_feature_that_is_the_or_of_others_has_the_union_of_their_bits(
    spark: SparkSession, tmp_path: Path
) -> None:
    files = [pa.table({"x": values, "s": ["ab"]}) for values in ([1], [50], [95], [None])]
    either = "x < 5 OR x > 90"
    parts = ["x < 5", "x > 90", "s LIKE '%b%' OR x > 90", either, "x < 5 OR x = 50"]
    blocks = blocks_of(spark, tmp_path / "t", files, features=parts)
    assert blocks.unions[:, 0].tolist() == [0b11101, 0b10100, 0b01110, 0b00100]
    alone = blocks_of(spark, tmp_path / "u", files, features=[either])
    assert alone.unions[:, 0].tolist() == [1, 0, 1, 0]


def test_a_feature_that_fails_on_a_row_is_taken_to_hold(spark: SparkSession, tmp_path: Path) -> None:
    spark.conf.set("spark.sql.ansi.enabled", "true")
    files = [pa.table({"s": ["1", "x"]}), pa.table({"s": ["1", None]})]
    blocks = blocks_of(spark, tmp_path / "t", files, features=["cast(s AS int) = 7"])
    assert blocks.unions[:, 0].tolist() == [1, 0]


@pytest.mark.parametrize("expressions", [[], ["cast(s AS int)"], ["cast(s AS int)", "cast(s AS int) + 1"]])
def test_what_guarded_expressions_share_fails_inside_their_guards(
    spark: SparkSession, tmp_path: Path, expressions: list[str]
) -> None:
    spark.conf.set("spark.sql.ansi.enabled", "true")
    files = [pa.table({"s": ["1", "x"]}), pa.table({"s": ["7", None]})]
    features = ["cast(s AS int) = 7", "cast(s AS int) < 0", "cast(s AS int) + 1 = 8"]
    features.append(" OR ".join(features[:2]))
    blocks = blocks_of(spark, tmp_path / "t", files, expressions, features)
    assert blocks.unions[:, 0].tolist() == [0b1111, 0b1101]
    for key, found in blocks.statistics.items():
        if not isinstance(key, Column):
            assert found.nulls.tolist() == [1, 1]


def test_own_columns_named_like_the_helpers_are_not_mixed_up(spark: SparkSession, tmp_path: Path) -> None:
    rows = pa.table({"_skipstone0": [5, 6], "_SKIPSTONE_0": [7, 8]})
    blocks = blocks_of(spark, tmp_path / "t", [rows], ["_skipstone0 + 100"], ["_skipstone0 = 5"])
    assert bounds(column(blocks, "_skipstone0")) == [(5, 6)]
    assert bounds(column(blocks, "_SKIPSTONE_0")) == [(7, 8)]
    assert bounds(computed(blocks)) == [(105, 106)]


def test_more_columns_than_fit_one_job_and_more_files_than_tasks(spark: SparkSession, tmp_path: Path) -> None:
    files = [pa.table({f"c{i}": [index * 1000 + i] * 3 for i in range(90)}) for index in range(30)]
    blocks = blocks_of(spark, tmp_path / "t", files)
    assert blocks.rows.tolist() == [3] * 30
    for i in (0, 39, 40, 89):
        assert bounds(column(blocks, f"c{i}")) == [(index * 1000 + i,) * 2 for index in range(30)]


def test_statistics_are_the_same_without_generated_code(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [
        pa.table({"s": [f"text {i}" for i in range(index, 300)], "n": list(range(index, 300))})
        for index in (0, 7)
    ]
    fast = blocks_of(spark, tmp_path / "t", files)
    monkeypatch.setitem(PER_FILE, "spark.sql.codegen.wholeStage", "false")
    slow = blocks_of(spark, tmp_path / "t", files)
    key: Expr
    for key in fast.statistics:
        assert bounds(fast.statistics[key]) == bounds(slow.statistics[key])


def test_known_values_complete_the_sets_of_files_that_a_sample_misses(
    spark: SparkSession, tmp_path: Path
) -> None:
    days = [dt.date(2000, 1, 1) + dt.timedelta(index) for index in range(30)]
    # As the files of a layout are: each has one value only, so some files cannot show them all.
    files = [pa.table({"s": [str(day)] * 9, "d": [day] * 9}) for day in days]
    known = {"s": tuple(map(str, days)), "d": tuple((day - EPOCH).days for day in days)}
    alone = blocks_of(spark, tmp_path / "t", files)
    helped = blocks_of(spark, tmp_path / "t", files, known=known)
    for name, values in known.items():
        sets = column(alone, name).values
        assert sets is None or not sets.known.all()
        assert [value_set(column(helped, name), index) for index in range(30)] == [{v} for v in values]
        assert bounds(column(helped, name)) == bounds(column(alone, name)) == [(v, v) for v in values]
