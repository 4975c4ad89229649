"""Blocks as columns of numbers, health and trees: pure."""

from __future__ import annotations

import doctest
import importlib
import json
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from tests.catalog.segments import MemoryStore
from tests.catalog.test_layout_records import RECORD

from skipstone.catalog import Files, Segment, merge
from skipstone.catalog.layout_records import save_layout
from skipstone.layout.assignment import Partitioned, Split, Tree
from skipstone.predicate.expr import Column, Comparison, Expr, Literal
from skipstone.predicate.types import INT, STRING, Type
from skipstone.pruning.blocks import BlockSet, Feature, Statistics, ValueSets
from skipstone.server.block_map import block_details, block_map
from skipstone.server.branches import branch_of_block, in_branch
from skipstone.server.health import Health, Lately, health
from skipstone.server.look import column_groups
from skipstone.server.problems import MissingError
from skipstone.server.seen import Seen, times_read
from skipstone.server.tree_nodes import tree_nodes

X, S, P = Column(("x",), INT), Column(("s",), STRING), Column(("p",), Type.parse("decimal(10,2)"))


@pytest.mark.parametrize(
    "name", ["waiting", "health", "changes_mind", "tree_nodes", "branches", "roots", "events", "settings"]
)
def test_the_examples_of_the_documentation_hold(name: str) -> None:
    found = doctest.testmod(importlib.import_module(f"skipstone.server.{name}"))
    assert found.attempted > 0
    assert found.failed == 0


def statistics(type_: Type, low: pa.Array, high: pa.Array, values: ValueSets | None = None) -> Statistics:
    counts = np.zeros(len(low), np.int64)
    return Statistics(type_, low, high, counts + np.arange(len(low)), counts, values)


def seen() -> Seen:
    known: dict[Expr, Statistics] = {
        X: statistics(INT, pa.array([0, 10, None], pa.int64()), pa.array([9, 20, None], pa.int64())),
        S: statistics(
            STRING,
            pa.array(["a", "b", "c"]),
            pa.array(["b", "c", "d"]),
            ValueSets(("a", "b"), np.array([[3], [2], [0]], np.uint64), np.array([True, True, False])),
        ),
        P: statistics(
            P.type,
            pa.array([Decimal("1.00"), Decimal("2.50"), None], pa.decimal128(38, 2)),
            pa.array([Decimal("2.00"), Decimal("3.00"), None], pa.decimal128(38, 2)),
        ),
    }
    feature = Feature(Comparison(">", X, Literal(5, INT)), "x > 5")
    bits = np.array([[1], [1], [0]], np.uint64)
    sure = np.array([[1], [1], [0]], np.uint64)
    blocks = BlockSet(np.array([10, 20, 30]), known, (feature,), bits, sure)
    files = Files(("f0", "f1", "f2"), np.array([100, 200, 300]), np.zeros(3, np.int64))
    catalog = merge([Segment(files, blocks, {}, "2026-01-01", {}, "abc")])
    more = Files(("f2", "new", "f0"), np.array([300, 5, 100]), np.zeros(3, np.int64))
    return Seen({}, 7, more, catalog, more.indices_in(catalog.files))


def test_blocks_come_in_the_order_of_the_files_and_what_is_unknown_is_null() -> None:
    found = json.loads(json.dumps(block_map(seen(), "x", 0, paths=True), allow_nan=False))
    assert found["rows"] == [30, -1, 10]
    assert found["bytes"] == [300, 5, 100]
    assert found["indexed"] == [1, 0, 1]
    assert found["layout"] == [0, -1, 0]
    assert found["layouts"] == ["abc"]
    assert found["paths"] == ["f2", "new", "f0"]
    assert found["feature"]["bit"] == [-1, -1, 1]
    assert found["column"]["low"] == [None, None, 0]
    assert found["column"]["low_at"] == [None, None, 0.0]
    assert found["column"]["high_at"] == [None, None, 1.0]
    assert found["column"]["nulls"] == [0.0667, None, 0.0]


def test_texts_lie_by_rank_and_decimals_by_value() -> None:
    texts = block_map(seen(), "s", None, paths=False)["column"]
    assert isinstance(texts, dict)
    assert texts["low"] == ["c", None, "a"]
    assert texts["low_at"] == [0.66667, None, 0.0]
    decimals = block_map(seen(), "p", None, paths=False)["column"]
    assert isinstance(decimals, dict)
    assert decimals["low"] == [None, None, "1.00"]


