"""Removing skipstone, by the steps of docs/production.md, leaves an ordinary Delta table."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import skipstone
from skipstone.workload.queries import Query, Workload

PAGE = (Path(__file__).parents[2] / "docs" / "production.md").read_text(encoding="utf-8")


def steps(path: Path) -> str:
    """The code of the section on removal, for the table at ``path``."""
    section = PAGE.partition("\n## Removing it\n")[2]
    found = re.search(r"(?s)```python\n(.*?)```", section)
    assert found
    return textwrap.dedent(found[1]).replace("path/to/orders", str(path))


def test_the_steps_leave_an_ordinary_delta_table_with_the_same_rows(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "orders"
    source = spark.range(0, 800, 1, 4).selectExpr("id", "id % 8 AS kind", "cast(id AS string) AS text")
    source.write.format("delta").save(str(path))
    skipstone.enable(spark, log=True)
    table = skipstone.table(spark, f"removed={path}")
    table.index(features=["text LIKE '%9%'"])
    assert spark.sql("SELECT * FROM removed WHERE kind = 3").count() == 100
    assert len(table.log()) == 1
    report = table.optimize(
        Workload((Query("SELECT * FROM removed WHERE kind = 3"),)), layout="qdtree", block_rows=100
    )
    assert report.version == 1
    try:
        exec(steps(path), {"spark": spark})
        assert {each.name for each in path.iterdir() if each.is_dir()} == {"_delta_log"}
        rows = spark.read.format("delta").load(str(path))
        assert rows.orderBy("id").collect() == source.orderBy("id").collect()
        detail = spark.sql(f"DESCRIBE DETAIL delta.`{path}`").collect()[0]
        assert (detail.properties, detail.minReaderVersion, detail.minWriterVersion) == ({}, 1, 2)
        history = spark.sql(f"DESCRIBE HISTORY delta.`{path}`").collect()
        assert [(commit.version, commit.operation) for commit in history] == [(1, "OPTIMIZE"), (0, "WRITE")]
        assert {commit.userMetadata for commit in history} == {None}
        for file in path.glob("*.parquet"):
            assert not any(b"skipstone" in key for key in pq.read_metadata(file).metadata)
        spark.sql(f"DELETE FROM delta.`{path}` WHERE kind = 3")
        assert spark.read.format("delta").load(str(path)).count() == 700
        spark.sql(f"RESTORE delta.`{path}` TO VERSION AS OF 0")
        assert spark.read.format("delta").load(str(path)).where("kind = 3").count() == 100
        assert not (path / "_skipstone").exists()
    finally:
        skipstone.enable(spark, log=False)


def test_deltas_optimize_merges_the_blocks_of_a_layout(spark: SparkSession, tmp_path: Path) -> None:
    """The page warns of it; should Delta change its mind, so must the page."""
    path = tmp_path / "orders"
    spark.range(0, 400, 1, 4).selectExpr("id", "id % 8 AS kind").write.format("delta").save(str(path))
    table = skipstone.table(spark, f"merged={path}")
    table.index()
    queries = Workload((Query("SELECT * FROM merged WHERE kind = 3"),))
    assert table.optimize(queries, layout="qdtree", block_rows=100).files_after > 1
    spark.sql(f"OPTIMIZE delta.`{path}`")
    assert table.status().files == 1
    assert table.status().files_indexed == 0


@pytest.mark.parametrize("word", ["LOST_RACE", "OTHER_SETTINGS"])
def test_codes_that_pages_mention_exist(word: str) -> None:
    sources = Path(__file__).parents[2] / "src"
    assert any(word in each.read_text(encoding="utf-8") for each in sources.rglob("*.py"))
