"""Whatever happens during a rewrite, the table is the old one or the new one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from tests.opened import opened

import skipstone
from skipstone.errors import TableChangedError
from skipstone.spark.engine import rewrite
from skipstone.spark.engine.job_settings import IN_PLACE
from skipstone.spark.engine.rewrite import Rewriting
from skipstone.spark.engine.row_hash import RowHash, hash_of, total_hash
from skipstone.spark.engine.session_copy import copied_session, in_session
from skipstone.workload.queries import Workload

Make = Callable[..., skipstone.Table]


def during_write(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], None]) -> None:
    """Let something happen after the new files are written and before they are committed."""
    write = Rewriting._write

    def slow(self: Rewriting, *args: object) -> object:
        written = write(self, *args)  # type: ignore[arg-type]
        happens()
        return written

    monkeypatch.setattr(Rewriting, "_write", slow)


def data_files(table: skipstone.Table) -> int:
    return len(list(Path(table.source).glob("*.parquet")))


def test_a_concurrent_append_is_kept(
    spark: SparkSession, shipments: Make, log: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = shipments()
    extra = spark.read.format("delta").load(table.source).where("id < 100")
    during_write(monkeypatch, lambda: extra.write.format("delta").mode("append").save(table.source))
    table.optimize(log, "qdtree", block_rows=600)
    assert table.frame().count() == 12_100


def test_a_concurrent_delete_wins_and_the_rewrite_says_so(
    spark: SparkSession, shipments: Make, log: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = shipments()
    files = data_files(table)
    during_write(monkeypatch, lambda: spark.sql(f"DELETE FROM delta.`{table.source}` WHERE id = 5").collect())
    with pytest.raises(skipstone.SkipstoneError, match="changed by somebody else"):
        table.optimize(log, "qdtree", block_rows=600)
    assert table.frame().count() == 11_999
    assert data_files(table) <= files + 1


def test_the_second_of_two_rewrites_is_refused(
    shipments: Make, log: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = shipments()
    before = hash_of(table.frame())
    turn: list[str] = []

    def other() -> None:
        if not turn:
            turn.append("taken")
            table.optimize(log, "range", block_rows=900)

    during_write(monkeypatch, other)
    with pytest.raises(skipstone.SkipstoneError, match="changed by somebody else"):
        table.optimize(log, "qdtree", block_rows=600)
    assert hash_of(table.frame()) == before


@pytest.mark.parametrize("stage", ["_write", "commit", "compute", "publish", "hash_of"])
def test_a_failure_at_any_stage_leaves_the_old_table(
    shipments: Make, log: Workload, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    table = shipments()
    before, files = hash_of(table.frame()), data_files(table)

    def fail(*_: object, **__: object) -> object:
        raise OSError("No space left on device")

    if stage == "commit":
        monkeypatch.setattr(rewrite, "publish", lambda *_: None)
        during_write(monkeypatch, fail)
    else:
        monkeypatch.setattr(Rewriting if stage == "_write" else rewrite, stage, fail)
    with pytest.raises(OSError, match="No space left"):
        table.optimize(log, "qdtree", block_rows=600)
    monkeypatch.undo()
    assert hash_of(table.frame()) == before
    assert data_files(table) == files
    assert opened(table).snapshot.version == 0


def test_a_commit_after_which_delta_fails_stays(
    spark: SparkSession, shipments: Make, log: Workload, caplog: pytest.LogCaptureFixture
) -> None:
    table = shipments()
    before = hash_of(table.frame())
    setting = "delta.compatibility.symlinkFormatManifest.enabled"
    spark.sql(f"ALTER TABLE delta.`{table.source}` SET TBLPROPERTIES ('{setting}' = 'true')")
    manifest = Path(table.source, "_symlink_format_manifest")
    manifest.write_text("no directory, so Delta cannot write its manifest here")
    report = table.optimize(log, "qdtree", block_rows=600)
    assert report.layout_id
    assert "but then Delta failed" in caplog.text
    assert hash_of(table.frame()) == before
    assert hash_of(spark.read.format("delta").load(table.source)) == before


@pytest.mark.parametrize("problem", [OSError("gone"), KeyboardInterrupt()])
def test_a_failure_after_the_commit_leaves_the_new_table(
    shipments: Make, log: Workload, monkeypatch: pytest.MonkeyPatch, problem: BaseException
) -> None:
    table = shipments()
    before = hash_of(table.frame())
    commit = Rewriting._commit

    def fail(self: Rewriting) -> int:
        commit(self)
        raise problem

    monkeypatch.setattr(Rewriting, "_commit", fail)
    with pytest.raises(type(problem)):
        table.optimize(log, "qdtree", block_rows=600)
    monkeypatch.undo()
    assert opened(table).snapshot.version == 1
    assert hash_of(table.frame()) == before


def test_a_changed_schema_wins_too(
    spark: SparkSession, shipments: Make, log: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = shipments()
    before, files = hash_of(table.frame()), data_files(table)
    alter = f"ALTER TABLE delta.`{table.source}` SET TBLPROPERTIES ('delta.checkpointInterval' = '7')"
    during_write(monkeypatch, lambda: spark.sql(alter).collect())
    with pytest.raises(TableChangedError, match="changed by somebody else"):
        table.optimize(log, "qdtree", block_rows=600)
    assert hash_of(table.frame()) == before
    assert data_files(table) == files


def test_rows_that_do_not_agree_are_never_committed(
    shipments: Make, log: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = shipments()
    before, files = hash_of(table.frame()), data_files(table)
    monkeypatch.setattr(rewrite, "hash_of", lambda _: RowHash(before.rows, before.total + 1))
    with pytest.raises(skipstone.SkipstoneError, match="stopped before its commit"):
        table.optimize(log, "qdtree", block_rows=600)
    monkeypatch.undo()
    assert hash_of(table.frame()) == before
    assert data_files(table) == files


@pytest.mark.parametrize("damage", ["missing", "corrupt"])
def test_a_file_that_cannot_be_read_stops_a_rewrite_even_if_the_session_ignores_it(
    spark: SparkSession, shipments: Make, log: Workload, damage: str, tmp_path: Path
) -> None:
    table = shipments()
    version = opened(table).snapshot.version
    *_, file = sorted(Path(table.source).glob("*.parquet"))
    healthy = file.read_bytes()
    file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
    spark.conf.set("spark.sql.files.ignoreCorruptFiles", "true")
    spark.conf.set("spark.sql.files.ignoreMissingFiles", "true")
    if damage == "missing":
        file.unlink()
    else:
        file.write_bytes(healthy[:4] + bytes(len(healthy) // 2) + healthy[4 + len(healthy) // 2 :])
    assert table.frame().selectExpr("sum(id)", "max(price)", "max(weight)").count() == 1
    for output in (None, str(tmp_path / "copy")):
        with pytest.raises((skipstone.SkipstoneError, PySparkException, Py4JJavaError)):
            table.optimize(log, "qdtree", block_rows=600, output=output)
    assert opened(table).snapshot.version == version
    file.write_bytes(healthy)
    assert table.frame().count() == 12_000


def test_rows_that_spark_has_counted_twice_are_counted_again(
    shipments: Make, log: Workload, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = shipments()
    before = hash_of(table.frame())
    # As after the loss of an executor, whose tasks run again and add to what they have observed before.
    monkeypatch.setattr(
        rewrite, "total_hash", lambda seen: RowHash(seen["rows"] + 3_000, total_hash(seen).total + 1)
    )
    assert table.optimize(log, "qdtree", block_rows=600).rows == before.rows
    assert hash_of(table.frame()) == before


@pytest.mark.parametrize(
    ("setting", "value"),
    [("delta.appendOnly", "true"), ("delta.enableRowTracking", "true"), ("delta.enableRowTracking", "TRUE")],
)
def test_tables_that_must_not_be_rewritten_are_refused(
    spark: SparkSession, shipments: Make, log: Workload, setting: str, value: str
) -> None:
    table = shipments()
    spark.sql(f"ALTER TABLE delta.`{table.source}` SET TBLPROPERTIES ('{setting}' = '{value}')")
    files = data_files(table)
    with pytest.raises(skipstone.SkipstoneError, match=r"append-only|row tracking"):
        table.optimize(log, "qdtree", block_rows=600)
    assert data_files(table) == files


@pytest.mark.parametrize("setting", ["delta.autoOptimize.autoCompact", "delta.autoOptimize"])
def test_a_table_that_delta_compacts_by_itself_is_refused_until_that_is_unset(
    spark: SparkSession, shipments: Make, log: Workload, setting: str
) -> None:
    table = shipments()
    spark.sql(f"ALTER TABLE delta.`{table.source}` SET TBLPROPERTIES ('{setting}' = 'true')")
    files = data_files(table)
    with pytest.raises(skipstone.SkipstoneError, match=rf"{setting}.*UNSET TBLPROPERTIES"):
        table.optimize(log, "zorder", block_rows=200)
    assert data_files(table) == files
    spark.sql(f"ALTER TABLE delta.`{table.source}` UNSET TBLPROPERTIES ('{setting}')")
    report = table.optimize(log, "zorder", block_rows=200)
    assert report.files_after > 50
    table.frame().limit(10).write.format("delta").mode("append").save(table.source)
    assert len(opened(table).files) > report.files_after


def test_a_session_in_which_delta_compacts_is_refused(
    spark: SparkSession, shipments: Make, log: Workload
) -> None:
    table = shipments()
    spark.conf.set("spark.databricks.delta.autoCompact.enabled", "true")
    with pytest.raises(skipstone.SkipstoneError, match=r"autoCompact\.enabled.*unset it"):
        table.optimize(log, "zorder", block_rows=200)


def test_rows_that_are_written_block_by_block_are_never_compacted(
    spark: SparkSession, shipments: Make
) -> None:
    table = shipments()
    setting = "delta.autoOptimize.autoCompact"
    spark.sql(f"ALTER TABLE delta.`{table.source}` SET TBLPROPERTIES ('{setting}' = 'true')")
    rows = in_session(copied_session(spark, IN_PLACE), table.frame()).repartition(60)
    rows.write.format("delta").mode("append").save(table.source)
    assert len(opened(table).files) == 64