def test_one_block_has_all_that_is_known_of_it() -> None:
    found = block_details(seen(), 2)
    assert found["path"] == "f0"
    assert found["features"] == [{"sql": "x > 5", "bit": 1}]
    columns = found["columns"]
    assert isinstance(columns, list)
    assert columns[1] == {
        "sql": "s",
        "type": "string",
        "low": "a",
        "high": "b",
        "nulls": 0.0,
        "values": ["a", "b"],
    }
    first = block_details(seen(), 0)["columns"]
    assert isinstance(first, list)
    assert first[0]["nulls"] == 0.0667, "a share"
    assert block_details(seen(), 1)["columns"] == []


@pytest.mark.parametrize(("column", "feature"), [("nope", None), (None, 5)])
def test_what_blocks_do_not_have_is_one_sentence(column: str | None, feature: int | None) -> None:
    with pytest.raises(MissingError):
        block_map(seen(), column, feature, paths=False)
    with pytest.raises(MissingError):
        block_details(seen(), 3)


def test_a_file_without_an_entry_is_read_by_every_query() -> None:
    table = seen()
    assert times_read([], table.catalog, table.entries, {}) == (0.0, None)


def test_a_branch_has_the_blocks_that_may_hold_its_rows_and_a_block_is_followed_down() -> None:
    table = seen()  # x of the blocks: unknown, no entry, 0 to 9
    inner = Split(Comparison("<", X, Literal(5, INT)), 0, 1)
    tree = Tree(Split(Comparison("<", X, Literal(10, INT)), inner, 2), 3)
    nodes = [(node["cut"], node["yes"], node["no"]) for node in tree_nodes(tree)]
    assert nodes[0] == ("x < 10", 1, 4)
    blocks = [in_branch(table, tree, number, {}) for number in range(5)]
    assert blocks == [[0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1, 2], [0, 1]]
    assert [branch_of_block(table, tree, index) for index in range(3)] == [[0], [0], [0, 1]]
    with pytest.raises(MissingError, match="no node 5"):
        in_branch(table, tree, 5, {})
    with pytest.raises(MissingError, match="no block 3"):
        branch_of_block(table, tree, 3)


def test_horizontal_partitions_are_a_chain_above_their_trees() -> None:
    cut = Comparison("<", X, Literal(5, INT))
    parts = (Tree(Split(cut, 0, 1), 2), Tree(0, 1))
    nodes = tree_nodes(Partitioned(S, ("a", "b"), parts))
    assert [node["block"] for node in nodes if node["block"] is not None] == [0, 1, 2, 3]
    assert nodes[0]["cut"] == "s = 'a'"
    assert nodes[0]["blocks"] == 4


def test_a_layout_of_several_column_groups_tells_the_columns_of_each() -> None:
    store = MemoryStore()
    save_layout(store, RECORD)
    assert column_groups(store, RECORD.id, "file:/t") is None
    groups = (replace(RECORD.group, columns=("k", "d")), replace(RECORD.group, columns=("city",)))
    save_layout(store, replace(RECORD, id="abc2", groups=groups))
    assert column_groups(store, "abc2", "file:/t") == [{"columns": ["k", "d"]}, {"columns": ["city"]}]
    assert column_groups(store, "abc3", "file:/t") is None


@pytest.mark.parametrize(
    ("seen", "code"),
    [
        (Health(4, 4, Lately(), problem="it is damaged."), "DAMAGED"),
        (Health(4, 2, Lately()), "PARTLY_INDEXED"),
        (Health(4, 4, Lately()), "NO_LOG"),
        (Health(4, 4, Lately(9, 100, 50, 1), log_entries=9), "SCANS_TOO_MUCH"),
        (Health(4, 4, Lately(9, 100, 50, 1), log_entries=9, drift=0.9), "DRIFTED"),
        (Health(4, 4, Lately(), log_entries=9, unclustered_bytes=5, awaited_bytes=5), "NEW_DATA"),
        (Health(0, 0, Lately(), log_entries=9), "GOOD"),
    ],
)
def test_the_most_pressing_thing_is_told(seen: Health, code: str) -> None:
    found, sentence = health(seen)
    assert found == code
    assert sentence.endswith(".")
