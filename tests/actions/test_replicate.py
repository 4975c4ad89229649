"""Replicas are made by any layout, in partitions, and are listed, refreshed and dropped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import skipstone
from skipstone.spark.engine.row_hash import hash_of
from skipstone.workload.queries import Workload

COLUMNS = {"k": "k BETWEEN 100 AND 150", "d": "d < DATE'2020-02-05'", "id": "id < 150"}


def files_read(table: skipstone.Table, condition: str) -> tuple[int, int, set[str]]:
    """Files read and in the table, and the verdicts on its replicas."""
    (scan,) = table.explain(f"SELECT * FROM shipments WHERE {condition}").scans
    return scan.files_read, scan.files_total, {copy.code for copy in scan.copies}


def same_on_and_off(table: skipstone.Table, condition: str) -> bool:
    query, conf = f"SELECT * FROM shipments WHERE {condition}", table.spark.conf
    on = hash_of(table.spark.sql(query))
    conf.set("spark.skipstone.enabled", "false")
    off = hash_of(table.spark.sql(query))
    conf.set("spark.skipstone.enabled", "true")
    return on == off and on.rows > 0


def test_columns_are_divided_among_the_table_and_its_replicas(
    shipments: Callable[..., skipstone.Table],
) -> None:
    table = shipments(rows=3_000)
    report = table.optimize(layout="hyper", block_rows=100, replicas=3)
    assert len(report.replicas) == 2
    assert {each.id for each in table.replicas().replicas} == set(report.replicas)
    chosen = set()
    for condition in COLUMNS.values():
        read, total, verdicts = files_read(table, condition)
        assert 0 < read < total / 2
        assert same_on_and_off(table, condition)
        chosen.add("CHEAPER" in verdicts)
    assert chosen == {True, False}, "some queries read a replica, others the table"


def test_a_replica_can_be_of_any_layout_and_life_goes_on(
    shipments: Callable[..., skipstone.Table], log: Workload
) -> None:
    table = shipments(rows=2_000)
    made = table.replicate(log, "zorder", block_rows=250, partition_rows=1_000)
    assert (made.layout, made.rows, made.partitions) == ("zorder", 2_000, 2)
    table.spark.sql("DELETE FROM shipments WHERE id = 7")
    stale = table.replicas().replicas[0]
    assert stale.partitions_valid == 1
    assert made.replica in str(table.status())
    assert table.status().replicas[0].bytes_covered < table.status().bytes
    refreshed = table.refresh(made.replica)
    assert (refreshed.partitions_made, refreshed.partitions_retired) == (1, 1)
    assert table.replicas().replicas[0].partitions_valid == 2
    assert table.refresh().partitions_made == 0, "nothing is left to do"
    assert same_on_and_off(table, COLUMNS["k"])
    dropped = table.drop(made.replica)
    assert (dropped.partitions, dropped.deleted) == (2, False)
    assert table.replicas().replicas == ()
    assert same_on_and_off(table, COLUMNS["k"])
    assert "to be deleted in a day" in str(dropped)


def test_a_replica_of_a_table_that_loses_all_rows_stays_and_holds_later_ones(
    shipments: Callable[..., skipstone.Table],
) -> None:
    table = shipments(rows=400)
    rows = table.spark.sql("SELECT * FROM shipments").collect()
    replica = table.replicate(layout="hyper", block_rows=100).replica
    table.spark.sql("DELETE FROM shipments")
    emptied = table.refresh()
    assert (emptied.partitions_made, emptied.partitions_retired) == (0, 1)
    (status,) = table.replicas().replicas
    assert (status.id, status.partitions, status.bytes) == (replica, 0, 0)
    assert table.refresh().partitions_made == 0
    assert replica in str(table.status())
    schema = table.frame().schema
    table.spark.createDataFrame(rows, schema).write.format("delta").mode("append").save(table.source)
    assert table.refresh(replica).rows == 400
    (status,) = table.replicas().replicas
    assert (status.partitions_valid, status.rows, status.layout) == (1, 400, "hyper")
    assert same_on_and_off(table, COLUMNS["k"])
    dropped = table.drop(replica, now=True)
    assert dropped.deleted
    assert not list(Path(table.source).glob("_skipstone/replicas/*"))


def test_a_replica_whose_record_is_damaged_is_reported_and_can_be_dropped(
    shipments: Callable[..., skipstone.Table],
) -> None:
    table = shipments(rows=400)
    replica = table.replicate(layout="hyper", block_rows=100).replica
    folder = Path(table.source) / "_skipstone" / "replicas"
    (record,) = folder.glob(f"{replica}.*.json")
    # A name that this session has not read, as that of a record which was written by another one.
    record.rename(folder / f"{replica}.0badc0ffee00-0123456789ab.json")
    assert same_on_and_off(table, COLUMNS["k"])
    (problem,) = table.replicas().problems
    assert "its bytes do not fit its name" in problem
    assert table.drop(replica, now=True).replica == replica
    assert table.replicas().problems == ()
    assert not list(folder.glob("*/*"))


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda table: table.drop("none"), "has no replica none; it has none"),
        (lambda table: table.refresh("none"), "has no replica none; it has none"),
        (lambda table: table.refresh(), "has no replicas; make one"),
        (lambda table: table.replicate(layout="hilbertt"), "There is no layout hilbertt"),
        (lambda table: table.replicate(layout="hyper", partition_rows=0), "partition_rows must be"),
        (lambda table: table.optimize(layout="zorder", replicas=2), "the layout asked for is zorder"),
        (lambda table: table.optimize(layout="hyper", replicas=0), "replicas must be a whole number"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(
    shipments: Callable[..., skipstone.Table], call: Callable[[skipstone.Table], object], sentence: str
) -> None:
    with pytest.raises(skipstone.SkipstoneError, match=sentence):
        call(shipments(rows=100))


def test_a_directory_of_parquet_files_has_no_replicas(shipments: Callable[..., skipstone.Table]) -> None:
    table = shipments("parquet", rows=100)
    with pytest.raises(skipstone.SkipstoneError, match="replicas are made of Delta tables only"):
        table.replicate(layout="hyper")
    assert table.replicas().replicas == ()
