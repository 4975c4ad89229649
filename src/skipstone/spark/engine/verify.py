"""Whether rows are unchanged, by their number and hash."""

from __future__ import annotations

from pyspark.sql import DataFrame

from skipstone.spark.engine.job_settings import EXACT
from skipstone.spark.engine.row_hash import RowHash, hash_of
from skipstone.spark.engine.session_copy import copied_session, in_session
from skipstone.spark.failures import SPARK_FAILURES, file_read

__all__ = ["rows_or_problem"]


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
