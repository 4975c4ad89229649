"""The files of a table as they lie now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from pyspark.sql import DataFrame, SparkSession

from skipstone.catalog.segment import Files
from skipstone.errors import SkipstoneError
from skipstone.pruning.blocks import Counts
from skipstone.spark.bridge.janino import new_instance
from skipstone.spark.failures import SPARK_FAILURES, storage_reason

__all__ = [
    "TableFiles",
    "has_delta",
    "longs",
    "open_files",
    "open_handle",
    "packed_bits",
]


@dataclass(frozen=True, slots=True, eq=False)
class TableFiles:
    """A table's root, format, schema and files; ``handle`` is the JVM's side of it."""

    root: str
    format: str
    schema: str
    partition_schema: str
    files: Files
    handle: Any
    opener: Any

    def frame(self, spark: SparkSession, chosen: Counts) -> DataFrame:
        """All rows of the files at the chosen places, those behind deletion vectors included."""
        bits = packed_bits(chosen, len(self.files))
        return DataFrame(self.handle.frame(spark._jsparkSession, bits), spark)

    def live(self, spark: SparkSession, chosen: Counts) -> DataFrame:
        """The rows that the table has in the files at the chosen places."""
        if self.format != "delta":
            return self.frame(spark, chosen)
        bits = packed_bits(chosen, len(self.files))
        return DataFrame(self.handle.live(spark._jsparkSession, bits), spark)

    def partitions(self) -> tuple[str, ...]:
        """A text for each file of a Delta table, the same for the files of one partition."""
        return tuple(bytes(self.handle.partitions()).decode().split("\0")) if len(self.files) else ()

    def per_file(self, spark: SparkSession, aggregate: DataFrame) -> tuple[DataFrame, Counts]:
        """One row per file of an aggregate over a frame of this table, and the files' places."""
        found = self.handle.perFile(spark._jsparkSession, aggregate._jdf)
        return DataFrame(found.rows(), spark), longs(found.files())

    def first_rows(self, spark: SparkSession, frame: DataFrame, rows: int) -> DataFrame:
        """That many rows of each partition, which is each file where files are not split."""
        return DataFrame(self.handle.firstRows(spark._jsparkSession, frame._jdf, rows), spark)


def packed_bits(places: Counts, size: int) -> bytes:
    """A set of places for the JVM's BitSet."""
    bits = np.zeros(size, np.bool_)
    bits[places] = True
    return np.packbits(bits, bitorder="little").tobytes()


def longs(data: bytes) -> Counts:
    """Numbers from the JVM."""
    return np.frombuffer(data, ">i8").astype(np.int64)


def has_delta(spark: SparkSession) -> bool:
    """Whether Delta is on the driver's class path."""
    try:
        spark._jvm.java.lang.Thread.currentThread().getContextClassLoader().loadClass(  # type: ignore[union-attr]
            "org.apache.spark.sql.delta.stats.PreparedDeltaFileIndex"
        )
    except Exception:
        return False
    return True


def open_files(spark: SparkSession, frame: DataFrame, name: str) -> TableFiles:
    """List the files of the one table that ``frame`` reads; ``name`` is for the error message."""
    opener = new_instance(spark, "SkipstoneDeltaOpener" if has_delta(spark) else "SkipstoneOpener")
    try:
        handle = opener.open(frame._jdf)
    except SPARK_FAILURES as problem:
        raise SkipstoneError(
            f"The files of {name} cannot be listed ({storage_reason(problem)})."
        ) from problem
    if handle is None:
        raise SkipstoneError(f"{name} is not a Delta table or a directory of Parquet files.")
    found = open_handle(spark, handle, opener)
    if not found.root:
        raise SkipstoneError(f"{name} is several directories; a table is one.")
    return found


def open_handle(spark: SparkSession, handle: Any, opener: Any = None) -> TableFiles:
    """The files that the JVM has listed."""
    paths = bytes(handle.paths()).decode()
    files = Files(tuple(paths.split("\0")) if paths else (), longs(handle.sizes()), longs(handle.times()))
    format_ = "delta" if "Delta" in handle.getClass().getSimpleName() else "parquet"
    return TableFiles(
        handle.root(),
        format_,
        handle.schema(),
        handle.partitionSchema(),
        files,
        handle,
        opener or new_instance(spark, "SkipstoneOpener"),
    )
