from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import skipstone
from skipstone.workload.queries import Query, Workload

ROWS = 12_000


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where tables lie that tests get copies of: files are copied in far less time than written."""
    return tmp_path_factory.mktemp("templates")


@pytest.fixture
def shipments(spark: SparkSession, templates: Path, tmp_path: Path) -> Callable[..., skipstone.Table]:
    """Makes a table of shuffled shipments, with NULLs and every kind of column that a rewrite must keep."""

    def make(format_: str = "delta", rows: int = ROWS) -> skipstone.Table:
        template, path = templates / f"{format_}-{rows}", tmp_path / "shipments"
        if not template.exists():
            _write_shipments(spark, template, format_, rows)
        # With the times of the files, for these are part of what statistics are about.
        shutil.copytree(template, path)
        return skipstone.table(spark, f"shipments={path}")

    return make


def _write_shipments(spark: SparkSession, path: Path, format_: str, rows: int) -> None:
    spark.range(0, rows, 1, 4).selectExpr(
        "id",
        "pmod(xxhash64(id), 1000) AS k",
        "array('AIR', 'RAIL', 'SHIP', 'MAIL', NULL)[pmod(xxhash64(id, 1), 5)] AS mode",
        "date_add(DATE'2020-01-01', CAST(pmod(xxhash64(id, 2), 700) AS INT)) AS d",
        "CAST(id / 7 AS DECIMAL(20, 5)) AS price",
        "IF(id % 13 = 0, double('NaN'), id * 1.5D) AS weight",
        "map('courier', CAST(id % 10 AS STRING)) AS attrs",
        "named_struct('a', id * 2, 'b', IF(id % 3 = 0, NULL, 'x')) AS nested",
        "encode(CAST(id AS STRING), 'utf-8') AS raw",
    ).write.format(format_).save(str(path))


@pytest.fixture
def log() -> Workload:
    """Two kinds of queries that recur, with a filter that min/max cannot serve among them."""
    texts = [
        f"SELECT count(*) FROM shipments WHERE mode = '{mode}' AND k < {most}"
        for mode in ("AIR", "RAIL")
        for most in (50, 100)
    ]
    texts += [f"SELECT sum(id) FROM shipments WHERE month(d) = {month} AND k >= 900" for month in (2, 3)]
    return Workload(tuple(Query(text) for text in texts * 5))
