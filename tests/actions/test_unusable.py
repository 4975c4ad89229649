"""Queries that cannot be written, read or evaluated block nothing: they are named, the others are used."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.opened import opened

import skipstone
from skipstone.estimate.cost import Coefficients, CostModel
from skipstone.estimate.policy import Policy
from skipstone.json_types import json_list, json_object, json_text
from skipstone.layout.stored_layout import stored_layout
from skipstone.predicate.expr import is_opaque
from skipstone.spark.engine.row_hash import hash_of
from skipstone.workload.queries import BrokenQuery, Query, Workload

Make = Callable[..., skipstone.Table]
EAGER = CostModel(Coefficients(0.1, 0, 0, 0, 0, 0, 0, 0.0, 10.0, 0.0, 0.0), "calibrated")
LISTED = "array_contains(array('AIR', 'it\\'s'), mode)"
UNREADABLE = "from_json(mode, 'a INT').a = 1"
FAILING = "element_at(array(1, 2), CAST(k % 2 AS INT)) = 1"
CONDITIONS = ("k < 50", LISTED, f"k >= 900 AND {UNREADABLE}", FAILING, "mode RLIKE '(unclosed'")


@pytest.fixture
def odd_log() -> Workload:
    """Five statements, of which two are sound."""
    texts = (f"SELECT count(*), sum(id) FROM shipments WHERE {condition}" for condition in CONDITIONS)
    return Workload(tuple(Query(text, count=5, position=n) for n, text in enumerate(texts, 1)))


def assert_named(unusable: tuple[BrokenQuery, ...], positions: tuple[int, ...]) -> None:
    assert tuple(sorted(broken.position for broken in unusable)) == positions
    reasons = {broken.position: broken.reason for broken in unusable}
    assert "only the rest of its filter is used" in reasons[3]
    assert "its filter is left out" in reasons[4]
    assert all("\n" not in str(broken) for broken in unusable)


def test_an_odd_query_is_named_and_the_others_are_analysed(shipments: Make, odd_log: Workload) -> None:
    found = shipments().analyze(odd_log, num_features=8, threshold=1)
    assert_named(found.unusable, (3, 4, 5))
    described = map(json_object, json_list(found.report.to_dict()["features"]))
    features = {json_text(feature["sql"]) for feature in described}
    listed = "array_contains(array('AIR', concat('it', chr(39), 's')), mode)"
    assert (
        features
        == {"k < 50L", "k >= 900L", listed, "mode IS NOT NULL", f"{listed} AND mode IS NOT NULL"} & features
    )
    assert {"k < 50L", "k >= 900L"} < features
    assert any(listed in feature for feature in features)


def test_an_odd_query_is_named_and_the_table_is_laid_out_for_the_others(
    shipments: Make, odd_log: Workload
) -> None:
    table = shipments()
    before = hash_of(table.frame())
    advice = table.advise(odd_log, block_rows=300)
    assert_named(advice.unusable, (3, 4, 5))
    assert all(row.percent_scanned is not None for row in advice.layouts)
    report = table.optimize(odd_log, "sop", block_rows=300)
    assert_named(report.unusable, (3, 4, 5))
    assert json.dumps(report.to_dict()["broken"])
    assert hash_of(table.frame()) == before
    for query in table.replay(Workload(odd_log.queries[:2])).queries:
        assert query.same_result
        assert 0 < query.files_read < query.files_total


def test_what_stands_in_a_log_or_a_layout_and_cannot_be_used_blocks_nothing(
    shipments: Make, odd_log: Workload
) -> None:
    table = shipments()
    table.import_log(Workload((*odd_log.queries[:4], Query(odd_log.queries[0].sql, count=500))))
    assert {broken.position for broken in table.analyze().unusable} == {0}
    decision = table.auto(policy=Policy(block_rows=300, layouts=("qdtree",)), model=EAGER)
    assert decision.acted, decision.sentence
    unusable: Any = decision.numbers["unusable"]
    named = [BrokenQuery(**each) for each in unusable]
    assert len(named) == 2
    assert all(broken.sql in str(broken) for broken in named)
    store = opened(table).store
    stored = stored_layout(store, json_text(decision.numbers["layout_id"]), opened(table).root)
    assert stored is not None
    filters = [entry.filter for entry in stored.workload]
    assert not any(map(is_opaque, filters)), "as logged, so that nothing seems to drift"
    _damage(table, stored.record.id)
    table.frame().limit(1_500).write.format("delta").mode("append").save(table.source)
    again = table.optimize_new()
    assert again.layout_id
    assert {"cannot be read" in broken.reason for broken in again.unusable} == {True, False}
    assert table.auto(act=False, policy=Policy(block_rows=300, layouts=("qdtree",)), model=EAGER).code


def _damage(table: skipstone.Table, layout: str) -> None:
    """Put a filter into a stored layout that no skipstone understands."""
    (path,) = Path(table.source, "_skipstone", "layouts").glob(f"{layout}-*.json")
    data = json.loads(path.read_text())
    data["workload"].append([["from the future", 1], 3.0])
    # Under the name of an older skipstone, which has no digest.
    path.with_name(f"{layout}.json").write_text(json.dumps(data))
    path.unlink()
