"""``gsop`` among the actions: simulated like others, for replicas only, and one group where that is best."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import skipstone
from skipstone.actions import make_partitions
from skipstone.errors import SkipstoneError
from skipstone.workload.queries import Query, Workload

TEXTS = [f"SELECT sum(id) FROM shipments WHERE k < {most}" for most in (50, 100, 300)]
TEXTS += [f"SELECT sum(id) FROM shipments WHERE mode = '{mode}'" for mode in ("AIR", "RAIL")]
LOG = Workload(tuple(Query(text, count=5) for text in TEXTS))


def test_advice_replicas_and_refusals(shipments: Callable[..., skipstone.Table]) -> None:
    table = shipments(rows=2_000)
    options = {"grouping": "single", "inner": "qdtree"}
    advice = table.advise(LOG, 100, layouts=("gsop", "qdtree"), layout_options=options)
    rows = {row.layout: row for row in advice.layouts}
    assert set(rows) == {"current layout", "gsop", "qdtree"}
    assert [group.columns for group in advice.designs["gsop"].groups] == [("id",), ("k",), ("mode",)]
    assert "columns that no query reads" in rows["gsop"].note
    assert rows["gsop"].rewrite_bytes_written is not None
    assert rows["gsop"].percent_scanned is not None
    assert 0 < rows["gsop"].percent_scanned < 200, "each query reads two columns, and as many tuple ids"
    whole = table.advise(LOG, 100, layouts=("gsop",))
    assert "one group of all columns is best" in str(whole)
    with pytest.raises(SkipstoneError, match="a table has one order of rows; make a replica by it"):
        table.optimize(LOG, "gsop", block_rows=100)
    with pytest.raises(SkipstoneError, match="There is no grouping none; choose one of search, one, single"):
        table.advise(LOG, 100, layout_options={"grouping": "none"})
    made = table.replicate(LOG, "gsop", block_rows=100)
    assert (made.layout, made.rows) == ("gsop", 2_000)
    assert made.reason.startswith("one group of all columns is best, by sop")
    (scan,) = table.explain("SELECT sum(id) FROM shipments WHERE k < 50").scans
    assert 0 < scan.files_read < scan.files_total


def test_one_group_has_the_partitions_of_whole_rows(
    shipments: Callable[..., skipstone.Table], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(make_partitions, "MOST_GROUPED_ROWS", 500)
    table = shipments(rows=2_000)
    made = table.replicate(LOG, "gsop", block_rows=100)
    assert (made.layout, made.partitions, made.rows) == ("gsop", 1, 2_000), "not 4, for nothing is joined"
    assert made.reason.startswith("one group of all columns, by sop")
    files = {"gsop": made.files, "sop": table.replicate(LOG, "sop", block_rows=100).files}
    assert files["gsop"] == files["sop"], "no fewer blocks"
