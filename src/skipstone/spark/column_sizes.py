"""How many bytes each column takes per row, from the Parquet footers of some of a table's files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from skipstone.errors import SkipstoneError
from skipstone.predicate.blocks import Counts
from skipstone.spark.janino import new_instance
from skipstone.spark.table_files import TableFiles

__all__ = ["ColumnSizes", "column_sizes"]

_MOST_FOOTERS = 16


@dataclass(frozen=True, slots=True)
class ColumnSizes:
    """Stored bytes per row of each top-level column, by its physical name."""

    row_bytes: Mapping[str, float]

    @property
    def total(self) -> float:
        """Bytes of a whole row."""
        return sum(self.row_bytes.values())

    def of(self, columns: Sequence[str]) -> float:
        """Bytes of these columns of a row; of all columns when none are given."""
        return sum(self.row_bytes.get(name, 0.0) for name in columns) if columns else self.total


def column_sizes(spark: SparkSession, files: TableFiles, chosen: Counts) -> ColumnSizes:
    """Read the footers of at most a few of the chosen files, spread evenly over them."""
    spread = np.unique(np.linspace(0, len(chosen) - 1, _MOST_FOOTERS).astype(np.int64))
    wanted = chosen[spread] if len(chosen) else chosen
    absolute = bytes(files.handle.absolutePaths()).decode().split("\0")
    gateway: Any = spark.sparkContext._gateway
    paths = gateway.new_array(gateway.jvm.java.lang.String, len(wanted))
    for place, file in enumerate(wanted):
        paths[place] = absolute[file]
    reader = new_instance(spark, "CatalystJson", "SkipstoneFooters")
    try:
        found = json.loads(reader.columnSizes(spark._jsparkSession.sessionState().newHadoopConf(), paths))
    except Py4JJavaError as problem:
        cause = problem.java_exception
        raise SkipstoneError(
            f"The footers of {files.root} cannot be read "
            f"({cause.getClass().getSimpleName()}: {cause.getMessage()})."
        ) from problem
    rows = max(found["rows"], 1)
    return ColumnSizes({name: size / rows for name, size in sorted(found["columns"].items())})
