"""Tables that change after a replica was made: it answers for what is the same, and for nothing else."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.e2e.checks import answer, assert_same, scan_of, settings
from tests.e2e.replicated import (
    COLUMNS,
    assert_base,
    assert_copied,
    log_text,
    replicate,
    verdicts,
    write_rows,
)

import skipstone
from skipstone.actions import lay_out
from skipstone.actions.replicate import Replicate
from skipstone.layout.options import LayoutOptions
from skipstone.workload.queries import Query, Workload


def name_of(table: skipstone.Table) -> str:
    return f"delta.`{table.source}`"


def low(table: skipstone.Table, version: int | None = None) -> str:
    """A query that the replica serves."""
    travelled = "" if version is None else f" VERSION AS OF {version}"
    return f"SELECT * FROM {name_of(table)}{travelled} WHERE k < 60"


def verdicts_of(table: skipstone.Table, query: str) -> dict[str, int]:
    """The verdicts on a query that answers the same."""
    assert_same(table.spark, query)
    return dict(verdicts(scan_of(table, query)))


def test_appended_rows_are_read_from_the_base_until_the_replica_is_refreshed(
    spark: SparkSession, replicated: skipstone.Table
) -> None:
    before = len(assert_same(spark, low(replicated)))
    write_rows(spark, Path(replicated.source), start=1000, rows=100)
    scan = assert_copied(replicated, low(replicated), partitions=2)
    assert scan.files_total == 10
    assert len(assert_same(spark, low(replicated))) > before
    (status,) = replicated.replicas().replicas
    assert (status.files_covered, replicated.replicas().files) == (8, 10)
    report = replicated.refresh()
    assert (report.partitions_made, report.partitions_retired, report.rows) == (1, 0, 100)
    assert_copied(replicated, low(replicated))
    assert replicated.replicas().replicas[0].files_covered == 10
    again = replicated.refresh()
    assert (again.partitions_made, again.partitions_retired) == (0, 0)


def test_a_deletion_vector_makes_a_partition_stale_and_restore_makes_it_valid(
    spark: SparkSession, replicated: skipstone.Table
) -> None:
    spark.sql(f"DELETE FROM {name_of(replicated)} WHERE id = 5")
    assert '"deletionVector"' in log_text(Path(replicated.source))
    assert verdicts_of(replicated, low(replicated)) == {"STALE": 1, "CHEAPER": 1}
    spark.sql(f"RESTORE TABLE {name_of(replicated)} TO VERSION AS OF 0")
    assert_copied(replicated, low(replicated))
    spark.sql(f"DELETE FROM {name_of(replicated)} WHERE k < 30 AND id < 150")
    report = replicated.refresh()
    assert (report.partitions_retired, report.partitions_made) == (1, 1)
    assert_copied(replicated, low(replicated))
    assert_copied(replicated, f"SELECT * FROM {name_of(replicated)} WHERE k < 30 AND id < 150", rows=0)
    spark.sql(f"RESTORE TABLE {name_of(replicated)} TO VERSION AS OF 0")
    assert verdicts_of(replicated, low(replicated)) == {"STALE": 1, "CHEAPER": 1}


def test_every_version_is_answered_as_it_was(spark: SparkSession, replicated: skipstone.Table) -> None:
    spark.sql(f"UPDATE {name_of(replicated)} SET name = 'new' WHERE id < 20")
    write_rows(spark, Path(replicated.source), start=1000, rows=100)
    assert_copied(replicated, low(replicated, 0))
    assert "name='new'" not in str(assert_same(spark, low(replicated, 0)))
    assert verdicts_of(replicated, low(replicated, 1)) == {"STALE": 1, "CHEAPER": 1}
    replicated.refresh()
    assert_copied(replicated, low(replicated))
    for version in (0, 1):
        found = verdicts_of(replicated, low(replicated, version))
        assert found["CHEAPER"] >= 1
        assert found["STALE"] >= 1
    spark.sql(f"RESTORE TABLE {name_of(replicated)} TO VERSION AS OF 0")
    assert_same(spark, low(replicated))
    assert len(assert_same(spark, f"SELECT * FROM {name_of(replicated)}")) == 400


def test_files_rewritten_by_delta_make_all_stale_until_refreshed(
    spark: SparkSession, replicated: skipstone.Table
) -> None:
    spark.sql(f"OPTIMIZE {name_of(replicated)}")
    assert_base(replicated, low(replicated), "STALE")
    report = replicated.refresh()
    assert (report.partitions_retired, report.rows) == (2, 400)
    assert_same(spark, low(replicated))
    assert verdicts_of(replicated, low(replicated, 0)) == {"STALE": report.partitions_made}


STATEMENTS = [
    "INSERT INTO {t} SELECT id + 5000, k, name, p, st FROM {t} WHERE k < 60",
    "INSERT INTO {t} SELECT a.id + 9000, k, b.name, a.p, a.st FROM {t} a JOIN {t} b USING (k) WHERE k < 40",
    "UPDATE {t} SET name = 'low' WHERE k < 60",
    "UPDATE {t} SET name = upper(name), k = k + 1 WHERE st.b IS NULL AND k > 100",
    "DELETE FROM {t} WHERE k < 20",
    "DELETE FROM {t} WHERE id % 50 = 3 OR k > 980",
    (
        "MERGE INTO {t} m USING (SELECT id, k FROM {t} WHERE k < 60 AND id < 9000) s ON m.id = s.id "
        "WHEN MATCHED AND s.k < 30 THEN DELETE WHEN MATCHED THEN UPDATE SET name = 'merged'"
    ),
    "INSERT OVERWRITE {t} SELECT * FROM {t} WHERE k < 700",
]


def test_statements_that_write_read_the_table_and_never_touch_the_replica(
    spark: SparkSession, replicated: skipstone.Table, tmp_path: Path
) -> None:
    path, twin = Path(replicated.source), tmp_path / "twin"
    shutil.copytree(path, twin, ignore=shutil.ignore_patterns("_skipstone"))
    kept = sorted((path / "_skipstone" / "replicas").rglob("*"))
    for statement in STATEMENTS:
        # As the replica is valid for what the statement reads, or as it is stale.
        for number, target in enumerate((path, twin)):
            with settings(spark, spark__skipstone__enabled="true" if number == 0 else "false"):
                spark.sql(statement.format(t=f"delta.`{target}`"))
        assert answer(spark, f"SELECT * FROM delta.`{path}`") == answer(
            spark, f"SELECT * FROM delta.`{twin}`"
        )
        assert_same(spark, low(replicated))
    assert "_skipstone" not in log_text(path)
    assert sorted((path / "_skipstone" / "replicas").rglob("*")) == kept


def test_a_new_table_is_filled_from_the_replica(
    spark: SparkSession, replicated: skipstone.Table, tmp_path: Path
) -> None:
    new = tmp_path / "new"
    spark.sql(f"CREATE TABLE delta.`{new}` USING delta AS {low(replicated)}")
    assert answer(spark, f"SELECT * FROM delta.`{new}`") == assert_same(spark, low(replicated))
    assert "_skipstone" not in log_text(new)
    spark.sql(low(replicated)).write.parquet(str(tmp_path / "plain"))
    assert answer(spark, f"SELECT * FROM parquet.`{tmp_path / 'plain'}`") == assert_same(
        spark, low(replicated)
    )


def test_an_overwritten_table_is_read_from_its_new_files(
    spark: SparkSession, replicated: skipstone.Table
) -> None:
    spark.table(name_of(replicated)).where("k < 500").write.format("delta").mode("overwrite").save(
        replicated.source
    )
    assert_base(replicated, low(replicated), "STALE")
    spark.range(10).write.format("delta").mode("overwrite").option("overwriteSchema", "true").save(
        replicated.source
    )
    assert_same(spark, f"SELECT * FROM {name_of(replicated)} WHERE id < 5", rows=5)
    assert_copied(replicated, low(replicated, 0))


def test_an_added_column_is_read_from_the_base_until_refreshed(
    spark: SparkSession, replicated: skipstone.Table
) -> None:
    spark.sql(f"ALTER TABLE {name_of(replicated)} ADD COLUMNS (extra STRING)")
    assert_base(replicated, low(replicated), "OTHER_SCHEMA")
    assert_copied(replicated, low(replicated, 0))
    spark.range(1000, 1100, 1, 2).selectExpr(*COLUMNS, "'new' AS extra").write.format("delta").mode(
        "append"
    ).save(replicated.source)
    report = replicated.refresh()
    assert (report.partitions_retired, report.rows) == (2, 500)
    assert_copied(replicated, low(replicated))
    assert_same(spark, f"SELECT count(extra) FROM {name_of(replicated)} WHERE k < 60")
    assert_same(spark, low(replicated, 0))


def test_a_widened_column_is_read_from_the_base_until_refreshed(
    spark: SparkSession, replicated: skipstone.Table
) -> None:
    spark.sql(f"ALTER TABLE {name_of(replicated)} SET TBLPROPERTIES ('delta.enableTypeWidening' = 'true')")
    assert_copied(replicated, low(replicated))
    spark.sql(f"ALTER TABLE {name_of(replicated)} ALTER COLUMN k TYPE BIGINT")
    assert_base(replicated, low(replicated), "OTHER_SCHEMA")
    assert_copied(replicated, low(replicated, 1))
    spark.sql(
        f"INSERT INTO {name_of(replicated)} SELECT id + 1000, k - 1e10, name, p, st FROM ({low(replicated)})"
    )
    report = replicated.refresh()
    assert report.partitions_retired == 2
    middle = f"SELECT * FROM {name_of(replicated)} WHERE k BETWEEN 500 AND 520"
    assert verdicts_of(replicated, middle)["CHEAPER"] >= 2
    assert_same(spark, f"SELECT * FROM {name_of(replicated)} WHERE k < 0")
    # The files of version 1 are the same ones, and narrower.
    assert set(verdicts_of(replicated, low(replicated, 1))) <= {"OTHER_SCHEMA", "STALE"}


MAPPING = "spark__databricks__delta__properties__defaults__columnMapping__mode"


def test_columns_that_are_mapped_by_their_number_are_answered_as_without_a_replica(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "numbered"
    name = f"delta.`{path}`"
    spark.conf.set("spark.sql.parquet.fieldId.read.enabled", "true")
    with settings(spark, **{MAPPING: "id"}):
        write_rows(spark, path)
    table = skipstone.table(spark, str(path))
    replicate(table)
    assert_same(spark, low(table))
    spark.sql(f"ALTER TABLE {name} RENAME COLUMN k TO kk")
    assert_same(spark, f"SELECT * FROM {name} WHERE kk < 60")
    spark.sql(f"ALTER TABLE {name} DROP COLUMN name")
    assert_same(spark, f"SELECT * FROM {name} WHERE kk < 60")
    assert_same(spark, low(table, 0))


def test_renamed_dropped_and_swapped_columns(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "mapped"
    name = f"delta.`{path}`"
    with settings(spark, **{MAPPING: "name"}):
        write_rows(spark, path)
    table = skipstone.table(spark, str(path))
    replicate(table)
    assert_copied(table, low(table))
    spark.sql(f"ALTER TABLE {name} RENAME COLUMN k TO kk")
    assert_copied(table, f"SELECT * FROM {name} WHERE kk < 60")
    spark.sql(f"ALTER TABLE {name} RENAME COLUMN st.a TO aa")
    assert_copied(table, f"SELECT id, st.aa FROM {name} WHERE kk < 60 AND st.aa > 100")
    spark.sql(f"ALTER TABLE {name} DROP COLUMN name")
    assert_copied(table, f"SELECT * FROM {name} WHERE kk < 60")
    dropped = spark.sql(f"DESCRIBE HISTORY {name} LIMIT 1").collect()[0]["version"]
    write_rows_mapped(spark, path)
    report = table.refresh()
    assert (report.partitions_made, report.partitions_retired) == (1, 0)
    assert_copied(table, f"SELECT * FROM {name} WHERE kk < 60")
    for old, new in (("p", "tmp"), ("kk", "p"), ("tmp", "kk")):
        spark.sql(f"ALTER TABLE {name} RENAME COLUMN {old} TO {new}")
    assert_copied(table, f"SELECT * FROM {name} WHERE p < 60")
    assert_same(spark, f"SELECT * FROM {name} WHERE kk < 1")
    spark.sql(f"ALTER TABLE {name} ADD COLUMNS (name STRING)")
    assert_base(table, f"SELECT id, name FROM {name} WHERE p < 60", "OTHER_SCHEMA")
    # The column that was dropped is in the base files, and in the replica that was made before.
    assert_copied(table, low(table, 0), partitions=2)
    (replica,) = table.replicas().replicas
    table.drop(replica.id)
    replicate(table, by="p")
    assert set(verdicts_of(table, low(table, 0))) == {"OTHER_SCHEMA", "STALE"}
    assert_copied(table, f"SELECT * FROM {name} WHERE p < 60")
    assert_same(spark, f"SELECT * FROM {name} VERSION AS OF {dropped} WHERE kk < 60")


@pytest.mark.parametrize("layout", ["qdtree", "zorder", "hyper"])
def test_a_replica_is_refreshed_though_the_column_that_it_goes_by_was_renamed_or_dropped(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str
) -> None:
    monkeypatch.setattr(lay_out, "_PAGE_ROWS", 10)  # so that rows are sorted in small blocks too
    path = tmp_path / "mapped"
    name = f"delta.`{path}`"
    with settings(spark, **{MAPPING: "name"}):
        write_rows(spark, path)
    table = skipstone.table(spark, str(path))
    log = Workload(tuple(Query(f"SELECT 1 FROM {name} WHERE k < {most}") for most in (60, 200, 500)))
    table.perform(Replicate(None if layout == "hyper" else log, layout, LayoutOptions(block_rows=40), 200))
    spark.sql(f"ALTER TABLE {name} RENAME COLUMN k TO kk")
    write_rows_mapped(spark, path, "name")
    assert table.refresh().rows == 100
    assert_same(spark, f"SELECT * FROM {name} WHERE kk < 60")
    spark.sql(f"ALTER TABLE {name} DROP COLUMN kk")
    spark.sql(f"ALTER TABLE {name} ADD COLUMN (k STRING)")
    spark.sql(f"UPDATE {name} SET k = 'new' WHERE id % 2 = 0")
    assert table.refresh().rows == 500
    (replica,) = table.replicas().replicas
    assert replica.partitions_valid == replica.partitions
    assert_same(spark, f"SELECT * FROM {name} WHERE k = 'new' AND p = 1")
    assert_same(spark, f"SELECT * FROM {name} WHERE id < 100")


def write_rows_mapped(spark: SparkSession, path: Path, *more: str) -> None:
    """More rows for a table whose columns were renamed and dropped."""
    spark.range(1000, 1100, 1, 2).selectExpr(
        "id",
        "CAST(pmod(xxhash64(id), 1000) AS INT) AS kk",
        *(f"CAST(id AS STRING) AS {column}" for column in more),
        "id % 3 AS p",
        f"named_struct('{'a' if more else 'aa'}', id, 'b', 'x') AS st",
    ).write.format("delta").mode("append").save(str(path))
