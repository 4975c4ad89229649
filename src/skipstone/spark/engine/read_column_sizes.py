"""What each column has per row, from the Parquet footers of some of a table's files."""

from __future__ import annotations

import json

import numpy as np
from py4j.protocol import Py4JJavaError

from skipstone.catalog.column_sizes import ColumnSizes, PerRow
from skipstone.errors import SkipstoneError
from skipstone.pruning.blocks import Counts
from skipstone.spark.bridge.janino import new_instance
from skipstone.spark.bridge.jvm import JavaObject, java_class
from skipstone.spark.engine.open_table import OpenTable

__all__ = ["read_column_sizes"]

_MOST_FOOTERS = 16


def read_column_sizes(table: OpenTable, indices: Counts) -> ColumnSizes:
    """Read the footers of at most a few of the files at these indices, spread evenly over them."""
    spark = table.engine.spark
    spread = np.unique(np.linspace(0, len(indices) - 1, _MOST_FOOTERS).astype(np.int64))
    wanted = indices[spread] if len(indices) else indices
    gateway: JavaObject = spark.sparkContext._gateway
    paths = gateway.new_array(java_class(gateway.jvm, "java.lang.String"), len(wanted))
    for index, file in enumerate(wanted):
        paths[index] = table.snapshot.locations[file]
    reader = new_instance(spark, "SkipstoneFooters")
    try:
        found = json.loads(reader.columnSizes(spark._jsparkSession.sessionState().newHadoopConf(), paths))
    except Py4JJavaError as problem:
        cause = problem.java_exception
        raise SkipstoneError(
            f"The footers of {table.root} cannot be read "
            f"({cause.getClass().getSimpleName()}: {cause.getMessage()})."
        ) from problem
    rows = max(found["rows"], 1)
    values = found["values"]
    return ColumnSizes(
        {name: PerRow(size / rows, values[name] / rows) for name, size in sorted(found["columns"].items())}
    )
