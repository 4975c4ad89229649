"""Whether a statement of a log may be analysed for somebody else, who may reach some paths only.

Analysing runs no query and still reaches further than its text: a path that is named as a table is listed and
its schema read, and a function that calls a class runs where Spark folds constants. So what Spark's parser
makes of a text is judged before its analyser sees it. Only a text that has one of the words that such a thing
takes is parsed for it; names that are put together need ``IDENTIFIER``, which is one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from skipstone.errors import SkipstoneError
from skipstone.spark.bridge.allowed_query import FUNCTIONS, Thing, allowed_query, named_things
from skipstone.spark.bridge.query_text import NotAQueryError
from skipstone.workload.queries import BrokenQuery, Query, Workload

__all__ = ["allowed_to_analyse", "allowed_to_run", "refused_in_log", "refused_to_analyse"]

Allows = Callable[[str], bool]
_FORMATS = (
    *("parquet", "delta", "csv", "json", "text", "orc", "avro", "xml", "binaryfile", "image", "libsvm"),
    *("jdbc", "hive", "statestore", "kafka", "iceberg"),
)
_WORDS = (*FUNCTIONS, *_FORMATS, "identifier", "`")
_QUERY_PARTS = 2


def allowed_to_analyse(spark: SparkSession, workload: Workload, allows: Allows) -> Workload:
    """The workload without the statements that reach classes, or paths that are not allowed."""
    return _without(workload, lambda sql: refused_to_analyse(spark, sql, allows))


def allowed_to_run(spark: SparkSession, workload: Workload, tables: dict[str, str]) -> Workload:
    """The workload without the queries that may not run over these tables; other statements are kept."""

    def reason(sql: str) -> str:
        try:
            allowed_query(spark, sql, tables)
        except NotAQueryError:
            return ""
        except SkipstoneError as problem:
            return str(problem).removeprefix("The query cannot be used: ").rstrip(".")
        return ""

    return _without(workload, reason)


def refused_to_analyse(spark: SparkSession, sql: str, allows: Allows) -> str:
    """Why a statement is refused; nothing if it is not, or if Spark's parser makes nothing of it."""
    lower = sql.lower()
    if not any(word in lower for word in _WORDS):
        return ""
    try:
        return refused_in_log(named_things(spark, sql), allows)
    except PySparkException:
        return ""


def refused_in_log(named: Iterable[Thing], allows: Allows) -> str:
    """Why a statement that names these things is refused; ``allows`` says which paths may be looked at.

    >>> refused_in_log([("relation", "text", "/etc/passwd")], lambda path: path.startswith("/data/"))
    'text.`/etc/passwd` is outside of what may be looked at'
    >>> refused_in_log([("relation", "delta", "/data/t"), ("relation", "main", "t")], lambda path: True)
    ''
    >>> refused_in_log([("function", "reflect")], lambda path: True)
    'reflect is not allowed here'
    """
    for kind, *parts in named:
        if kind == "identifier":
            return "names made by IDENTIFIER are not allowed here"
        if kind == "function" and parts[-1].lower() in FUNCTIONS:
            return f"{parts[-1]} is not allowed here"
        if kind == "relation" and _is_path(parts) and not allows(parts[1]):
            return f"{parts[0]}.`{parts[1]}` is outside of what may be looked at"
    return ""


def _is_path(parts: list[str]) -> bool:
    """Whether a name may mean a path in some format."""
    if len(parts) != _QUERY_PARTS:
        return False
    format_, path = parts
    return format_.lower() in _FORMATS or "." in format_ or "/" in path or ":" in path


def _without(workload: Workload, reason: Callable[[str], str]) -> Workload:
    kept: list[Query] = []
    refused: list[BrokenQuery] = []
    for query in workload.queries:
        if why := reason(query.sql):
            refused.append(BrokenQuery(query.sql, why, query.position, query.line, query.file))
        else:
            kept.append(query)
    if not refused:
        return workload
    broken = sorted((*workload.broken, *refused), key=lambda statement: statement.position)
    return replace(workload, queries=tuple(kept), broken=tuple(broken))
