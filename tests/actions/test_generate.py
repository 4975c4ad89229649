"""Workloads out of column metadata: deterministic, about the columns' own values, and usable as they are."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.shipments import ROWS

import skipstone


def test_queries_are_drawn_from_what_the_columns_hold(shipments: Callable[..., skipstone.Table]) -> None:
    table = shipments()
    made = table.generate(queries=40, seed=5)
    assert made.queries == table.generate(queries=40, seed=5).queries
    assert made.queries != table.generate(queries=40, seed=6).queries
    found = {column.name: column for column in made.columns}
    assert set(found) == {"id", "k", "mode", "d", "price", "weight"}
    assert found["mode"].values == ("AIR", "MAIL", "RAIL", "SHIP")
    assert (found["id"].low, found["id"].high) == (0, ROWS - 1)
    assert found["weight"].high == (ROWS - 1) * 1.5, "NaN is no bound"
    assert {each.name for each in made.left_out} == {"attrs", "nested", "raw"}
    rows = [table.spark.sql(sql).count() for sql in made.queries[:8]]
    assert any(0 < count < ROWS for count in rows)
    imported = table.import_log(made.workload())
    assert imported.added == 40
    assert imported.unusable == ()


def test_skew_and_columns_are_as_asked_for(shipments: Callable[..., skipstone.Table]) -> None:
    made = shipments().generate(60, zipf=3.0, columns=["MODE"])
    assert [column.name for column in made.columns] == ["mode"]
    first = sum("'AIR'" in sql for sql in made.queries)
    assert first > sum("'SHIP'" in sql for sql in made.queries)
    assert made.sql().count(";\n") == 60


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"queries": 0}, "queries must be a whole number from 1"),
        ({"zipf": -1}, "zipf must be a number from 0"),
        ({"seed": 1.5}, "seed must be a whole number"),
        ({"columns": ["nope"]}, "has no column nope; its columns are id, k, mode"),
        ({"columns": ["attrs"]}, "No column of .* has values that a query could be about"),
    ],
)
def test_what_cannot_be_drawn_is_one_sentence(
    shipments: Callable[..., skipstone.Table], arguments: dict[str, object], why: str
) -> None:
    with pytest.raises(skipstone.SkipstoneError, match=why):
        shipments().generate(**arguments)  # type: ignore[arg-type]
