"""Joins without a shuffle, on executors that have no class of skipstone."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.cluster.test_actions import on_executors
from tests.light_plans import GENERATED, settings_of

import skipstone

QUERIES = {
    "inner": "SELECT x.id, y.s FROM xs x JOIN ys y ON x.k = y.k",
    "grouped": "SELECT x.id % 7, count(y.s) FROM xs x LEFT JOIN ys y ON x.k = y.k GROUP BY 1",
    "full": "SELECT x.id, y.id FROM xs x FULL JOIN ys y ON x.k = y.k",
    "itself": "SELECT x.id FROM xs x LEFT ANTI JOIN xs y ON x.k = y.k AND x.id > y.id",
}


@pytest.fixture(scope="module")
def expected(spark: SparkSession, shared_tables: Path) -> dict[str, list[str]]:
    """The rows of each query of two tables with deletion vectors, without skipstone."""
    with settings_of(spark, {"spark.databricks.delta.properties.defaults.enableDeletionVectors": "true"}):
        for name, files in (("xs", 8), ("ys", 5)):
            path = shared_tables / name
            frame = spark.range(0, 800, 1, files).selectExpr(
                "id", "IF(id % 31 = 1, NULL, id DIV 2) AS k", "lpad(id, 5, '0') AS s"
            )
            frame.write.format("delta").save(str(path))
            spark.sql(f"DELETE FROM delta.`{path}` WHERE id % 50 = 3")
            skipstone.table(spark, f"{name}={path}").index()
    with settings_of(spark, {"spark.skipstone.enabled": "false"}):
        return {name: sorted(map(repr, spark.sql(text).collect())) for name, text in QUERIES.items()}


@pytest.mark.parametrize(("generated", "hashed"), [("true", "20000"), ("false", "1")])
def test_rows_meet_there_without_being_shuffled(
    spark: SparkSession,
    shared_tables: Path,
    expected: dict[str, list[str]],
    generated: str,
    hashed: str,
) -> None:
    wanted = {
        **GENERATED[generated],
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.skipstone.joins.grouped": "true",
        "spark.skipstone.joins.enabled": "false",
        "spark.skipstone.joins.hashedBytes": hashed,
    }
    table = skipstone.table(spark, f"xs={shared_tables / 'xs'}")
    with settings_of(spark, wanted):
        for name, text in QUERIES.items():
            codes = {join.code for scan in table.explain(text).scans for join in scan.joins}
            assert codes == {"GROUPED"}, (text, codes)
            with on_executors(spark):
                found = sorted(map(repr, spark.sql(text).collect()))
            assert found == expected[name]
            assert found


@pytest.mark.parametrize("generated", ["true", "false"])
def test_files_are_left_out_there_and_small_tables_are_broadcast_to_the_groups(
    spark: SparkSession, shared_tables: Path, generated: str
) -> None:
    # One table is so much larger that it pays to compute the keys of the other one.
    for name, files, wide in (("ps", 8, "sha2(string(id), 256)"), ("qs", 5, "''")):
        path = shared_tables / f"{name}-{generated}"
        spark.range(0, 4000, 1, files).selectExpr(
            "id", "id DIV 2 AS k", "id % 9 AS s", f"{wide} AS wide"
        ).write.format("delta").save(str(path))
        skipstone.table(spark, f"{name}={path}").index()
    spark.range(0, 9, 1, 1).selectExpr("id AS small").createOrReplaceTempView("small")
    query = (
        "SELECT p.id, q.id FROM (SELECT /*+ BROADCAST(small) */ ps.* FROM ps JOIN small ON s = small) p "
        "JOIN qs q ON p.k = q.k AND q.id BETWEEN 350 AND 399"
    )
    wanted = {
        "spark.sql.autoBroadcastJoinThreshold": "-1",
        "spark.skipstone.joins.grouped": "true",
        "spark.skipstone.joins.enabled": "true",
        "spark.sql.codegen.wholeStage": generated,
    }
    with settings_of(spark, wanted):
        with on_executors(spark):
            found = sorted(map(repr, spark.sql(query).collect()))
        table = skipstone.table(spark, f"ps={shared_tables / f'ps-{generated}'}")
        joins = [join for scan in table.explain(query).scans for join in scan.joins]
        assert [join.code for join in joins].count("GROUPED") == 2, joins
        (last,) = (join.last for join in joins if join.last is not None)
        assert 0 < last.files_read < last.files
        with settings_of(spark, {"spark.skipstone.enabled": "false"}):
            assert sorted(map(repr, spark.sql(query).collect())) == found
    assert len(found) == 100
