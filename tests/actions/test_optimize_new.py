"""Only what no layout covers is laid out, a partition of the table at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pyspark.sql import SparkSession
from tests.opened import opened

import skipstone
from skipstone.actions.action import perform
from skipstone.actions.optimize_new import OptimizeNew
from skipstone.spark.engine.engine import Engine
from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.engine.row_hash import hash_of
from skipstone.spark.engine.source import Source
from skipstone.workload.queries import Query, Workload

Make = Callable[..., skipstone.Table]
LOG = Workload(tuple(Query(f"SELECT count(*) FROM t WHERE k < {most}") for most in (50, 100, 150)))


def test_appended_rows_are_read_then_laid_out_alone(
    spark: SparkSession, shipments: Make, log: Workload
) -> None:
    table = shipments(rows=3_000)
    table.optimize(log, "sop", block_rows=150)
    laid_out = set(opened(table).files.paths)
    table.frame().limit(25).write.format("delta").mode("append").save(table.source)
    assert not table.optimize_new().layout_id
    more = spark.read.format("delta").load(table.source).limit(500)
    more.write.format("delta").mode("append").save(table.source)
    before = hash_of(table.frame())
    assert table.optimize_new().layout_id
    assert hash_of(table.frame()) == before
    assert len(laid_out & set(opened(table).files.paths)) > len(laid_out) // 2


def test_new_rows_are_laid_out_one_partition_of_the_table_at_a_time(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = "SELECT id, pmod(xxhash64(id), 1000) AS k, id % 2 AS p FROM range(0, {}, 1, 2)"
    path = str(tmp_path / "parted")
    spark.sql(rows.format(6_000)).write.format("delta").partitionBy("p").save(path)
    table = skipstone.table(spark, f"parted={path}")
    log = Workload(tuple(Query(f"SELECT * FROM parted WHERE k < {most}") for most in (50, 100)))
    table.optimize(log, "range", block_rows=300)
    even = {name for name in opened(table).files.paths if "p=0" in name}
    for rows_added, parts in ((2_000, "p = 1"), (100, "p = 0")):
        added = spark.sql(rows.format(2 * rows_added)).where(parts)
        added.write.format("delta").mode("append").save(path)
    before = hash_of(table.frame())
    report = table.optimize_new()
    assert report.rows == 2_000
    assert hash_of(table.frame()) == before
    after = opened(table).files.paths
    assert even < {name for name in after if "p=0" in name}
    assert "awaited" in table.optimize_new().reason


@dataclass(frozen=True, slots=True, eq=False)
class ChangingSource(Source):
    """A table of which somebody deletes a partition after all were listed, before the first is rewritten."""

    listed: list[int] = field(default_factory=list)

    def open(self) -> OpenTable:
        self.listed.append(len(self.listed))
        if len(self.listed) == 2:
            self.engine.spark.sql(f"DELETE FROM delta.`{self.location}` WHERE p = 1")
        return Source.open(self)


def test_a_partition_that_stops_waiting_meanwhile_is_passed_over(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "parted")
    rows = "SELECT id, pmod(xxhash64(id), 1000) AS k, id % 3 AS p FROM range(0, 1800, 1, 1)"
    spark.sql(rows).where("p = 0").write.format("delta").partitionBy("p").save(path)
    table = skipstone.table(spark, f"t={path}")
    table.optimize(LOG, "range", block_rows=100)
    spark.sql(rows).where("p > 0").write.format("delta").mode("append").save(path)
    report = perform(OptimizeNew(), ChangingSource(Engine.of(spark), path, "t"))
    assert (report.rows, report.layout_id != "") == (600, True)
    assert table.frame().where("p = 2").count() == 600

    spark.sql(rows).where("p = 1").write.format("delta").mode("append").save(path)
    report = perform(OptimizeNew(), ChangingSource(Engine.of(spark), path, "t"))
    assert (report.layout_id, report.reason) == ("", "somebody else has laid out meanwhile what waited")
