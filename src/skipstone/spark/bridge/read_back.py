"""Rendered SQL read again by Spark: many texts at once, and which of them fail.

All texts become one projection, which is analysed and optimised once: hundreds of expressions then cost the
driver little more than one. If any of them fails, halves are tried until the culprits are found, so only a
failure costs more.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame

from skipstone.catalog.column_names import ColumnNames
from skipstone.predicate.expr import Expr
from skipstone.predicate.normalize import normalize
from skipstone.spark.bridge.catalyst import expr_from_catalyst
from skipstone.spark.bridge.catalyst_json import expressions_json
from skipstone.spark.bridge.jvm import JavaObject
from skipstone.spark.engine.job_settings import WIDE
from skipstone.spark.engine.session_copy import lenient
from skipstone.spark.failures import some_sentence_of, unlogged_errors

__all__ = ["FAILURES", "Unreadable", "failing", "read_back", "unevaluable"]

FAILURES = (PySparkException, Py4JJavaError)
"""What Spark raises."""
_CODE = re.compile(r"^(\[[A-Z_.0-9]+\]\s*)+|\.?\s*SQLSTATE: \w{5}.*$")


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A text that Spark does not read, and why: the beginning of a sentence."""

    reason: str


def read_back(frame: DataFrame, schema: str, texts: Sequence[str]) -> tuple[Expr | Unreadable, ...]:
    """What Spark reads in each text, in normal form."""
    names = ColumnNames.from_schema(schema)
    problems = failing(len(texts), lambda indices: _projection(frame, [texts[index] for index in indices]))
    good = [index for index in range(len(texts)) if index not in problems]
    found: dict[int, Expr] = {}
    if good:
        plan = _projection(frame, [texts[index] for index in good])
        optimized = plan.optimizedPlan()
        projected = optimized if hasattr(optimized, "projectList") else plan.analyzed()
        trees = json.loads(expressions_json(frame.sparkSession, projected.projectList()))
        read = (normalize(expr_from_catalyst(tree, names)) for tree in trees)
        found = dict(zip(good, read, strict=True))
    return tuple(
        found[index] if index in found else Unreadable(problems[index]) for index in range(len(texts))
    )


def unevaluable(frame: DataFrame, texts: Sequence[str]) -> dict[int, str]:
    """The indices of the texts that cannot be evaluated on some row of a frame, and why."""
    rows = lenient(frame, WIDE)

    def run(indices: Sequence[int]) -> None:
        chosen = (f"({texts[index]}) AS c{index}" for index in indices)
        rows.selectExpr(*chosen).write.format("noop").mode("overwrite").save()

    return failing(len(texts), run)


def failing(count: int, attempt: Callable[[Sequence[int]], object]) -> dict[int, str]:
    """The indices that make an attempt fail, each with its reason; found by halving what fails."""
    problems: dict[int, str] = {}
    waiting: list[range] = [range(count)] if count else []
    while waiting:
        indices = waiting.pop()
        try:
            with unlogged_errors():
                attempt(indices)
        except FAILURES as problem:
            if len(indices) == 1:
                problems[indices[0]] = _CODE.sub("", some_sentence_of(problem)).rstrip(" .")
            else:
                middle = len(indices) // 2
                waiting += [indices[:middle], indices[middle:]]
    return problems


def _projection(frame: DataFrame, texts: Sequence[str]) -> JavaObject:
    plan = frame.selectExpr(*(f"({text}) AS c{index}" for index, text in enumerate(texts)))
    execution = plan._jdf.queryExecution()
    execution.optimizedPlan()
    return execution
