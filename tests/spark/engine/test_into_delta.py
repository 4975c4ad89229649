"""Copies and conversions: made only when all fits, taken away again when what follows fails."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.opened import opened
from tests.two_blocks import plan_of

import skipstone
from skipstone.spark.engine.into_delta import Conversion, Copy
from skipstone.spark.engine.rewrite import Rewriting
from skipstone.spark.engine.row_hash import hash_of

ROWS = 200


@pytest.fixture
def table(spark: SparkSession, copied: Callable[..., Path]) -> skipstone.Table:
    """A directory of two Parquet files."""
    rows = spark.range(0, ROWS, 1, 2).selectExpr("id", "pmod(xxhash64(id), 1000) AS k")
    path = copied("two-parquet-files", lambda path: rows.write.parquet(str(path)))
    return skipstone.table(spark, f"t={path}")


def fail() -> None:
    raise skipstone.SkipstoneError("what follows has failed.")


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
            Copy(opened(table), output).check()
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("existed", [False, True])
def test_a_copy_is_deleted_when_what_follows_fails(
    table: skipstone.Table, tmp_path: Path, existed: bool
) -> None:
    output, rows = tmp_path / "deep" / "copy", hash_of(table.frame())
    if existed:
        output.mkdir(parents=True)
    with (  # noqa: PT012
        pytest.raises(skipstone.SkipstoneError, match="what follows has failed"),
        Copy(opened(table), str(output)).made() as copy,
    ):
        assert (output / "_delta_log").exists()
        assert (copy.snapshot.format, hash_of(copy.live(copy.file_indices))) == ("delta", rows)
        fail()
    assert output.exists() == existed
    assert not existed or list(output.iterdir()) == [], "the folder was there before"
    assert hash_of(table.frame()) == rows


def test_a_copy_that_somebody_else_has_written_to_stays(
    spark: SparkSession, table: skipstone.Table, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    output = str(tmp_path / "copy")
    with (  # noqa: PT012
        pytest.raises(skipstone.SkipstoneError, match="what follows has failed"),
        Copy(opened(table), output).made(),
    ):
        table.frame().limit(7).write.format("delta").mode("append").save(output)
        fail()
    assert f"{output} stays, for somebody has written to it." in caplog.text
    assert spark.read.format("delta").load(output).count() == ROWS + 7


def test_a_conversion_is_undone_when_what_follows_fails(
    table: skipstone.Table, caplog: pytest.LogCaptureFixture
) -> None:
    rows, log = hash_of(table.frame()), Path(table.source) / "_delta_log"
    with (  # noqa: PT012
        pytest.raises(skipstone.SkipstoneError, match="what follows has failed"),
        Conversion(opened(table)).made() as made,
    ):
        assert made.snapshot.format == "delta"
        assert log.exists()
        fail()
    assert not log.exists()
    assert (opened(table).snapshot.format, hash_of(table.frame())) == ("parquet", rows)

    # Files that a rewrite has begun are no rows of the table, and without the Delta log they would be.
    some = next(Path(table.source).glob("*.parquet"))
    with (  # noqa: PT012
        pytest.raises(skipstone.SkipstoneError, match="what follows has failed"),
        Conversion(opened(table)).made(),
    ):
        shutil.copy(some, some.with_name("begun.parquet"))
        fail()
    assert "_delta_log stays, for files that are no part of the table lie beside it" in caplog.text
    assert (opened(table).snapshot.format, hash_of(table.frame())) == ("delta", rows)


def test_a_directory_with_files_that_spark_does_not_read_is_not_converted(table: skipstone.Table) -> None:
    before = hash_of(table.frame())
    aside = Path(table.source) / "aside"
    aside.mkdir()
    some = next(Path(table.source).glob("*.parquet"))
    shutil.copy(some, aside / "part-of-another.parquet")
    assert hash_of(table.frame()) == before
    with pytest.raises(skipstone.SkipstoneError, match=r"belong to it \(aside/part-of-another.parquet\)"):
        Conversion(opened(table)).check()
    assert not (Path(table.source) / "_delta_log").exists()


def test_a_directory_with_odd_names_is_converted_and_rewritten(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "odd`name"
    odd = spark.range(0, ROWS, 1, 1).selectExpr("id * 5 AS k", "CAST(id % 2 AS INT) AS `p``q`")
    odd.write.partitionBy("p`q").parquet(str(path))
    table = skipstone.table(spark, f"odd={path}")
    before = hash_of(table.frame())
    conversion = Conversion(opened(table))
    conversion.check()
    with conversion.made() as made:
        rewriting = Rewriting(made)
        rewriting.run(plan_of(rewriting.before, "two"))
    assert (opened(table).snapshot.format, len(opened(table).files)) == ("delta", 4)
    assert hash_of(table.frame()) == before
