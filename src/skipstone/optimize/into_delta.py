"""Parquet directories on their way to Delta: converted where they lie, or copied to a new table."""

from __future__ import annotations

import json

import numpy as np

from skipstone.errors import SkipstoneError
from skipstone.spark import SparkSession
from skipstone.spark.column_names import quoted
from skipstone.spark.copied import copied_session
from skipstone.spark.job_settings import EXACT
from skipstone.spark.row_hash import RowHash, hash_of
from skipstone.spark.table_files import TableFiles, open_files

__all__ = ["convert_to_delta", "copy_to_delta"]


def convert_to_delta(spark: SparkSession, files: TableFiles, name: str | None = None) -> None:
    """Write a Delta log beside the Parquet files; no file is moved. A table of a catalog has a ``name``."""
    spark = copied_session(spark, EXACT)
    _refuse_other_files(spark, files)
    if name is None:
        fields = json.loads(files.partition_schema)["fields"]
        columns = ", ".join(f"{quoted(field['name'])} {field['type']}" for field in fields)
        by = f" PARTITIONED BY ({columns})" if fields else ""
        spark.sql(f"CONVERT TO DELTA parquet.{quoted(files.root)}{by}")
    else:
        # By its path, the catalog would still take it for a directory of Parquet files.
        spark.sql(f"CONVERT TO DELTA {name}")
    now = open_files(spark, spark.read.format("delta").load(files.root), files.root)
    if _extent(now) != _extent(files):
        raise SkipstoneError(
            f"{files.root} had {len(files.files):,} files and was made a Delta table of {len(now.files):,}; "
            "nothing else was changed, and deleting its _delta_log makes it what it was."
        )


def _refuse_other_files(spark: SparkSession, files: TableFiles) -> None:
    """Delta also takes files in subdirectories that Spark does not look into, and none from elsewhere."""
    everywhere = spark.read.schema("none INT").option("recursiveFileLookup", "true").parquet(files.root)
    others = set(open_files(spark, everywhere, files.root).files.paths) ^ set(files.files.paths)
    if others:
        raise SkipstoneError(
            f"{files.root} cannot be made a Delta table where it lies, for that would change which files "
            f"belong to it ({min(others)}); copy it to a new table (--output)."
        )


def _extent(files: TableFiles) -> tuple[int, int]:
    return len(files.files), int(files.files.sizes.sum())


def copy_to_delta(spark: SparkSession, files: TableFiles, output: str) -> RowHash:
    """Copy the rows to a new Delta table and check them; the source stays as it is."""
    session = copied_session(spark, EXACT)
    frame = files.live(session, np.arange(len(files.files)))
    names = [field["name"] for field in json.loads(files.partition_schema)["fields"]]
    frame.write.format("delta").partitionBy(*names).mode("errorifexists").save(output)
    before, after = hash_of(frame), hash_of(session.read.format("delta").load(output))
    if before != after:
        raise SkipstoneError(
            f"The copy of {files.root} in {output} has {after.rows:,} rows instead of {before.rows:,}, "
            "or their contents differ; do not use it."
        )
    return after
