from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from tests.spark.bridge.java_calls import call_static

TEXTS = ["", "plain", 'a "quoted" word', "back\\slash", "\n\t\r\0\x1f\x7f", "Zoë", "𝔘𝔫𝔦", "'"]


@pytest.mark.parametrize("text", TEXTS)
def test_a_quoted_text_is_read_back_by_a_json_parser(spark: SparkSession, text: str) -> None:
    quoted = call_static(spark, "JsonText", "quote", text)
    assert json.loads(quoted) == text
    assert quoted.isascii()
    assert quoted.isprintable()


def test_many_quoted_texts_are_read_back(spark: SparkSession) -> None:
    @settings(max_examples=100, deadline=None)
    @given(st.text(st.characters(exclude_categories=["Cs"])))
    def check(text: str) -> None:
        assert json.loads(call_static(spark, "JsonText", "quote", text)) == text

    check()


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("part-0.parquet", set()),
        ("Day=1/part-0.parquet", {"day"}),
        ("day=1/Hour=2%3D3/part-0.parquet", {"day", "hour"}),
        ("plain/day=1/part-0.parquet", {"day"}),
        ("=1/part-0.parquet", set()),
        ("folder/day=1", set()),
        ("a/b=c=d/e", {"b"}),
    ],
)
def test_partition_names_are_those_of_folders_with_a_name_and_a_value(
    spark: SparkSession, path: str, names: set[str]
) -> None:
    found = spark._jvm.java.util.HashSet()  # type: ignore[union-attr]
    call_static(spark, "TableSchema", "addPartitionNames", path, found)
    assert set(found) == names


@pytest.mark.parametrize(
    ("data", "written"), [(b"", ""), (b"\x00\x0f\xf0\xff", "000ff0ff"), (b"abc", "616263")]
)
def test_bytes_are_written_as_hexadecimal_digits(spark: SparkSession, data: bytes, written: str) -> None:
    assert call_static(spark, "CatalystValues", "hex", data) == written


def test_a_text_that_is_no_utf8_is_lost_and_a_valid_one_is_kept(spark: SparkSession) -> None:
    from_bytes = spark._jvm.org.apache.spark.unsafe.types.UTF8String.fromBytes  # type: ignore[union-attr]
    string_type = spark._jvm.org.apache.spark.sql.types.DataType.fromJson('"string"')  # type: ignore[union-attr]
    assert call_static(spark, "CatalystValues", "value", from_bytes("Zoë".encode()), string_type) == "Zoë"
    lost = call_static(spark, "CatalystValues", "value", from_bytes(b"\xff"), string_type)
    assert dict(lost) == {"lost": "org.apache.spark.unsafe.types.UTF8String"}
