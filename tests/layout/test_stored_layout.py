"""Layouts as they are used: whatever their files hold, decoded or one sentence that names them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.catalog.segments import MemoryStore
from tests.catalog.test_layout_records import RECORD, earlier
from tests.damage import attempt, damaged

from skipstone.catalog.layout_records import LAYOUTS, save_layout
from skipstone.catalog.tracked import Tracked, TrackedSet
from skipstone.errors import DamagedFileError
from skipstone.layout.assignment import Dimension, Grid, Split, Tree
from skipstone.layout.assignment_json import assignment_to_json
from skipstone.layout.contract import ColumnGroup
from skipstone.layout.stored_layout import group_record, stored_layout
from skipstone.predicate.codec import to_json
from skipstone.predicate.expr import Call, Column, Comparison, Literal
from skipstone.predicate.types import DATE, INT, LONG
from skipstone.pruning.blocks import Feature

K = Column(("k",), LONG)
MONTH = Call("month", (Column(("d",), DATE),), INT)
LOW = Comparison("<", K, Literal(50, LONG))
TREE = Tree(Split(LOW, 0, 1), 2)
TREE_JSON = assignment_to_json(TREE)


def old_store() -> tuple[MemoryStore, str]:
    """A layout as earlier versions wrote it, in which damage shows only when it is decoded."""
    described = {"workload": [[to_json(LOW), 3.0]], "assignment": assignment_to_json(TREE)}
    path = f"{LAYOUTS}/{RECORD.id}.json"
    store = MemoryStore()
    store.write(path, json.dumps({"format": 1, **earlier(RECORD), **described}).encode())
    return store, path


def test_the_workload_and_the_assignment_come_back() -> None:
    store, _ = old_store()
    found = stored_layout(store, RECORD.id, "t")
    assert found is not None
    assert [(entry.filter, entry.weight) for entry in found.workload] == [(LOW, 3.0)]
    assert found.design.group.assignment == TREE
    assert found.design.group.columns is None


def test_a_design_comes_back_with_all_its_groups() -> None:
    sort, feature = (K,), Feature(LOW, "k < 50")
    tracked = TrackedSet((Tracked(K, "k", LONG), Tracked(MONTH, "month(d)", INT)), (feature,))
    left = ColumnGroup(TREE, sort, (feature,), (MONTH,), ("k", "d"))
    right = ColumnGroup(Grid((Dimension(K, (5, 7)),), np.array([0, 0, 1, 1], np.int32), 2), columns=("v",))
    groups = (group_record(left, ["k"], tracked), group_record(right, [], TrackedSet(())))
    store = MemoryStore()
    save_layout(store, replace(RECORD, groups=groups))
    found = stored_layout(store, RECORD.id, "t")
    assert found is not None
    one, other = found.design.groups
    assert (one.assignment, one.sort, one.columns) == (TREE, sort, ("k", "d"))
    assert (one.features, one.expressions) == ((feature,), (MONTH,))
    assert isinstance(other.assignment, Grid)
    assert (other.assignment.dimensions, other.columns, other.sort) == ((Dimension(K, (5, 7)),), ("v",), ())
    assert found.design.parameters == RECORD.parameters


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"strategy": "spiral"}, "There is no layout spiral"),
        ({"strategy": "selforg", "options": {"curve": "peano"}}, "There is no curve peano"),
        ({"options": {"curve": "z"}}, "The option curve is for the layout selforg"),
        ({"groups": (replace(RECORD.group, columns=()),)}, "at least one column"),
        ({"groups": (RECORD.group, RECORD.group)}, "column groups do not overlap"),
        ({"groups": (replace(RECORD.group, assignment={"kind": "heap"}),)}, "unknown kind heap"),
        ({"groups": (replace(RECORD.group, assignment={**TREE_JSON, "blocks": 1}),)}, "leaf is 1"),
    ],
)
def test_a_layout_that_there_is_not_is_one_sentence(change: dict[str, Any], sentence: str) -> None:
    store = MemoryStore()
    save_layout(store, replace(RECORD, **change))
    with pytest.raises(DamagedFileError, match=sentence):
        stored_layout(store, RECORD.id, "t")


def test_what_is_not_stored_is_none() -> None:
    assert stored_layout(MemoryStore(), "gone", "t") is None


@pytest.mark.parametrize("seed", [0, 1])
def test_a_damaged_file_is_decoded_or_named_and_never_anything_else(seed: int) -> None:
    store, path = old_store()
    whole = store.files[path]
    refused = decoded = 0
    for data in damaged(whole, seed):
        store.files[path] = data
        found, sentence = attempt(lambda: stored_layout(store, RECORD.id, "t"))
        if found is None:
            assert sentence.startswith(f"t/{path} ")
            assert "\n" not in sentence
            refused += 1
        else:
            decoded += 1
    assert refused > 300
    assert decoded > 5, "a changed name or number cannot be noticed without a digest"
