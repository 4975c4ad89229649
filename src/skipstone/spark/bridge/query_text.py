"""Query text to a DataFrame: the one way for text that a user typed or a file holds.

``spark.sql`` runs a command at once. Here Spark's own parsed plan is judged first, and only a query becomes a
DataFrame; any other statement is refused by name. ``java/QueryText.java`` says what counts as a query.
"""

from __future__ import annotations

import re

from pyspark.errors import ParseException, PySparkException
from pyspark.sql import DataFrame, SparkSession

from skipstone.errors import SkipstoneError
from skipstone.spark.bridge.janino import new_instance
from skipstone.spark.bridge.jvm import JavaObject
from skipstone.spark.bridge.runtime import runtime_of
from skipstone.workload.statements import split_statements
from skipstone.workload.table_names import replace_name

__all__ = ["NotAQueryError", "not_a_query", "query_frame", "reads_table", "unparsed", "with_views"]

_CALLED = {
    "CompoundBody": "BEGIN … END",
    "DeleteFromTable": "DELETE",
    "DescribeRelation": "DESCRIBE",
    "InsertIntoStatement": "INSERT",
    "MergeIntoTable": "MERGE",
    "ScriptTransformation": "TRANSFORM, which runs a program",
    "SetCatalogAndNamespace": "USE",
    "UpdateTable": "UPDATE",
}


class NotAQueryError(SkipstoneError):
    """The text is a statement, but not a query; ``reason`` says which."""

    def __init__(self, reason: str) -> None:
        """Keep the reason for lists of statements that are left out."""
        super().__init__(f"The query cannot be used: {reason}.")
        self.reason = reason


def not_a_query(plan_class: str) -> str:
    """Why a statement is refused, by the class that Spark's parser made of it.

    >>> not_a_query("InsertIntoStatement"), not_a_query("UnresolvedExecuteImmediate")
    ('it is INSERT, not a query', 'it is EXECUTE IMMEDIATE, not a query')
    """
    plain = re.sub(r"^Unresolved|(Command|Statement)$", "", plan_class)
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", plain).upper()
    return f"it is {_CALLED.get(plan_class, words)}, not a query"


def query_frame(spark: SparkSession, query: str | DataFrame) -> DataFrame:
    """The query as a DataFrame, not run; text that is not a query that Spark can read is one sentence."""
    if isinstance(query, DataFrame):
        return query
    try:
        found = _compiled(spark).frame(spark._jsparkSession, with_views(spark, query))
    except ParseException as problem:
        if (count := len(split_statements(query))) > 1:
            raise SkipstoneError(
                f"The query cannot be used: it is {count} statements, and one query is asked for."
            ) from problem
        raise _refused(problem) from problem
    except PySparkException as problem:
        raise _refused(problem) from problem
    if isinstance(found, str):
        raise NotAQueryError(not_a_query(found))
    return DataFrame(found, spark)


def with_views(spark: SparkSession, sql: str) -> str:
    """The text with the views of tables instead of the names of several parts that they are bound to."""
    names = runtime_of(spark).names
    for parts in _compiled(spark).relations(spark._jsparkSession, sql) if names else ():
        view = names.get(tuple(part.lower() for part in parts))
        sql = sql if view is None else replace_name(sql, list(parts), view)
    return sql


def unparsed(spark: SparkSession, sql: str) -> str:
    """Why Spark's parser makes nothing of a text; nothing if it is a statement of any kind."""
    try:
        _compiled(spark).relations(spark._jsparkSession, sql)
    except PySparkException as problem:
        return _first_line(problem)
    return ""


def reads_table(frame: DataFrame, root: str) -> bool:
    """Whether a query reads the files of a table; a source whose files are unknown counts as read."""
    return bool(_compiled(frame.sparkSession).reads(frame._jdf, root))


def _compiled(spark: SparkSession) -> JavaObject:
    return new_instance(spark, "QueryText")


def _refused(problem: PySparkException) -> SkipstoneError:
    return SkipstoneError(f"The query cannot be used: {_first_line(problem)}.")


def _first_line(problem: PySparkException) -> str:
    return (problem.getMessage() or str(problem)).strip().splitlines()[0].rstrip(".")
