"""Whatever happens during a rewrite, the table is the old one or the new one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from tests.opened import opened
from tests.two_blocks import plan_of, rewrite

import skipstone
from skipstone.errors import TableChangedError
from skipstone.spark.engine import rewrite as rewriter
from skipstone.spark.engine.into_delta import Copy
from skipstone.spark.engine.job_settings import IN_PLACE
from skipstone.spark.engine.rewrite import Rewriting
from skipstone.spark.engine.row_hash import RowHash, hash_of, total_hash
from skipstone.spark.engine.session_copy import copied_session, in_session
from skipstone.spark.engine.statistics import Measured, measure
from skipstone.workload.queries import Query, Workload

ROWS = 1_000
FILES = 2


@pytest.fixture
def table(spark: SparkSession, copied: Callable[..., Path]) -> skipstone.Table:
    """A Delta table of two files with two columns."""
    rows = spark.range(0, ROWS, 1, FILES).selectExpr("id", "pmod(xxhash64(id), 1000) AS k")
    path = copied("two-delta-files", lambda path: rows.write.format("delta").save(str(path)))
    return skipstone.table(spark, f"t={path}")


@pytest.fixture(scope="module")
def rows() -> dict[str, RowHash]:
    """The rows that every test begins with, once they were read."""
    return {}


@pytest.fixture
def before(table: skipstone.Table, rows: dict[str, RowHash]) -> RowHash:
    if not rows:
        rows["all"] = hash_of(table.frame())
    assert rows["all"].rows == ROWS
    return rows["all"]


def during_write(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], object]) -> None:
    """Let something happen after the new files are written and before they are committed."""
    write = Rewriting._write

    def slow(self: Rewriting, *args: object) -> object:
        written = write(self, *args)  # type: ignore[arg-type]
        happens()
        return written

    monkeypatch.setattr(Rewriting, "_write", slow)


def data_files(table: skipstone.Table) -> int:
    return len(list(Path(table.source).glob("*.parquet")))


def set_property(table: skipstone.Table, name: str, value: str) -> None:
    table.spark.sql(f"ALTER TABLE delta.`{table.source}` SET TBLPROPERTIES ('{name}' = '{value}')")


@pytest.mark.usefixtures("usual_plans")
def test_rows_of_all_types_are_rewritten_in_one_commit_that_changes_no_data(
    shipments: Callable[..., skipstone.Table],
) -> None:
    table = shipments(rows=ROWS)
    listed, before = opened(table), hash_of(table.frame())
    assert Rewriting(listed).before is listed, "an unchanged table is not listed again"
    done = rewrite(table)
    assert (done.version, done.rows, done.files_before, done.files_after) == (1, ROWS, 4, 2)
    assert hash_of(table.frame()) == before
    assert table.status().files_indexed == len(opened(table).files) == 2
    (scan,) = table.explain("SELECT * FROM shipments WHERE k < 50").scans
    assert (scan.files_read, scan.files_total) == (1, 2)
    _, newest = sorted(Path(table.source, "_delta_log").glob("*.json"))
    assert '"dataChange":true' not in newest.read_text()
    assert '"dataChange":false' in newest.read_text()


@pytest.mark.usefixtures("usual_plans")
def test_deleted_rows_stay_deleted(spark: SparkSession, table: skipstone.Table) -> None:
    set_property(table, "delta.enableDeletionVectors", "true")
    spark.sql(f"DELETE FROM delta.`{table.source}` WHERE id % 10 = 0")
    before = hash_of(table.frame())
    assert before.rows == ROWS * 9 // 10
    assert rewrite(table).rows == before.rows
    assert hash_of(table.frame()) == before


def test_a_rewrite_begins_with_the_table_as_it_is_now(table: skipstone.Table) -> None:
    listed = opened(table)
    table.frame().limit(7).write.format("delta").mode("append").save(table.source)
    now = Rewriting(listed).before
    assert (now.snapshot.version, len(now.files)) == (1, FILES + 1)


def test_a_concurrent_append_is_kept(
    spark: SparkSession, table: skipstone.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    extra = spark.read.format("delta").load(table.source).where("id < 100")
    during_write(monkeypatch, lambda: extra.write.format("delta").mode("append").save(table.source))
    assert rewrite(table).rows == ROWS
    assert table.frame().count() == ROWS + 100


def test_a_concurrent_delete_wins_and_the_rewrite_says_so(
    spark: SparkSession, table: skipstone.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    during_write(monkeypatch, lambda: spark.sql(f"DELETE FROM delta.`{table.source}` WHERE id = 5").collect())
    with pytest.raises(TableChangedError, match="changed by somebody else"):
        rewrite(table)
    assert table.frame().count() == ROWS - 1
    assert data_files(table) <= FILES + 1


def test_the_second_of_two_rewrites_is_refused(
    table: skipstone.Table, before: RowHash, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn: list[str] = []

    def other() -> None:
        if not turn:
            turn.append("taken")
            rewrite(table, "other", cuts=(200, 700))

    during_write(monkeypatch, other)
    with pytest.raises(TableChangedError, match="changed by somebody else"):
        rewrite(table)
    assert hash_of(table.frame()) == before
    assert len(opened(table).files) == 3


def test_a_failure_at_any_stage_leaves_the_old_table(table: skipstone.Table, before: RowHash) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("No space left on device")

    for stage in ("_write", "commit", "measure", "publish"):
        with pytest.MonkeyPatch.context() as patch:
            if stage == "commit":
                patch.setattr(rewriter, "publish", lambda *_: None)
                during_write(patch, fail)
            else:
                patch.setattr(Rewriting if stage == "_write" else rewriter, stage, fail)
            with pytest.raises(OSError, match="No space left"):
                rewrite(table)
        assert hash_of(table.frame()) == before, stage
        assert data_files(table) == FILES, stage
        assert opened(table).snapshot.version == 0, stage


def test_a_commit_after_which_delta_fails_stays(
    spark: SparkSession, table: skipstone.Table, before: RowHash, caplog: pytest.LogCaptureFixture
) -> None:
    set_property(table, "delta.compatibility.symlinkFormatManifest.enabled", "true")
    manifest = Path(table.source, "_symlink_format_manifest")
    manifest.write_text("no directory, so Delta cannot write its manifest here")
    assert rewrite(table).version == 2
    assert "but then Delta failed" in caplog.text
    assert hash_of(table.frame()) == before
    assert hash_of(spark.read.format("delta").load(table.source)) == before


@pytest.mark.parametrize("problem", [OSError("gone"), KeyboardInterrupt()])
def test_a_failure_after_the_commit_leaves_the_new_table(
    table: skipstone.Table, before: RowHash, monkeypatch: pytest.MonkeyPatch, problem: BaseException
) -> None:
    commit = Rewriting._commit

    def fail(self: Rewriting) -> int:
        commit(self)
        raise problem

    monkeypatch.setattr(Rewriting, "_commit", fail)
    with pytest.raises(type(problem)):
        rewrite(table)
    monkeypatch.undo()
    assert (opened(table).snapshot.version, len(opened(table).files)) == (1, 2)
    assert hash_of(table.frame()) == before


def test_a_changed_schema_wins_too(
    table: skipstone.Table, before: RowHash, monkeypatch: pytest.MonkeyPatch
) -> None:
    during_write(monkeypatch, lambda: set_property(table, "delta.checkpointInterval", "7"))
    with pytest.raises(TableChangedError, match="changed by somebody else"):
        rewrite(table)
    assert hash_of(table.frame()) == before
    assert data_files(table) == FILES


@pytest.mark.parametrize("alone", [False, True])
def test_rows_that_do_not_agree_are_never_committed(
    table: skipstone.Table, before: RowHash, monkeypatch: pytest.MonkeyPatch, alone: bool
) -> None:
    other = RowHash(before.rows, before.total + 1)

    def wrong(*args: object) -> Measured:
        found = measure(*args)  # type: ignore[arg-type]
        assert found.rows == before, "one scan does both"
        return replace(found, rows=None if alone else other)

    monkeypatch.setattr(rewriter, "measure", wrong)
    monkeypatch.setattr(rewriter, "hash_of", lambda _: other)
    with pytest.raises(skipstone.SkipstoneError, match="stopped before its commit"):
        rewrite(table)
    monkeypatch.undo()
    assert hash_of(table.frame()) == before
    assert data_files(table) == FILES


@pytest.mark.usefixtures("usual_plans")
@pytest.mark.parametrize("damage", ["missing", "corrupt"])
def test_a_file_that_cannot_be_read_stops_a_rewrite_even_if_the_session_ignores_it(
    spark: SparkSession, table: skipstone.Table, damage: str, tmp_path: Path
) -> None:
    *_, file = sorted(Path(table.source).glob("*.parquet"))
    healthy, copy = file.read_bytes(), tmp_path / "copy"
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
    spark.conf.set("spark.sql.files.ignoreCorruptFiles", "true")
    spark.conf.set("spark.sql.files.ignoreMissingFiles", "true")
    if damage == "missing":
        file.unlink()
    else:
        file.write_bytes(healthy[:4] + bytes(len(healthy) // 2) + healthy[4 + len(healthy) // 2 :])
    assert table.frame().selectExpr("sum(id)", "max(k)").collect()
    with pytest.raises(skipstone.SkipstoneError):
        rewrite(table)
    with pytest.raises(skipstone.SkipstoneError), Copy(opened(table), str(copy)).made():
        pytest.fail("the copy lacks rows")
    log = Workload((Query("SELECT * FROM t WHERE k < 50"),))
    for output in (None, str(copy)):
        with pytest.raises((skipstone.SkipstoneError, PySparkException, Py4JJavaError)):
            table.optimize(log, "range", block_rows=200, output=output)
    assert not copy.exists()
    assert (opened(table).snapshot.version, data_files(table)) == (0, FILES - (damage == "missing"))
    file.write_bytes(healthy)
    assert table.frame().count() == ROWS


def test_files_have_the_statistics_in_deltas_log_that_delta_finds_while_it_writes(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = (
        "k", "k || repeat(chr(150 + k DIV 10), 40) AS long_text", "CAST(NULL AS INT) AS nothing",
        "IF(k < 500, NULL, date_add(DATE'1999-12-31', CAST(k AS INT))) AS day",
        "TIMESTAMP'1999-12-31 23:59:59.123456' + make_interval(0, 0, 0, 0, 0, 0, k) AS at",
        "CAST(k AS DECIMAL(20, 3)) AS amount", "IF(k = 7, DOUBLE('NaN'), k / 7) AS ratio",
        "named_struct('of', k, 'text', IF(k % 2 = 0, 'ß' || k, NULL)) AS nested", "array(k) AS list",
        "map('a', k) AS attrs", "k > 600 AS flag", "CAST(CAST(k AS STRING) AS BINARY) AS bytes",
    )  # fmt: skip
    path = str(tmp_path / "t")
    rows = spark.range(0, ROWS, 1, 2).selectExpr("pmod(xxhash64(id), 1000) AS k").selectExpr(*columns)
    rows.write.format("delta").option("delta.columnMapping.mode", "name").save(path)
    table = skipstone.table(spark, f"t={path}")
    before = hash_of(table.frame())
    # The first block stays empty.
    assert rewrite(table, cuts=(-1, 500)).files_after == 2
    assert len(list(Path(path).rglob("part-*.parquet"))) == FILES + 2, "the empty file is gone"
    ours = _statistics_in_log(table, 1)
    monkeypatch.setattr(Rewriting, "_delta_statistics", lambda _: None)
    rewrite(table, cuts=(-1, 500))
    assert ours == _statistics_in_log(table, 2)
    assert sum(found["numRecords"] for found in ours) == ROWS
    assert hash_of(table.frame()) == before


def _statistics_in_log(table: skipstone.Table, version: int) -> list[dict[str, Any]]:
    lines = Path(table.source, "_delta_log", f"{version:020}.json").read_text(encoding="utf-8").splitlines()
    added = [json.loads(line)["add"] for line in lines if "add" in json.loads(line)]
    assert len(added) == 2
    return sorted((json.loads(each["stats"]) for each in added), key=str)


def test_columns_named_so_have_no_dictionaries_in_the_new_files(table: skipstone.Table) -> None:
    rewriting = Rewriting(opened(table))
    rewriting.run(replace(plan_of(rewriting.before, "two"), no_dictionaries=("id",)))
    for path in opened(table).files.paths:
        group = pq.read_metadata(Path(table.source, path)).row_group(0)
        dictionaries = {
            group.column(index).path_in_schema: group.column(index).has_dictionary_page for index in (0, 1)
        }
        assert dictionaries == {"id": False, "k": True}


@pytest.mark.usefixtures("usual_plans")
def test_rows_that_spark_has_counted_twice_are_counted_again(
    table: skipstone.Table, before: RowHash, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As after the loss of an executor, whose tasks run again and add to what they have observed before.
    monkeypatch.setattr(
        rewriter, "total_hash", lambda seen: RowHash(seen["rows"] + 300, total_hash(seen).total + 1)
    )
    assert rewrite(table).rows == ROWS
    assert hash_of(table.frame()) == before


@pytest.mark.parametrize(
    ("setting", "value"),
    [("delta.appendOnly", "true"), ("delta.enableRowTracking", "true"), ("delta.enableRowTracking", "TRUE")],
)
def test_tables_that_must_not_be_rewritten_are_refused(
    spark: SparkSession, tmp_path: Path, setting: str, value: str
) -> None:
    path = tmp_path / "t"
    spark.range(0, 2, 1, 1).write.format("delta").option(setting, value).save(str(path))
    table = skipstone.table(spark, f"t={path}")
    with pytest.raises(skipstone.SkipstoneError, match=r"append-only|row tracking"):
        Rewriting(opened(table))
    # Before anything is done, whatever the log is.
    with pytest.raises(skipstone.SkipstoneError, match=r"append-only|row tracking"):
        table.optimize(Workload((Query("SELECT 1"),)))
    assert data_files(table) == 1


def test_a_table_that_delta_compacts_by_itself_is_refused_until_that_is_unset(
    spark: SparkSession, table: skipstone.Table
) -> None:
    for setting in ("delta.autoOptimize.autoCompact", "delta.autoOptimize"):
        set_property(table, setting, "true")
        with pytest.raises(skipstone.SkipstoneError, match=rf"{setting}.*UNSET TBLPROPERTIES"):
            rewrite(table)
        assert data_files(table) == FILES
        spark.sql(f"ALTER TABLE delta.`{table.source}` UNSET TBLPROPERTIES ('{setting}')")
    done = rewrite(table, cuts=range(19, 1_000, 19))
    assert done.files_after > 50
    table.frame().limit(10).write.format("delta").mode("append").save(table.source)
    assert len(opened(table).files) > done.files_after


def test_a_session_in_which_delta_compacts_is_refused(spark: SparkSession, table: skipstone.Table) -> None:
    spark.conf.set("spark.databricks.delta.autoCompact.enabled", "true")
    with pytest.raises(skipstone.SkipstoneError, match=r"autoCompact\.enabled.*unset it"):
        rewrite(table)


def test_rows_that_are_written_block_by_block_are_never_compacted(
    spark: SparkSession, table: skipstone.Table
) -> None:
    set_property(table, "delta.autoOptimize.autoCompact", "true")
    rows = in_session(copied_session(spark, IN_PLACE), table.frame()).repartition(51)
    rows.write.format("delta").mode("append").save(table.source)
    assert len(opened(table).files) == FILES + 51
