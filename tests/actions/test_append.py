"""Rows are appended exactly once, by a layout where that can be, whatever else fails."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, DataFrameWriter, SparkSession
from pyspark.sql import functions as F
from tests.actions.conftest import PATIENT, POLICY, ask
from tests.costs import EAGER
from tests.opened import opened
from tests.shipments import ROWS

import skipstone
from skipstone.actions.append import Append
from skipstone.actions.auto import Auto
from skipstone.actions.auto_status import ShowAutoStatus
from skipstone.cancel import Cancel
from skipstone.catalog.decisions import Decision
from skipstone.errors import CancelledError, SkipstoneError, UnknownOutcomeError
from skipstone.estimate.policy import Policy
from skipstone.json_types import json_int, json_number
from skipstone.spark.engine.source import Source
from skipstone.workload.queries import Query, Workload

Make = Callable[..., skipstone.Table]
MORE = 1_500


def rows_of(table: skipstone.Table, condition: str = f"id < {MORE}") -> DataFrame:
    """Some of the table's own rows."""
    return table.spark.read.format("delta").load(table.source).where(condition)


def append(table: skipstone.Table, rows: DataFrame, policy: Policy = PATIENT) -> Decision:
    return table.perform(Append(rows, policy, EAGER))


def test_enough_rows_are_appended_by_the_layout(laid_out: skipstone.Table) -> None:
    table = laid_out
    before = set(opened(table).files.paths)
    few = append(table, rows_of(table, "id < 150").coalesce(1), POLICY)
    assert (few.acted, few.code) == (False, "WAITING")
    numbers = few.numbers
    assert 0 < json_number(numbers["unclustered_bytes"]) < json_number(numbers["awaited_bytes"])
    many = append(table, rows_of(table, "id >= 150 AND id < 1500").coalesce(2), POLICY)
    assert (many.acted, many.code, many.numbers["rows"]) == (True, "LAID_OUT", 1_350), many.sentence
    assert many.numbers["files"] == 4
    assert before < set(opened(table).files.paths)
    assert table.frame().count() == ROWS + MORE
    # The few rows that came first still wait; those that were appended by the layout do not.
    seen = table.perform(ShowAutoStatus(POLICY))
    assert seen.unclustered_bytes == few.numbers["unclustered_bytes"]
    assert [decision.code for decision in seen.decisions][-2:] == ["LAID_OUT", "WAITING"]
    (replayed,) = table.replay(Workload((Query("SELECT sum(id) FROM shipments WHERE k < 50"),))).queries
    assert 0 < replayed.rows_scanned < 1_500
    assert replayed.same_result


def test_rows_that_are_too_many_for_a_block_become_several_files_that_wait(laid_out: skipstone.Table) -> None:
    table = laid_out
    before = set(opened(table).files.paths)
    decision = append(table, rows_of(table, "id < 4800").withColumn("k", F.lit(5).cast("long")))
    assert (decision.code, decision.numbers["files"]) == ("LAID_OUT", 0), decision.sentence
    assert "too much for their blocks" in decision.sentence
    files = opened(table).files
    new = [path for path in files.paths if path not in before]
    assert len(new) == json_int(decision.numbers["overflowing_files"]) >= 2
    seen = table.perform(ShowAutoStatus(POLICY))
    assert (seen.unclustered_files, len(seen.layouts)) == (len(new), 1)
    assert table.status().files_indexed == len(files), "they have statistics all the same"
    assert table.frame().count() == ROWS + 4_800


def test_rows_that_an_expression_of_the_layout_fails_on_are_appended_too(shipments: Make) -> None:
    table = shipments()
    odd = rows_of(table).withColumn("attrs", F.expr("map('courier', 'none')"))
    odd.write.format("delta").mode("append").save(table.source)
    ask(table, "CAST(attrs['courier'] AS INT) < 2", "CAST(attrs['courier'] AS INT) = 9")
    assert table.perform(Auto(policy=POLICY, model=EAGER)).acted
    again = rows_of(table, "attrs['courier'] = 'none'")
    assert again.count() == MORE
    decision = append(table, again)
    assert decision.code == "LAID_OUT", decision.sentence
    assert table.frame().where("attrs['courier'] = 'none'").count() == 2 * MORE
    assert table.frame().count() == ROWS + 2 * MORE


@pytest.mark.parametrize(("committed", "replaced"), [(False, False), (True, False), (True, True)])
def test_a_failed_append_by_a_layout_is_made_again_unless_its_commit_got_through(
    laid_out: skipstone.Table, monkeypatch: pytest.MonkeyPatch, committed: bool, replaced: bool
) -> None:
    table, save = laid_out, Source.save

    def failing(self: Source, writer: DataFrameWriter) -> None:
        monkeypatch.setattr(Source, "save", save)
        if committed:
            save(self, writer)
        if replaced:
            table.spark.sql(f"OPTIMIZE delta.`{self.location}`").collect()
        raise PySparkException("the disk is full")

    monkeypatch.setattr(Source, "save", failing)
    code = append(table, rows_of(table)).code
    assert replaced or (code == "LAID_OUT") == committed
    assert table.frame().count() == ROWS + MORE


