"""Columns added, renamed, dropped, re-typed, differently spelled, or given another schema by the reader."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import LongType, StructField, StructType
from tests.e2e.checks import assert_reads_all, assert_same, assert_skips, indexed, settings, write_files

import skipstone

MAPPED = "TBLPROPERTIES ('delta.columnMapping.mode' = 'name', 'delta.dataSkippingNumIndexedCols' = '0')"


def _mapped(spark: SparkSession, path: Path) -> skipstone.Table:
    spark.sql(
        f"CREATE TABLE delta.`{path}` (a INT, b STRING, st STRUCT<f: INT, g: INT>) USING delta {MAPPED}"
    )
    for n in (10, 20, 30):
        rows = (
            f"id + {n}, concat('s', id + {n}), named_struct('f', id + {n}, 'g', -id) FROM range(0, 5, 1, 1)"
        )
        spark.sql(f"INSERT INTO delta.`{path}` SELECT CAST(id + {n} AS INT), {rows.split(', ', 1)[1]}")
    return indexed(spark, "mapped", path, features=["a < 15 AND st.f < 15"])


def test_renamed_dropped_and_new_columns_of_an_old_name(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "mapped"
    table = _mapped(spark, path)
    assert_skips(table, "SELECT b FROM mapped WHERE a = 22", rows=1, read=1)
    assert_skips(table, "SELECT b FROM mapped WHERE st.f = 22", rows=1, read=1)
    spark.sql(f"ALTER TABLE delta.`{path}` RENAME COLUMN a TO c")
    spark.sql(f"ALTER TABLE delta.`{path}` ADD COLUMN a INT")
    spark.sql(f"ALTER TABLE delta.`{path}` RENAME COLUMN st.f TO h")
    spark.sql(f"INSERT INTO delta.`{path}` VALUES (99, 'new', named_struct('h', 99, 'g', 0), 22)")
    table = skipstone.table(spark, f"mapped={path}")
    assert_skips(table, "SELECT b FROM mapped WHERE c = 22", rows=1, read=2)
    assert_same(spark, "SELECT b FROM mapped WHERE a = 22", rows=1)
    assert_same(spark, "SELECT b FROM mapped WHERE a IS NULL", rows=15)
    assert_skips(table, "SELECT b FROM mapped WHERE st.h = 22", rows=1, read=2)
    assert_skips(table, "SELECT b FROM mapped WHERE c < 15 AND st.h < 15", rows=5)
    table.index(rebuild=True)
    assert_skips(table, "SELECT b FROM mapped WHERE a = 22", rows=1, read=1)
    spark.sql(f"ALTER TABLE delta.`{path}` DROP COLUMN c")
    spark.sql(f"ALTER TABLE delta.`{path}` ADD COLUMN c INT")
    skipstone.table(spark, f"mapped={path}")
    assert_same(spark, "SELECT b FROM mapped WHERE c IS NULL", rows=16)
    assert_same(spark, "SELECT b FROM mapped WHERE c = 22", rows=0)


def test_a_widened_type_is_another_column_until_indexed(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "widened"
    spark.range(0, 30, 1, 3).selectExpr("CAST(id AS INT) AS x", "CAST(id AS TINYINT) AS y").write.format(
        "delta"
    ).option("delta.enableTypeWidening", "true").save(str(path))
    indexed(spark, "widened", path)
    spark.sql(f"ALTER TABLE delta.`{path}` ALTER COLUMN x TYPE BIGINT")
    spark.sql(f"ALTER TABLE delta.`{path}` ALTER COLUMN y TYPE INT")
    spark.sql(f"INSERT INTO delta.`{path}` VALUES (9000000000, 70000)")
    table = skipstone.table(spark, f"widened={path}")
    assert_same(spark, "SELECT x FROM widened WHERE x = 9000000000", rows=1)
    assert_same(spark, "SELECT x FROM widened WHERE y >= 20", rows=11)
    table.index(rebuild=True)
    assert_skips(table, "SELECT x FROM widened WHERE x = 9000000000", rows=1, read=1)
    assert_skips(table, "SELECT x FROM widened WHERE y = 3", rows=1, read=1)


def test_a_schema_given_by_the_reader(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "given"
    spark.range(0, 30, 1, 3).selectExpr("CAST(id AS INT) AS x", "CAST(id AS STRING) AS s").write.parquet(
        str(path)
    )
    table = indexed(spark, "given", path)
    for schema, condition in {
        "x BIGINT": "x = 5",
        "x DOUBLE": "x = 5.0D",
        "s STRING, y INT": "y IS NULL AND s = '5'",
        "s BINARY": "s = X'35'",
        "y INT": "y IS NULL",
        "X INT": "X = 5",
        "x DECIMAL(12, 2)": "x = 5",
    }.items():

        def query(schema: str = schema, condition: str = condition) -> DataFrame:
            return spark.read.schema(schema).parquet(str(path)).where(condition)

        assert_same(spark, query)
    assert_skips(
        table, lambda: spark.read.schema("x INT, z INT").parquet(str(path)).where("x = 5"), rows=1, read=1
    )


def test_names_are_found_in_any_case(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "cases"
    spark.range(0, 30, 1, 3).selectExpr(
        "id AS CamelCase", "named_struct('Inner', id) AS Outer"
    ).write.parquet(str(path))
    table = indexed(spark, "cases", path, features=["camelcase < 5"])
    assert_skips(table, "SELECT 1 FROM cases WHERE camelCASE = 7", rows=1, read=1)
    assert_skips(table, "SELECT 1 FROM cases WHERE OUTER.inner = 7", rows=1, read=1)


def test_files_that_spell_a_column_differently_follow_the_sessions_case_rule(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "spelled"
    write_files(path, [pa.table({"a": [1, 2]}), pa.table({"A": [5, 6]}), pa.table({"a": [8, 9]})])
    table = indexed(spark, "spelled", path)
    assert_skips(table, "SELECT a FROM spelled WHERE a = 5", rows=1, read=1)
    with settings(spark, spark__sql__caseSensitive="true"):

        def reading() -> DataFrame:
            return spark.read.schema("a BIGINT").parquet(str(path))

        assert_same(spark, lambda: reading().where("a IS NULL"), rows=2)
        assert_same(spark, lambda: reading().where("NOT (a <=> 1)"), rows=5)


def test_a_default_for_older_files_is_seen(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE defaulted (id INT) USING parquet")
    try:
        for n in (1, 2, 3):
            spark.sql(f"INSERT INTO defaulted SELECT /*+ COALESCE(1) */ {n}")
        table = skipstone.table(spark, "defaulted")
        table.index()
        spark.sql("ALTER TABLE defaulted ADD COLUMN extra INT DEFAULT 42")
        spark.sql("INSERT INTO defaulted VALUES (4, 7)")
        assert_same(spark, "SELECT id FROM defaulted WHERE extra = 42", rows=3)
        table.index(rebuild=True)
        assert_reads_all(table, "SELECT id FROM defaulted WHERE extra = 42", rows=3)
        assert_skips(table, "SELECT id FROM defaulted WHERE extra = 42 AND id = 2", rows=1, read=1)
        assert_same(spark, "SELECT id FROM defaulted WHERE extra = 7", rows=1)
    finally:
        spark.sql("DROP TABLE defaulted")


def test_odd_column_names(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "odd"
    spark.range(0, 30, 1, 3).selectExpr(
        "id AS `a.b`", "named_struct('c d', id, 'é`', id) AS `x y`", "id AS `select`", "id AS `_metadata`"
    ).write.parquet(str(path))
    table = indexed(spark, "odd", path)
    for name in ("`a.b`", "`x y`.`c d`", "`x y`.`é```", "`select`", "`_metadata`"):
        assert_skips(table, f"SELECT 1 FROM odd WHERE {name} = 7", rows=1, read=1)


def test_file_metadata_is_no_column_of_the_table(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "metadata"
    spark.range(0, 30, 1, 3).selectExpr("id AS file_size", "id").write.parquet(str(path))
    table = indexed(spark, "metadata", path)
    metadata = f"parquet.`{path}`"
    assert_reads_all(table, f"SELECT id FROM {metadata} WHERE _metadata.file_size > 100", rows=30)
    assert_same(spark, f"SELECT id FROM {metadata} WHERE _metadata.file_name LIKE '%part-00001%'", rows=10)
    assert_skips(
        table, f"SELECT id FROM {metadata} WHERE _metadata.file_size > 100 AND id = 3", rows=1, read=1
    )


def test_columns_read_by_number_are_never_judged(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "numbered"
    spark.conf.set("spark.sql.parquet.fieldId.read.enabled", "true")
    fields = [
        pa.field(name, pa.int64(), metadata={"PARQUET:field_id": str(n)}) for n, name in enumerate("ab")
    ]
    write_files(path, [pa.table([[n], [n + 100]], pa.schema(fields)) for n in (1, 2, 3)])
    table = indexed(spark, "numbered", path)
    assert_skips(table, "SELECT b FROM numbered WHERE a = 2", rows=1, read=1)
    by_number = StructType([StructField("a", LongType(), True, {"parquet.field.id": 1})])  # stored as b
    assert_same(spark, lambda: spark.read.schema(by_number).parquet(str(path)).where("a + 0 = 102"))
    assert_same(spark, lambda: spark.read.schema(by_number).parquet(str(path)).where("a = 102"))
