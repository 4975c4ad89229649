"""Damaged and missing files are found, not read, and rebuilt from another copy."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.shipments import write_shipments

import skipstone
from skipstone.spark.engine.row_hash import RowHash, hash_of
from skipstone.workload.queries import Workload

FILTERED = "SELECT * FROM shipments WHERE k < 100"
ALL = "SELECT * FROM shipments"
Copied = Callable[[str, Callable[[Path], object]], Path]


@pytest.fixture
def replicated(spark: SparkSession, copied: Copied, log: Workload) -> skipstone.Table:
    """A table of 3,000 rows with a replica in two horizontal partitions."""

    def make(path: Path) -> None:
        write_shipments(spark, path, "delta", 3_000)
        table = skipstone.table(spark, f"shipments={path}")
        table.replicate(log, "qdtree", block_rows=500, partition_rows=1_500)

    return skipstone.table(spark, f"shipments={copied('replicated-shipments', make)}")


def rows_of(table: skipstone.Table, query: str) -> RowHash:
    return hash_of(table.spark.sql(query))


def data_files(table: skipstone.Table) -> list[Path]:
    """The files of the newest version."""
    names = table.frame().inputFiles()
    return sorted(Path(name.removeprefix("file:").replace("///", "/")) for name in names)


def replica_files(table: skipstone.Table) -> list[Path]:
    return sorted(Path(table.source).glob("_skipstone/replicas/*/*/part-*.parquet"))


def damage(file: Path) -> None:
    """Other bytes in the middle, and no checksum by which Hadoop would notice."""
    data = bytearray(file.read_bytes())
    middle = len(data) // 2
    data[middle - 20 : middle + 20] = bytes(byte ^ 0xFF for byte in data[middle - 20 : middle + 20])
    file.write_bytes(data)
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)


def last_commit(table: skipstone.Table) -> list[dict[str, dict[str, object]]]:
    newest = max(Path(table.source).glob("_delta_log/*.json"))
    return [json.loads(line) for line in newest.read_text().splitlines()]


def test_what_is_whole_is_left_alone(replicated: skipstone.Table) -> None:
    version = len(list(Path(replicated.source).glob("_delta_log/*.json")))
    report = replicated.repair()
    assert (report.damages, report.partitions, report.rows, report.whole) == ((), 2, 3_000, True)
    assert len(list(Path(replicated.source).glob("_delta_log/*.json"))) == version


def test_queries_go_on_while_a_base_file_is_missing_and_repair_rebuilds_it(
    replicated: skipstone.Table,
) -> None:
    filtered, everything = rows_of(replicated, FILTERED), rows_of(replicated, ALL)
    lost = data_files(replicated)[0]
    lost.unlink()
    assert rows_of(replicated, FILTERED) == filtered
    assert rows_of(replicated, ALL) == everything, "a query without a filter too"
    checked = replicated.repair(check=True)
    assert [(each.copy, each.repaired) for each in checked.damages] == [("base", False)]
    assert lost.name in checked.damages[0].problem
    assert not checked.whole
    report = replicated.repair()
    assert [(each.copy, each.repaired) for each in report.damages] == [("base", True)]
    assert lost not in data_files(replicated)
    assert (rows_of(replicated, FILTERED), rows_of(replicated, ALL)) == (filtered, everything)
    changes = [
        action[key] for action in last_commit(replicated) for key in ("add", "remove") if key in action
    ]
    assert changes
    assert not any(change["dataChange"] for change in changes), "no data was changed"
    status = replicated.replicas().replicas[0]
    assert status.partitions_valid == status.partitions == 2, "partitions cover the new files"
    assert replicated.repair().damages == ()


def test_a_base_file_with_wrong_bytes_is_found_by_its_rows_and_not_read(replicated: skipstone.Table) -> None:
    filtered, everything = rows_of(replicated, FILTERED), rows_of(replicated, ALL)
    for file in data_files(replicated):
        damage(file)
    assert {each.copy for each in replicated.repair(check=True).damages} == {"base"}
    assert (rows_of(replicated, FILTERED), rows_of(replicated, ALL)) == (filtered, everything)
    assert all(each.repaired for each in replicated.repair().damages)
    assert (rows_of(replicated, FILTERED), rows_of(replicated, ALL)) == (filtered, everything)


def test_a_damaged_partition_is_not_read_and_is_copied_again(replicated: skipstone.Table) -> None:
    filtered = rows_of(replicated, FILTERED)
    replica = replicated.replicas().replicas[0].id
    for file in replica_files(replicated):
        damage(file)
    checked = replicated.repair(check=True)
    assert [each.copy for each in checked.damages] == [replica, replica]
    assert replicated.replicas().replicas == ()
    assert rows_of(replicated, FILTERED) == filtered
    report = replicated.repair()
    assert all(each.repaired for each in report.damages)
    status = replicated.replicas().replicas[0]
    assert (status.id, status.partitions_valid) == (replica, 2)
    assert rows_of(replicated, FILTERED) == filtered


def test_rows_that_no_copy_has_any_more_are_said_to_be_lost(replicated: skipstone.Table) -> None:
    for file in (*data_files(replicated), *replica_files(replicated)):
        damage(file)
    report = replicated.repair(check=True)
    assert len(report.damages) == 4
    assert not replicated.repair().whole


def test_a_table_without_replicas_has_nothing_to_compare_with(
    shipments: Callable[..., skipstone.Table],
) -> None:
    with pytest.raises(skipstone.SkipstoneError, match="has no replicas, so there is nothing to compare"):
        shipments(rows=100).repair()
