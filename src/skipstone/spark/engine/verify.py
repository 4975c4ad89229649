"""Whether rows are unchanged, by their number and hash."""

from __future__ import annotations

from pyspark.sql import DataFrame

from skipstone.catalog.replica_store import partition_folder
from skipstone.catalog.replicas import HorizontalPartition
from skipstone.spark.engine.copy_groups import group_rows
from skipstone.spark.engine.job_settings import EXACT
from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.engine.row_hash import RowHash, hash_of
from skipstone.spark.engine.session_copy import copied_session, in_session
from skipstone.spark.failures import SPARK_FAILURES, file_read

__all__ = ["groups_problem", "rows_or_problem"]


def groups_problem(table: OpenTable, part: HorizontalPartition) -> str:
    """The same for the files of all column groups of a horizontal partition."""
    there = set(table.store.names(partition_folder(part.replica, part.id)))
    for path in part.files.paths:
        if path.rpartition("/")[2] not in there:
            return f"{path.rpartition('/')[2]} is missing or cannot be read"
    for group in part.groups:
        wanted = RowHash(part.rows, group.row_hash)
        problem = rows_or_problem(group_rows(table, group, part.schema), wanted)
        if problem:
            return problem
    return ""


def rows_or_problem(frame: DataFrame, wanted: RowHash) -> str:
    """Read all rows; empty if they are what they were, else what is wrong in a few words.

    A failure that is not about a file, such as a lost executor, says nothing about rows and is raised.
    """
    try:
        found = hash_of(in_session(copied_session(frame.sparkSession, EXACT), frame))
    except SPARK_FAILURES as problem:
        file = file_read(problem)
        if file is None:
            raise
        return f"{file.rpartition('/')[2]} is missing or cannot be read"
    if found == wanted:
        return ""
    if found.rows != wanted.rows:
        return f"there are {found.rows:,} rows, and there were {wanted.rows:,}"
    return "the contents of rows differ from what they were"
