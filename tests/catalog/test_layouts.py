"""Stored layouts: found by their id, and never taken for what they are not."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace

import pytest
from tests.catalog.segments import MemoryStore
from tests.damage import attempt, damaged

from skipstone.catalog.layouts import LAYOUTS, LayoutRecord, layout_path, load_layout, save_layout
from skipstone.errors import DamagedFileError, SkipstoneError

RECORD = LayoutRecord(
    id="5d0c2f6e91ab",
    strategy="qdtree",
    created="2026-05-01T12:00:00.000001+00:00",
    table_version=3,
    block_rows=600,
    partition_by=None,
    parameters={"cuts": 7},
    features=("k < 50",),
    expressions=("month(d)",),
    sort=(),
    fingerprint="0123456789abcdef",
    workload=(([">", ["column", ["k"], "bigint"], ["literal", 900, "bigint"]], 3.0),),
    assignment={"kind": "tree", "root": 0, "blocks": 1},
)


def stored() -> tuple[MemoryStore, str]:
    store = MemoryStore()
    save_layout(store, RECORD)
    (path,) = store.files
    return store, path


def test_a_layout_comes_back_and_its_name_has_a_digest() -> None:
    store, path = stored()
    assert re.fullmatch(rf"{LAYOUTS}/{RECORD.id}-[0-9a-f]{{12}}\.json", path)
    assert load_layout(store, RECORD.id) == RECORD
    assert layout_path(store, RECORD.id) == path


def test_a_layout_that_is_not_stored_is_none() -> None:
    store, _ = stored()
    for layout in ("", "5d0c2f6e91", "another"):
        assert load_layout(store, layout) is None


def test_whatever_is_done_to_the_file_is_noticed_in_a_sentence_that_names_it() -> None:
    store, path = stored()
    whole = store.files[path]
    variants = 0
    for data in damaged(whole, flips=len(whole)):
        store.files[path] = data
        with pytest.raises(DamagedFileError, match=rf"^s3a://b/t/{path} is damaged \(.*\); .* delete it and"):
            load_layout(store, RECORD.id, "s3a://b/t")
        variants += 1
    assert variants > len(whole)


def old_file(**other: object) -> MemoryStore:
    """As earlier versions wrote it: format 1, without a digest."""
    store = MemoryStore()
    data = {"format": 1, **asdict(RECORD), **other}
    store.write(f"{LAYOUTS}/{RECORD.id}.json", json.dumps(data).encode())
    return store


def test_a_layout_of_an_earlier_version_is_read() -> None:
    assert load_layout(old_file(), RECORD.id) == RECORD


def test_of_two_files_the_one_with_a_digest_counts() -> None:
    store = old_file(strategy="range")
    save_layout(store, RECORD)
    found = load_layout(store, RECORD.id)
    assert found is not None
    assert found.strategy == "qdtree"


def test_a_damaged_layout_of_an_earlier_version_is_a_record_or_one_sentence() -> None:
    store = old_file()
    (path,) = store.files
    whole = store.files[path]
    refused = 0
    for data in damaged(whole):
        store.files[path] = data
        found, sentence = attempt(lambda: load_layout(store, RECORD.id))
        if found is None:
            assert sentence.startswith(path)
            refused += 1
        else:
            assert found.block_rows > 0
            assert replace(found, id=RECORD.id) == found
    assert refused > 300


def test_a_layout_of_a_newer_version_is_left_alone() -> None:
    with pytest.raises(SkipstoneError, match="written by a newer skipstone; upgrade skipstone"):
        load_layout(old_file(format=3), RECORD.id)


def test_a_layout_under_the_name_of_another_is_refused() -> None:
    with pytest.raises(DamagedFileError, match="it describes the layout other"):
        load_layout(old_file(id="other"), RECORD.id)
