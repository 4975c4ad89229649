"""Layouts as they are used: whatever their files hold, decoded or one sentence that names them."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest
from tests.catalog.segments import MemoryStore
from tests.catalog.test_layouts import RECORD
from tests.damage import attempt, damaged

from skipstone.catalog.layouts import LAYOUTS
from skipstone.layout.assignment import Split, Tree
from skipstone.layout.codec import assignment_to_json
from skipstone.layout.stored_layout import stored_layout
from skipstone.predicate.codec import to_json
from skipstone.predicate.expr import Column, Comparison, Literal
from skipstone.predicate.types import LONG

LOW = Comparison("<", Column(("k",), LONG), Literal(50, LONG))
TREE = Tree(Split(LOW, 0, 1), 2)


def old_store() -> tuple[MemoryStore, str]:
    """A layout as earlier versions wrote it, in which damage shows only when it is decoded."""
    described = {"workload": [[to_json(LOW), 3.0]], "assignment": assignment_to_json(TREE)}
    path = f"{LAYOUTS}/{RECORD.id}.json"
    store = MemoryStore()
    store.write(path, json.dumps({"format": 1, **asdict(RECORD), **described}).encode())
    return store, path


def test_the_workload_and_the_assignment_come_back() -> None:
    store, _ = old_store()
    found = stored_layout(store, RECORD.id, "t")
    assert found is not None
    assert [(entry.filter, entry.weight) for entry in found.workload] == [(LOW, 3.0)]
    assert found.assignment == TREE


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
