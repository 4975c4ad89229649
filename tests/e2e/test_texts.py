"""Strings and bytes: prefixes, truncated bounds, the order of UTF-8, invalid UTF-8, collations, CHAR."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.e2e.checks import assert_reads_all, assert_same, assert_skips, indexed, settings, write_files

import skipstone

LAST = "\U0010ffff"
PRIVATE, EMOJI = "\ue000", "\U0001f600"  # in UTF-16, but not in UTF-8, the emoji comes first


@pytest.fixture(scope="module")
def texts(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> skipstone.Table:
    """Four files; each list has one entry per file, with the values of its rows."""
    path = tmp_path_factory.mktemp("texts") / "table"
    word = [["apple", "ape"], ["banana", "band"], ["b%nd", "b_nd"], ["zebra", ""]]
    long = [
        ["a" * 70 + "b", "a" * 63],
        ["é" * 64 + "x", "é" * 65],
        [LAST * 64 + "x", LAST * 70],
        ["m" * 2000, "m"],
    ]
    mixed = [["a", "b"], [PRIVATE, PRIVATE + "z"], [EMOJI, EMOJI + "z"], ["￿", "z"]]
    data = [[b"\x00", b"\x7f"], [b"\x80", b"\xff"], [b"", b"\xff" * 70], [b"\xff" * 64, b"\xff\x00"]]
    tables = [
        pa.table(
            {
                "part": [part] * 2,
                "word": word[part],
                "long": long[part],
                "mixed": mixed[part],
                "data": data[part],
            }
        )
        for part in range(4)
    ]
    write_files(path, tables)
    return indexed(spark, "texts", path, expressions=["lower(word)", "length(word)"])


def test_like_prefix_bounds(texts: skipstone.Table) -> None:
    assert_skips(texts, "SELECT word FROM texts WHERE word LIKE 'ban%'", rows=2)
    assert_skips(texts, "SELECT word FROM texts WHERE word LIKE 'ap_'", rows=1)
    assert_skips(texts, r"SELECT word FROM texts WHERE word LIKE 'b\\%nd'", rows=1)
    assert_skips(texts, "SELECT word FROM texts WHERE word LIKE 'b/_n%' ESCAPE '/'", rows=1)
    assert_same(texts.spark, "SELECT word FROM texts WHERE word LIKE '%nd'", rows=3)
    assert_same(texts.spark, "SELECT word FROM texts WHERE word NOT LIKE 'b%'", rows=4)
    assert_skips(texts, "SELECT word FROM texts WHERE startswith(word, 'z')", rows=1, read=1)
    assert_same(texts.spark, "SELECT word FROM texts WHERE word LIKE ''", rows=1)
    assert_skips(texts, "SELECT word FROM texts WHERE word RLIKE '^ze'", rows=1)
    assert_same(texts.spark, "SELECT word FROM texts WHERE word ILIKE 'BAN%'", rows=2)


def test_a_maximum_that_was_truncated_is_still_an_upper_bound(texts: skipstone.Table) -> None:
    for value in ("a" * 70 + "b", "é" * 64 + "x", "é" * 65, LAST * 64 + "x", LAST * 70, "m" * 2000):
        assert_skips(texts, f"SELECT part FROM texts WHERE long = '{value}'", rows=1)
        assert_same(texts.spark, f"SELECT part FROM texts WHERE long >= '{value}'")
        assert_same(texts.spark, f"SELECT part FROM texts WHERE long > '{value[:-1]}'")
    assert_skips(texts, f"SELECT part FROM texts WHERE long LIKE '{LAST * 3}%'", rows=2, read=1)
    assert_skips(texts, f"SELECT part FROM texts WHERE long > '{LAST * 65}'", rows=1, read=1)


def test_strings_are_ordered_as_utf8_not_as_utf16(texts: skipstone.Table) -> None:
    assert_skips(texts, f"SELECT part FROM texts WHERE mixed >= '{EMOJI}'", rows=2, read=1)
    assert_skips(texts, f"SELECT part FROM texts WHERE mixed > '{PRIVATE}' AND mixed < '￿'", rows=1)
    assert_skips(texts, f"SELECT part FROM texts WHERE mixed = '{EMOJI}z'", rows=1, read=1)
    assert_skips(texts, f"SELECT part FROM texts WHERE mixed LIKE '{EMOJI}_'", rows=1, read=1)
    assert_same(texts.spark, f"SELECT part FROM texts WHERE mixed < '{EMOJI}'", rows=6)


def test_bytes_are_compared_unsigned_and_cut_soundly(texts: skipstone.Table) -> None:
    assert_skips(texts, "SELECT part FROM texts WHERE data = X'80'", rows=1)
    assert_skips(texts, "SELECT part FROM texts WHERE data < X'01' AND part < 2", rows=1, read=1)
    assert_skips(texts, "SELECT part FROM texts WHERE data = X'FF00'", rows=1)
    assert_skips(texts, f"SELECT part FROM texts WHERE data > X'{'FF' * 66}'", rows=1)
    assert_same(texts.spark, "SELECT part FROM texts WHERE data > X'7F'", rows=5)


def test_a_function_of_a_string_skips_only_by_its_own_statistics(texts: skipstone.Table) -> None:
    assert_skips(texts, "SELECT part FROM texts WHERE lower(word) = 'zebra'", rows=1, read=1)
    assert_skips(texts, "SELECT part FROM texts WHERE length(word) = 0", rows=1)
    assert_same(texts.spark, "SELECT part FROM texts WHERE upper(word) = 'APE'", rows=1)
    assert_same(texts.spark, "SELECT part FROM texts WHERE reverse(word) < 'b'", rows=3)


def test_a_collation_other_than_utf8_binary_is_not_judged(texts: skipstone.Table) -> None:
    scan = assert_reads_all(texts, "SELECT part FROM texts WHERE word COLLATE UTF8_LCASE = 'ZEBRA'", rows=1)
    assert [unused.code for unused in scan.unused if "ZEBRA" in unused.predicate] == [
        "COLLATION"
    ] or scan.unused
    assert_reads_all(texts, "SELECT part FROM texts WHERE word COLLATE UNICODE > 'z'", rows=1)
    assert_same(texts.spark, "SELECT part FROM texts WHERE startswith(word COLLATE UTF8_LCASE, 'ZE')", rows=1)


def test_a_collated_column_is_read_and_others_skip(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "collated"
    spark.conf.set("spark.databricks.delta.schema.typeCheck.enabled", "false")
    spark.range(0, 30, 1, 3).selectExpr(
        "id",
        "IF(id < 10, 'ABC', 'xyz') COLLATE UTF8_LCASE AS c",
        "named_struct('c', 'Q' COLLATE UNICODE_CI) AS s",
    ).write.format("delta").save(str(path))
    table = indexed(spark, "collated", path)
    assert_reads_all(table, "SELECT id FROM collated WHERE c = 'abc'", rows=10)
    assert_reads_all(table, "SELECT id FROM collated WHERE c IN ('Abc', 'q')", rows=10)
    assert_reads_all(table, "SELECT id FROM collated WHERE s.c = 'q'", rows=30)
    assert_skips(table, "SELECT id FROM collated WHERE c = 'abc' AND id < 5", rows=5, read=1)


def test_invalid_utf8_is_never_skipped_wrongly(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "invalid"
    rows = {0: [b"a", b"b"], 1: [b"a", b"a\x80Xb", "aé".encode()], 2: [b"\xff\xfe", b"m"], 3: [b"z", b"\xc3"]}
    tables = [pa.table({"part": [part] * len(v), "s": pa.array(v, pa.binary())}) for part, v in rows.items()]
    write_files(path, tables)
    spark.conf.set("spark.sql.parquet.binaryAsString", "true")
    table = indexed(spark, "invalid", path)
    for condition in (
        "s = 'a'",
        "s > 'z'",
        "s >= CAST(X'FF' AS STRING)",
        "s = CAST(X'C3' AS STRING)",
        "s LIKE 'a\ufffd_b'",
        "s LIKE '\ufffd%'",
        "s LIKE '_'",
        "s RLIKE '^a\ufffdX'",
        "length(s) = 1",
        "hex(s) LIKE 'FF%'",
        "upper(s) = 'A'",
    ):
        assert_same(spark, f"SELECT part FROM invalid WHERE {condition}")
    assert_same(spark, "SELECT part FROM invalid WHERE s LIKE 'a\ufffd_b'", rows=1)
    assert_skips(table, "SELECT part FROM invalid WHERE s < 'aa'", rows=2)


def test_char_and_varchar_columns_are_padded_as_ever(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE chars (id INT, c CHAR(5), v VARCHAR(5)) USING parquet")
    try:
        for value in ("a", "b", "c"):
            spark.sql(f"INSERT INTO chars SELECT /*+ COALESCE(1) */ {ord(value)}, '{value}', '{value}'")
        table = skipstone.table(spark, "chars")
        table.index()
        for condition in (
            "c = 'b'",
            "c = 'b    '",
            "c IN ('a', 'c')",
            "c > 'b'",
            "v = 'b '",
            "c = v",
            "c LIKE 'b'",
        ):
            assert_same(spark, f"SELECT id FROM chars WHERE {condition}")
        assert_same(spark, "SELECT id FROM chars WHERE c = 'b'", rows=1)
        assert_skips(table, "SELECT id FROM chars WHERE v = 'b'", rows=1, read=1)
    finally:
        spark.sql("DROP TABLE chars")


@pytest.mark.parametrize(
    ("setting", "value"),
    [("spark__sql__legacy__charVarcharAsString", "true"), ("spark__sql__readSideCharPadding", "false")],
)
def test_char_that_is_read_without_its_padding(
    spark: SparkSession, tmp_path: Path, setting: str, value: str
) -> None:
    """Written by path, values are stored as they are given; whether they are padded is up to the reader."""
    path = tmp_path / "unpadded"
    spark.sql(f"CREATE TABLE delta.`{path}` (id INT, c CHAR(5)) USING delta")
    for index, text in enumerate("abc"):
        row = spark.createDataFrame([(index, text)], "id INT, c STRING").coalesce(1)
        row.write.format("delta").mode("append").save(str(path))
    table = indexed(spark, "unpadded", path)
    query = f"SELECT id FROM delta.`{path}` WHERE {{}}"
    with settings(spark, **{setting: value}):
        for condition in ("c LIKE 'b'", "c = 'b'", "c < 'b '", "concat(c, '') = 'b'"):
            assert_same(spark, query.format(condition))
        assert_reads_all(table, query.format("c LIKE 'b'"), rows=1)
        assert table.index().files_indexed == 3
        assert_skips(table, query.format("c LIKE 'b'"), rows=1, read=1)
    assert table.status().files_indexed == 0
