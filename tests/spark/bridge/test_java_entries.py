from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from pyspark.sql import SparkSession
from tests.spark.bridge.java_calls import call, construct

from skipstone.spark.bridge.janino import new_instance


def numbers(*values: int) -> bytes:
    return np.array(values, ">i8").tobytes()


def bit_set(spark: SparkSession, *indices: int) -> Any:
    bits = spark._jvm.java.util.BitSet()  # type: ignore[union-attr]
    for index in indices:
        bits.set(index)
    return bits


@pytest.fixture
def registry(spark: SparkSession) -> Any:
    made = new_instance(spark, "TableRegistry")
    made.register("/data/t", 3, b"a\0day=1/b", numbers(10, 20), numbers(1, 2), None)
    return made


@pytest.mark.parametrize(
    ("path", "size", "time", "index"),
    [("a", 10, 1, 0), ("day=1/b", 20, 2, 1), ("b", 20, 2, -1), ("a", 11, 1, -1), ("a", 10, 2, -1)],
)
def test_an_entry_is_found_by_path_size_and_time_together(
    registry: Any, path: str, size: int, time: int, index: int
) -> None:
    table = registry.lookup("/data/t")
    assert table.find(path, size, time) == index
    assert (table.root(), table.version(), table.size()) == ("/data/t", 3, 2)


@pytest.mark.parametrize("root", ["/data/t", "/data/t/day=1", "/data/t/day=1/hour=2"])
def test_a_table_is_found_at_and_below_its_root(registry: Any, root: str) -> None:
    assert registry.lookup(root).root() == "/data/t"


@pytest.mark.parametrize("root", ["/data", "/data/t2", "/other", "/data/t/_skipstone/query_log"])
def test_no_table_is_found_above_or_beside_it_or_in_its_own_folder(registry: Any, root: str) -> None:
    assert registry.lookup(root) is None


def test_a_table_without_files_is_found_too(spark: SparkSession) -> None:
    registry = new_instance(spark, "TableRegistry")
    registry.register("/none", 1, b"", b"", b"", None)
    assert registry.lookup("/none").size() == 0
    assert registry.lookup("/none").find("", 0, 0) == -1


def test_a_scan_counts_what_is_offered_kept_skipped_and_unknown(spark: SparkSession) -> None:
    scan = construct(spark, "DecidedScan")
    skip = bit_set(spark, 1, 9)
    assert [call(spark, scan, "count", *file) for file in [(0, skip, 5), (1, skip, 7), (-1, skip, 11)]] == [
        True,
        False,
        True,
    ]
    figures = json.loads(scan.summary())
    assert {name: figures[name] for name in figures if name.startswith(("files", "bytes"))} == {
        "files_total": 0,
        "bytes_total": 0,
        "files_offered": 3,
        "bytes_offered": 23,
        "files_kept": 2,
        "bytes_kept": 16,
        "files_unindexed": 1,
        "bytes_unindexed": 11,
        "files_replaced": 0,
        "bytes_replaced": 0,
    }
    assert (bytes(scan.offeredBits()), bytes(scan.skippedBits())) == (b"\x03", b"\x02")
    scan.restart()
    assert json.loads(scan.summary())["files_offered"] == 0
    assert (bytes(scan.offeredBits()), bytes(scan.skippedBits())) == (b"", b"")


def test_a_scan_that_nothing_is_known_about_is_json_all_the_same(spark: SparkSession) -> None:
    figures = json.loads(construct(spark, "DecidedScan").summary())
    assert (figures["question"], figures["failure"], figures["partitions"]) == (None, "", [])