@pytest.mark.parametrize("by_layout", [True, False])
def test_an_append_of_which_nobody_can_tell_whether_it_was_made_says_so(
    laid_out: skipstone.Table, monkeypatch: pytest.MonkeyPatch, by_layout: bool
) -> None:
    table, rows = laid_out, rows_of(laid_out)
    cancel = Cancel()

    def failing(self: Source, writer: DataFrameWriter) -> None:
        monkeypatch.setattr(Source, "open", unreachable)
        cancel.request()
        raise PySparkException("the connection was lost")

    def unreachable(self: Source) -> None:
        raise SkipstoneError("The files cannot be listed.")

    if not by_layout:
        monkeypatch.setattr("skipstone.actions.append._proven_layout", lambda *_: None)
    monkeypatch.setattr(Source, "save", failing)
    with pytest.raises(UnknownOutcomeError, match="look before you append them again"):
        table.perform(Append(rows, PATIENT, EAGER), cancel=cancel)
    monkeypatch.undo()
    assert table.frame().count() == ROWS


def test_rows_are_appended_once_whatever_becomes_of_what_follows(
    asked: skipstone.Table, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: object) -> Decision:
        raise OSError(28, "No space left on device", "somewhere")

    monkeypatch.setattr(Auto, "run", fails)
    decision = append(asked, rows_of(asked))
    assert (decision.code, decision.sentence) == ("FAILED", "somewhere: No space left on device")
    assert "The rows were appended, but not laid out: somewhere: No space" in caplog.text
    assert asked.frame().count() == ROWS + MORE


def test_a_cancelled_append_is_an_error_only_if_no_row_was_appended(laid_out: skipstone.Table) -> None:
    table = laid_out

    def cancelled_at(step: str) -> Decision:
        cancel = Cancel()

        def report(what: str, done: int, total: int) -> None:
            if what == step:
                cancel.request()

        return table.perform(Append(rows_of(table), PATIENT, EAGER), report, cancel)

    with pytest.raises(CancelledError):
        cancelled_at("looking at layout and log")
    assert table.frame().count() == ROWS
    late = cancelled_at("indexing blocks")
    assert (late.code, late.sentence) == ("FAILED", "The work was cancelled")
    assert table.frame().count() == ROWS + MORE


def test_rows_are_appended_whatever_has_become_of_the_log(asked: skipstone.Table) -> None:
    log = Path(asked.source) / "_skipstone" / "query_log" / "_delta_log"
    for entry in log.glob("*.json"):
        entry.write_text("no JSON")
    for checksum in log.glob(".*.crc"):
        checksum.unlink()
    assert append(asked, rows_of(asked)).code == "FAILED"
    assert asked.frame().count() == ROWS + MORE


@pytest.mark.parametrize("damage", ["cut off", "of a kind that nobody knows", "of a newer version"])
def test_rows_are_appended_whatever_has_become_of_their_layout(
    laid_out: skipstone.Table, damage: str
) -> None:
    table = laid_out
    (record,) = (Path(table.source) / "_skipstone" / "layouts").glob("*.json")
    text = record.read_text()
    match damage:
        case "cut off":
            record.write_text(text[: len(text) // 2])
        case "of a kind that nobody knows":
            record.write_text(text.replace('"kind": "tree"', '"kind": "forest"'))
        case _:
            record.write_text(text.replace('"format": ', '"format": 9'))
    assert record.read_text() != text
    record.with_name(f".{record.name}.crc").unlink(missing_ok=True)
    assert append(table, rows_of(table)).code != "LAID_OUT"
    assert table.frame().count() == ROWS + MORE


def test_rows_that_lack_a_column_that_the_layout_goes_by_are_appended_without_it(
    spark: SparkSession, laid_out: skipstone.Table
) -> None:
    for change in ("SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')", "DROP COLUMN k"):
        spark.sql(f"ALTER TABLE delta.`{laid_out.source}` {change}")
    table = skipstone.table(spark, f"shipments={laid_out.source}")
    ask(table, "id < 500")
    assert append(table, rows_of(table)).code == "WAITING"
    assert table.frame().count() == ROWS + MORE
    with pytest.raises(SkipstoneError, match="there is nothing"):
        table.optimize_new()


def test_what_the_appended_rows_read_of_another_table_is_logged_as_a_query(
    spark: SparkSession, asked: skipstone.Table, tmp_path: Path
) -> None:
    spark.range(400).selectExpr("id AS key").write.format("delta").save(str(tmp_path / "source"))
    source = skipstone.table(spark, f"source={tmp_path / 'source'}")
    source.index()
    spark.range(5).selectExpr("id AS key").write.format("delta").save(str(tmp_path / "target"))
    target = skipstone.table(spark, f"target={tmp_path / 'target'}")
    skipstone.enable(spark, log=True)
    try:
        append(target, source.frame().where("key < 50"))
        (scan,) = source.log()
    finally:
        skipstone.enable(spark, log=False)
    assert scan.rows_needed == 50
    assert target.frame().count() == 55


def test_rows_cannot_be_appended_to_a_parquet_directory(spark: SparkSession, shipments: Make) -> None:
    table = shipments("parquet")
    with pytest.raises(SkipstoneError, match="can be appended to Delta tables only"):
        table.perform(Append(spark.read.parquet(table.source).where("id < 10")))
    assert table.frame().count() == ROWS
