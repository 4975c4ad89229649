from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from tests.workload.logs import DAY, EXAMPLE_1, PRODUCT, X, Y, compare, equal, not_null, one_of, query

from skipstone.actions.analysis_report import AnalysisReport
from skipstone.predicate.expr import (
    Call,
    Column,
    Comparison,
    Expr,
    IsNull,
    Like,
    Literal,
    Match,
    Not,
    Opaque,
    Or,
)
from skipstone.predicate.types import BOOLEAN, DOUBLE, INT, TIMESTAMP, Type
from skipstone.workload.analysis import analyze
from skipstone.workload.curves import curves
from skipstone.workload.parsed_json import parsed_workload_json, predicate_json
from skipstone.workload.predicates import LoggedFilter, query_predicates

PRICE, SCORE = Column(("price",), Type.parse("decimal(10,2)")), Column(("a", "score"), DOUBLE)


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        (compare("<=", DAY, 8766), {"column": "day", "operator": "<=", "value": "1994-01-01"}),
        (one_of(PRODUCT, "a", "b"), {"column": "product", "operator": "in", "values": ["a", "b"]}),
        (Not(one_of(X, 1, 2)), {"column": "x", "operator": "not in", "values": [1, 2]}),
        (Not(equal(X, 1)), {"column": "x", "operator": "!=", "value": 1}),
        (IsNull(X), {"column": "x", "operator": "is null"}),
        (not_null(X), {"column": "x", "operator": "is not null"}),
        (Like(PRODUCT, "a_b%"), {"column": "product", "operator": "like", "value": "a_b%"}),
        (Not(Like(PRODUCT, "a_b%")), {"column": "product", "operator": "not like", "value": "a_b%"}),
        (Match("contains", PRODUCT, "b"), {"column": "product", "operator": "contains", "value": "b"}),
        (Comparison("<", X, Y), {"column": "x", "operator": "<", "other_column": "y"}),
        (Column(("b",), BOOLEAN), {"column": "b", "operator": "=", "value": True}),
        (compare("<", PRICE, Decimal("1.50")), {"column": "price", "operator": "<", "value": "1.50"}),
        (compare("<", SCORE, float("inf")), {"column": "a.score", "operator": "<", "value": "inf"}),
        (
            compare("<", Column(("at",), TIMESTAMP), 1_000_000),
            {"column": "at", "operator": "<", "value": "1970-01-01 00:00:01Z"},
        ),
        (
            Comparison("=", Call("year", (DAY,), INT), Literal(1994, INT)),
            {"columns": ["day"], "operator": "comparison"},
        ),
        (
            Opaque("f(x)", "UDF", (X,)),
            {"columns": ["x"], "operator": "opaque", "not_understood": ["UDF"]},
        ),
    ],
)
def test_a_predicate_is_a_column_an_operator_and_a_value(
    predicate: Expr, expected: dict[str, object]
) -> None:
    found = predicate_json(predicate)
    assert found.pop("sql")
    assert found == expected
    json.dumps(found, allow_nan=False)


def test_a_query_keeps_its_text_its_structure_and_its_features() -> None:
    log = [
        query(equal(X, 1), Or((equal(Y, 1), compare(">", Y, 7))), weight=3, hour=0, sql="SELECT 1"),
        LoggedFilter(Literal(True, BOOLEAN), sql="SELECT 2"),
    ]
    analysis = analyze(log, threshold=3, num_features=2)
    found: dict[str, Any] = parsed_workload_json(log, analysis, table="t", source="log.sql")
    first, second = found["queries"]
    assert (first["id"], first["sql"], first["count"]) == (1, "SELECT 1", 3)
    assert first["timestamp"] == "2024-05-01T12:00:00+00:00"
    simple, either = sorted(first["filter"]["and"], key=len, reverse=True)
    assert simple == {"column": "x", "operator": "=", "value": 1, "sql": "x = 1"}
    assert {part["sql"] for part in either["or"]} == {"y = 1", "y > 7"}
    assert first["features"] == [0]
    assert len(found["features"]) == 1
    assert (second["filter"], second["features"]) == (None, [])
    assert (found["table"], found["source"]) == ("t", "log.sql")
    json.dumps(found, allow_nan=False)


def test_the_report_is_json_and_text() -> None:
    log = list(EXAMPLE_1) * 5
    report = AnalysisReport("events", analyze(log), curves(query_predicates(log)))
    found = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert found["queries"] == 15
    assert found["features"]
    assert found["features"][0]["weight"] >= found["features"][0]["gain"]
    assert all(each["reason"] and each["code"] for each in found["dropped"])
    assert found["commonality"]["y"][-1] == found["stability"]["y"][-1] == 100
    text = str(report)
    for wanted in ("15 queries on events", "Predicates", "Features", "F1", "Commonality", "Stability"):
        assert wanted in text
    assert max(map(len, text.splitlines())) <= 110


def test_the_report_of_an_empty_log_says_so() -> None:
    text = str(AnalysisReport("t", analyze([]), curves(query_predicates([]))))
    assert "Features: none" in text
