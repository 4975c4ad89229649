"""Parquet directories on their way to Delta: converted where they lie, or copied to a new table."""

from __future__ import annotations

import json

import numpy as np

from skipstone.errors import SkipstoneError
from skipstone.spark import SparkSession
from skipstone.spark.column_names import quoted
from skipstone.spark.row_hash import RowHash, hash_of
from skipstone.spark.table_files import TableFiles

__all__ = ["convert_to_delta", "copy_to_delta"]


def convert_to_delta(spark: SparkSession, files: TableFiles) -> None:
    """Write a Delta log beside the Parquet files; no file is moved."""
    fields = json.loads(files.partition_schema)["fields"]
    columns = ", ".join(f"{quoted(field['name'])} {field['type']}" for field in fields)
    by = f" PARTITIONED BY ({columns})" if fields else ""
    spark.sql(f"CONVERT TO DELTA parquet.{quoted(files.root)}{by}")


def copy_to_delta(spark: SparkSession, files: TableFiles, output: str) -> RowHash:
    """Copy the rows to a new Delta table and check them; the source stays as it is."""
    frame = files.live(spark, np.arange(len(files.files)))
    names = [field["name"] for field in json.loads(files.partition_schema)["fields"]]
    frame.write.format("delta").partitionBy(*names).mode("errorifexists").save(output)
    before, after = hash_of(frame), hash_of(spark.read.format("delta").load(output))
    if before != after:
        raise SkipstoneError(
            f"The copy of {files.root} in {output} has {after.rows:,} rows instead of {before.rows:,}, "
            "or their contents differ; do not use it."
        )
    return after
