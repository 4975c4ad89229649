"""How many bytes and values each column has per row, from the Parquet footers of some of a table's files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from skipstone.errors import SkipstoneError
from skipstone.pruning.blocks import Counts
from skipstone.spark.bridge.janino import new_instance
from skipstone.spark.engine.open_table import TableFiles

__all__ = ["ColumnSizes", "PerRow", "column_sizes"]

_MOST_FOOTERS = 16


@dataclass(frozen=True, slots=True)
class PerRow:
    """Stored bytes and values of a row: one value per leaf column, or as many as a map or array has."""

    bytes: float
    values: float


@dataclass(frozen=True, slots=True)
class ColumnSizes:
    """What each top-level column has per row, by its physical name."""

    columns: Mapping[str, PerRow]

    def of(self, columns: Sequence[str] = ()) -> PerRow:
        """What these columns have together; all of them when none are given.

        >>> sizes = ColumnSizes({"a": PerRow(8.0, 1.0), "m": PerRow(30.0, 6.0)})
        >>> sizes.of(["m", "added later"]), sizes.of()
        (PerRow(bytes=30.0, values=6.0), PerRow(bytes=38.0, values=7.0))
        """
        chosen = columns or self.columns
        found = [self.columns[name] for name in chosen if name in self.columns]
        return PerRow(sum((each.bytes for each in found), 0.0), sum((each.values for each in found), 0.0))


def column_sizes(spark: SparkSession, files: TableFiles, chosen: Counts) -> ColumnSizes:
    """Read the footers of at most a few of the chosen files, spread evenly over them."""
    spread = np.unique(np.linspace(0, len(chosen) - 1, _MOST_FOOTERS).astype(np.int64))
    wanted = chosen[spread] if len(chosen) else chosen
    absolute = bytes(files.handle.absolutePaths()).decode().split("\0")
    gateway: Any = spark.sparkContext._gateway
    paths = gateway.new_array(gateway.jvm.java.lang.String, len(wanted))
    for place, file in enumerate(wanted):
        paths[place] = absolute[file]
    reader = new_instance(spark, "SkipstoneFooters")
    try:
        found = json.loads(reader.columnSizes(spark._jsparkSession.sessionState().newHadoopConf(), paths))
    except Py4JJavaError as problem:
        cause = problem.java_exception
        raise SkipstoneError(
            f"The footers of {files.root} cannot be read "
            f"({cause.getClass().getSimpleName()}: {cause.getMessage()})."
        ) from problem
    rows = max(found["rows"], 1)
    values = found["values"]
    return ColumnSizes(
        {name: PerRow(size / rows, values[name] / rows) for name, size in sorted(found["columns"].items())}
    )
