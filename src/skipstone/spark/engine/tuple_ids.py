"""Tuple ids: the number of each row of some files, the same whichever of its columns are read.

Each file is read by a task of its own, so a row is numbered by its file and its place in there, without those
that a deletion vector hides. Neither ever changes, so each group can be written by a pass of its own.
Delta's scans tell the place of a row in its file for some tables only, hence the number inside the task.
Cost: one pass that reads no column; the driver sees a row for each file.
"""

from __future__ import annotations

from itertools import accumulate

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from skipstone.catalog.column_groups import TUPLE_ID
from skipstone.errors import SkipstoneError
from skipstone.pruning.blocks import Counts
from skipstone.spark.engine.job_settings import IN_PLACE, PER_FILE
from skipstone.spark.engine.open_table import OpenTable

__all__ = ["numbered_rows"]

_FILE = "__skipstone_file"
_PLACE = "__skipstone_place"
_BEFORE = "__skipstone_before"
_SPLITS = ("spark.sql.files.", "spark.sql.sources.bucketing.")
_PLACE_BITS = 33
"""Of a number that Spark gives a row, those behind the number of the task."""


def numbered_rows(table: OpenTable, indices: Counts) -> DataFrame:
    """The rows that the table has in some files and, in a last column, the tuple id of each."""
    whole = {key: value for key, value in PER_FILE.items() if key.startswith(_SPLITS)}
    rows = table.live(indices, table.engine.session({**IN_PLACE, **whole}))
    place = F.monotonically_increasing_id().bitwiseAND(F.lit((1 << _PLACE_BITS) - 1))
    file = rows.metadataColumn("_metadata")["file_path"]
    placed = rows.select("*", file.alias(_FILE), place.alias(_PLACE))
    found = placed.groupBy(_FILE).agg(F.max(_PLACE).alias(_PLACE), F.count(F.lit(1)).alias("rows")).collect()
    sizes = dict(sorted((row[_FILE], row["rows"]) for row in found))
    if any(row[_PLACE] + 1 != row["rows"] for row in found):
        raise SkipstoneError(f"The rows of {table.root} cannot be numbered, for its files are read in parts.")
    before = [0, *accumulate(sizes.values())][:-1]
    columns = {_FILE: pa.array(sizes, pa.string()), _BEFORE: pa.array(before, pa.int64())}
    starts = F.broadcast(rows.sparkSession.createDataFrame(pa.table(columns)))
    numbered = placed.join(starts, _FILE).withColumn(TUPLE_ID, F.col(_PLACE) + F.col(_BEFORE))
    return numbered.select(*rows.columns, TUPLE_ID)
