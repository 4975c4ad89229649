"""Copies and conversions: made only when all fits, taken away again when what follows fails."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.opened import opened

import skipstone
from skipstone.actions import optimize
from skipstone.spark.engine.row_hash import hash_of
from skipstone.workload.queries import Query, Workload

LOG = Workload(tuple(Query(f"SELECT count(*) FROM t WHERE k < {most}") for most in (50, 100, 150)))
Failing = Callable[[Callable[[], None]], None]


@pytest.fixture(scope="module")
def template(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("target") / "template"
    spark.range(0, 2_000, 1, 2).selectExpr("id", "pmod(xxhash64(id), 1000) AS k").write.parquet(str(path))
    return path


@pytest.fixture
def table(spark: SparkSession, template: Path, tmp_path: Path) -> skipstone.Table:
    """A directory of two Parquet files."""
    shutil.copytree(template, tmp_path / "t")
    return skipstone.table(spark, f"t={tmp_path / 't'}")


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Failing:
    """Lets something happen when the rewrite is to begin, which then fails."""

    def make(happens: Callable[[], None]) -> None:
        def fail(*_: object, **__: object) -> None:
            happens()
            raise skipstone.SkipstoneError("the rewrite has failed.")

        monkeypatch.setattr(optimize, "rewrite_table", fail)

    return make


@pytest.mark.parametrize("convert", [False, True], ids=["output", "convert"])
def test_what_cannot_be_laid_out_is_neither_copied_nor_converted(
    spark: SparkSession, table: skipstone.Table, tmp_path: Path, convert: bool
) -> None:
    target = {"convert": True} if convert else {"output": str(tmp_path / "copy")}
    refused: list[tuple[Workload | None, dict[str, object], str]] = [
        (Workload((Query("SELECT * FROM t"),)), {}, "usable filter"),
        (Workload((Query("SELECT 1"),)), {}, "No query of the log reads"),
        (Workload((Query("SELECT FROM WHERE"),)), {}, "No query of the log reads"),
        (None, {}, "has no query log yet"),
        (LOG, {"block_rows": 1_500}, "less than two blocks"),
        (LOG, {"block_rows": -5}, "^block_rows must be a whole number from 1"),
        (LOG, {"block_rows": 0}, "^block_rows must be"),
        (LOG, {"num_features": "10"}, "^num_features must be"),
        (LOG, {"partition_by": "nothing + 1"}, "nothing"),
        (LOG, {"layout": "spiral"}, "There is no layout spiral"),
        (LOG, {"layout": "range", "curve": "hilbert"}, "is for the layout selforg"),
    ]
    for queries, options, said in refused:
        with pytest.raises(skipstone.SkipstoneError, match=said):
            table.optimize(queries, **{"block_rows": 200, **target, **options})  # type: ignore[arg-type]
    spark.conf.set("spark.databricks.delta.autoCompact.enabled", "true")
    with pytest.raises(skipstone.SkipstoneError, match=r"autoCompact\.enabled.*unset it"):
        table.optimize(LOG, "range", block_rows=200, **target)  # type: ignore[arg-type]
    assert not (tmp_path / "copy").exists()
    assert not (tmp_path / "t" / "_delta_log").exists()


def test_an_output_where_no_new_table_can_be_is_refused(table: skipstone.Table, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("text")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("text")
    before = sorted(tmp_path.rglob("*"))
    for output, said in (
        ("", "must not be empty"),
        (str(tmp_path / "file"), "is a file"),
        (str(tmp_path / "file" / "below"), "cannot be made, for .*file is a file"),
        (str(tmp_path / "full"), "exists already"),
        (table.source, "lies in the table itself"),
        (f"{table.source}/below", "lies in the table itself"),
        ("nowhere://bucket/copy", "No FileSystem for scheme"),
    ):
        with pytest.raises(skipstone.SkipstoneError, match=said):
            table.optimize(LOG, "range", block_rows=200, output=output)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_copy_whose_layout_fails_is_deleted_and_then_made_again(
    table: skipstone.Table, failing: Failing, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output, rows = tmp_path / "deep" / "copy", hash_of(table.frame())
    there: list[bool] = []
    failing(lambda: there.append((output / "_delta_log").exists()))
    with pytest.raises(skipstone.SkipstoneError, match="the rewrite has failed"):
        table.optimize(LOG, "range", block_rows=200, output=str(output))
    assert there == [True]
    assert not output.exists()
    output.mkdir(parents=True)
    with pytest.raises(skipstone.SkipstoneError, match="the rewrite has failed"):
        table.optimize(LOG, "range", block_rows=200, output=str(output))
    assert list(output.iterdir()) == [], "the folder was there before"
    monkeypatch.undo()
    report = table.optimize(LOG, "range", block_rows=200, output=str(output))
    assert (report.percent_before, report.layout) == (100.0, "range")
    copy = skipstone.table(table.spark, f"copied={output}")
    assert hash_of(copy.frame()) == rows == hash_of(table.frame())
    assert not (output / "_skipstone" / "being-written").exists()
    (scan,) = copy.explain("SELECT * FROM copied WHERE k < 50").scans
    assert 0 < scan.files_read < scan.files_total


def test_a_copy_that_somebody_else_has_written_to_stays(
    spark: SparkSession,
    table: skipstone.Table,
    failing: Failing,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    output = str(tmp_path / "copy")
    failing(lambda: table.frame().limit(7).write.format("delta").mode("append").save(output))
    with pytest.raises(skipstone.SkipstoneError, match="the rewrite has failed"):
        table.optimize(LOG, "range", block_rows=200, output=output)
    assert f"{output} stays, for somebody has written to it." in caplog.text
    assert spark.read.format("delta").load(output).count() == 2_007


def test_a_conversion_whose_layout_fails_is_undone(
    table: skipstone.Table, failing: Failing, caplog: pytest.LogCaptureFixture
) -> None:
    rows, log = hash_of(table.frame()), Path(table.source) / "_delta_log"
    there: list[bool] = []
    failing(lambda: there.append(log.exists()))
    with pytest.raises(skipstone.SkipstoneError, match="the rewrite has failed"):
        table.optimize(LOG, "range", block_rows=200, convert=True)
    assert there == [True]
    assert not log.exists()
    assert (opened(table).snapshot.format, hash_of(table.frame())) == ("parquet", rows)

    # Files that a rewrite has begun are no rows of the table, and without the Delta log they would be.
    some = next(Path(table.source).glob("*.parquet"))
    failing(lambda: shutil.copy(some, some.with_name("begun.parquet")) and None)
    with pytest.raises(skipstone.SkipstoneError, match="the rewrite has failed"):
        table.optimize(LOG, "range", block_rows=200, convert=True)
    assert "_delta_log stays, for files that are no part of the table lie beside it" in caplog.text
    assert (opened(table).snapshot.format, hash_of(table.frame())) == ("delta", rows)


def test_a_table_with_renamed_columns_is_copied_and_laid_out(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "mapped")
    spark.range(0, 2_000).selectExpr("id", "pmod(xxhash64(id), 1000) AS k").write.format("delta").option(
        "delta.columnMapping.mode", "name"
    ).save(path)
    spark.sql(f"ALTER TABLE delta.`{path}` RENAME COLUMN k TO key")
    table = skipstone.table(spark, f"mapped={path}")
    log = Workload(tuple(Query(f"SELECT * FROM mapped WHERE key < {most}") for most in (50, 100)))
    table.optimize(log, "range", block_rows=200, output=str(tmp_path / "copy"))
    copy = skipstone.table(spark, f"copied={tmp_path / 'copy'}")
    assert hash_of(copy.frame()) == hash_of(table.frame())
    (scan,) = copy.explain("SELECT * FROM copied WHERE key < 50").scans
    assert 0 < scan.files_read < scan.files_total


def test_a_layout_that_is_worse_than_what_is_there_needs_force(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    rows = spark.range(0, 2_000).selectExpr("id", "pmod(xxhash64(id), 1000) AS k")
    rows.repartitionByRange(20, "k").write.format("delta").save(path)
    table = skipstone.table(spark, f"t={path}")
    table.index()
    with pytest.raises(skipstone.SkipstoneError) as caught:
        table.optimize(LOG, "range", block_rows=1_000)
    sentence = str(caught.value)
    assert sentence.startswith(
        "Nothing was written: by the layout range the log's queries would scan about 5"
    )
    assert "% of the rows instead of 1" in sentence
    assert "--force (in Python force=True)" in sentence
    assert opened(table).snapshot.version == 0
    with pytest.raises(skipstone.SkipstoneError, match="Nothing was written: "):
        table.optimize(LOG, "range", block_rows=1_000, output=str(tmp_path / "copy"))
    assert not (tmp_path / "copy").exists()
    report = table.optimize(LOG, "range", block_rows=1_000, force=True)
    assert (report.layout, report.files_after, report.version) == ("range", 2, 1)
    assert (report.percent_after or 0) > (report.percent_before or 0)


def test_a_partition_that_stops_waiting_meanwhile_is_passed_over(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "parted")
    rows = "SELECT id, pmod(xxhash64(id), 1000) AS k, id % 3 AS p FROM range(0, 1800, 1, 1)"
    spark.sql(rows).where("p = 0").write.format("delta").partitionBy("p").save(path)
    table = skipstone.table(spark, f"t={path}")
    table.optimize(LOG, "range", block_rows=100)
    spark.sql(rows).where("p > 0").write.format("delta").mode("append").save(path)
    listed: list[int] = []

    def reopen() -> object:
        listed.append(len(listed))
        if len(listed) == 2:  # after all partitions were listed, and before the first is rewritten
            spark.sql(f"DELETE FROM delta.`{path}` WHERE p = 1")
        return table._current()

    report = optimize.optimize_new(spark, table._runtime, reopen)  # type: ignore[arg-type]
    assert (report.rows, report.layout_id != "") == (600, True)
    assert table.frame().where("p = 2").count() == 600

    spark.sql(rows).where("p = 1").write.format("delta").mode("append").save(path)
    listed.clear()
    report = optimize.optimize_new(spark, table._runtime, reopen)  # type: ignore[arg-type]
    assert (report.layout_id, report.reason) == ("", "somebody else has laid out meanwhile what waited")
