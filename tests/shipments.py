"""A table of shuffled shipments, with NULLs and every kind of column that a rewrite must keep."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

ROWS = 6_000


def write_shipments(spark: SparkSession, path: Path, format_: str, rows: int) -> None:
    """Write it in four files."""
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
