"""The filter of a DataFrame as it arrives at planning, read by the Catalyst bridge."""

from __future__ import annotations

from pyspark.sql import DataFrame

from skipstone.catalog.column_names import ColumnNames
from skipstone.predicate.expr import And, Expr, IsNull, Not
from skipstone.spark.bridge.catalyst import expr_from_catalyst
from skipstone.spark.bridge.catalyst_json import expression_json


def live_filter(frame: DataFrame, names: ColumnNames | None = None) -> Expr:
    """The condition of the one filter in the optimised plan."""
    plan = frame._jdf.queryExecution().optimizedPlan()
    while plan.nodeName() != "Filter":
        assert plan.children().length() == 1, f"no single filter in {plan.toString()}"
        plan = plan.children().apply(0)
    return expr_from_catalyst(expression_json(frame.sparkSession, plan.condition()), names)


def without_null_checks(expr: Expr) -> Expr:
    """The filter less the IS NOT NULL that the optimizer adds; one conjunct must remain."""
    if not isinstance(expr, And):
        return expr
    (rest,) = [arg for arg in expr.args if not (isinstance(arg, Not) and isinstance(arg.arg, IsNull))]
    return rest
