"""What is known of tables, by looks that end in any order. No Spark."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.server.test_block_map import seen

from skipstone.server.problems import ConflictError, TooManyError
from skipstone.server.settings import Limits
from skipstone.server.store import Store
from skipstone.server.tables import Tables


def tables_in(path: Path) -> Tables:
    return Tables(Store(path / "s.sqlite"), Limits(tables=1), lambda _: None)


def test_a_look_that_began_earlier_and_ended_later_changes_nothing(tmp_path: Path) -> None:
    tables = tables_in(tmp_path)
    entry = tables.add("t", "/data/t")
    tables.found(entry, seen(), 1.0)
    tables.lost(entry, "/data/t does not exist.", 3.0)
    tables.found(entry, seen(), 2.0)
    assert (entry.state, entry.problem) == ("gone", "/data/t does not exist.")
    tables.found(entry, seen(), 4.0)
    tables.lost(entry, "/data/t does not exist.", 3.5)
    assert (entry.state, entry.problem) == ("ready", None)


def test_one_name_is_one_table_and_no_more_are_known_than_may_be(tmp_path: Path) -> None:
    tables = tables_in(tmp_path)
    entry = tables.add("Orders", "/data/orders")
    assert tables.add("orders", "/data/orders") is entry
    with pytest.raises(ConflictError, match="is called Orders already"):
        tables.add("ORDERS", "/data/other")
    with pytest.raises(ConflictError, match="/data/orders is registered already, as Orders"):
        tables.add("same", "/data/orders")
    with pytest.raises(TooManyError, match="1 tables already"):
        tables.add("other", "/data/other")
    assert [each.id for each in tables_in(tmp_path).list()] == ["orders"]
