"""Stored layouts: found by their id, and never taken for what they are not."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from tests.catalog.segments import MemoryStore
from tests.damage import attempt, damaged

from skipstone.catalog.layout_records import (
    FORMAT,
    LAYOUTS,
    GroupRecord,
    LayoutRecord,
    StoredExpr,
    layout_path,
    load_layout,
    save_layout,
)
from skipstone.catalog.store import digest_of
from skipstone.errors import DamagedFileError, SkipstoneError

DATA = Path(__file__).parent / "data"
"""Files as earlier versions wrote them."""

LOW = ["comparison", "<", ["column", ["k"], "long"], ["literal", 50, "long"]]
MONTH = ["call", "month", [["column", ["d"], "date"]], "integer", []]
RECORD = LayoutRecord(
    id="5d0c2f6e91ab",
    strategy="qdtree",
    created="2026-05-01T12:00:00.000001+00:00",
    table_version=3,
    block_rows=600,
    partition_by=None,
    options={},
    parameters={"cuts": 7},
    fingerprint="0123456789abcdef",
    workload=((LOW, 3.0),),
    groups=(
        GroupRecord(
            columns=None,
            assignment={"kind": "tree", "root": 0, "blocks": 1},
            sort=(),
            features=(StoredExpr("k < 50", LOW),),
            expressions=(StoredExpr("month(d)", MONTH),),
        ),
    ),
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


def earlier(record: LayoutRecord) -> dict[str, object]:
    """The fields of a record in formats 1 and 2."""
    data = asdict(record)
    (group,) = data.pop("groups")
    del data["options"]
    texts = {key: [each["sql"] for each in group[key]] for key in ("features", "expressions", "sort")}
    return {**data, **texts, "assignment": group["assignment"]}


def as_read(record: LayoutRecord) -> LayoutRecord:
    """A record as it is read from an earlier format, which had no expressions."""
    group = record.group
    plain = replace(
        group,
        sort=_texts(group.sort),
        features=_texts(group.features),
        expressions=_texts(group.expressions),
    )
    return replace(record, groups=(plain,))


def _texts(stored: tuple[StoredExpr, ...]) -> tuple[StoredExpr, ...]:
    return tuple(StoredExpr(each.sql) for each in stored)


def old_file(**other: object) -> MemoryStore:
    """As earlier versions wrote it: format 1, without a digest and column groups."""
    store = MemoryStore()
    data = {"format": 1, **earlier(RECORD), **other}
    store.write(f"{LAYOUTS}/{RECORD.id}.json", json.dumps(data).encode())
    return store


def test_a_layout_of_an_earlier_version_is_read() -> None:
    assert load_layout(old_file(), RECORD.id) == as_read(RECORD)


@pytest.mark.parametrize(
    ("name", "strategy", "options"),
    [
        ("aa0c2f6e91ab.json", "qdtree", {}),
        ("5d0c2f6e91ab-358fe75721dd.json", "selforg", {"curve": "hilbert"}),
    ],
    ids=["format 1", "format 2"],
)
def test_files_of_earlier_formats_are_read_as_one_group_with_all_columns(
    name: str, strategy: str, options: dict[str, str]
) -> None:
    store = MemoryStore()
    store.write(f"{LAYOUTS}/{name}", (DATA / name).read_bytes())
    found = load_layout(store, name[:12])
    assert found is not None
    assert (found.strategy, found.options) == (strategy, options)
    assert found.group.columns is None
    assert found.group.sort == (StoredExpr("month(d)"), StoredExpr("k"))
    assert found.group.features == (StoredExpr("k < 50"),)
    assert found.group.expressions == (StoredExpr("month(d)"),)
    assert found.group.assignment["kind"] == ("tree" if strategy == "qdtree" else "grid")
    assert found.workload == ((LOW, 3.0),)


def test_a_layout_of_format_2_is_checked_by_its_digest() -> None:
    name = "5d0c2f6e91ab-358fe75721dd.json"
    store = MemoryStore()
    store.write(f"{LAYOUTS}/{name}", (DATA / name).read_bytes().replace(b"hilbert", b"hilbers"))
    with pytest.raises(DamagedFileError, match="its bytes do not fit its name"):
        load_layout(store, name[:12])


def test_several_column_groups_come_back() -> None:
    groups = tuple(replace(RECORD.group, columns=columns) for columns in (("a", "b"), ("c",)))
    store = MemoryStore()
    save_layout(store, replace(RECORD, groups=groups))
    found = load_layout(store, RECORD.id)
    assert found is not None
    assert found.groups == groups
    with pytest.raises(SkipstoneError, match="has 2 column groups"):
        _ = found.group


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


@pytest.mark.parametrize("seed", [0, 1])
def test_a_damaged_layout_under_the_digest_of_its_bytes_is_a_record_or_one_sentence(seed: int) -> None:
    """As a faulty writer might leave it; without that the digest tells."""
    store, path = stored()
    whole, refused = store.files.pop(path), 0
    for data in damaged(whole, seed):
        store.files = {f"{LAYOUTS}/{RECORD.id}-{digest_of(data)}.json": data}
        found, sentence = attempt(lambda: load_layout(store, RECORD.id))
        if found is None:
            assert sentence.startswith(LAYOUTS)
            assert "\n" not in sentence
            refused += 1
        else:
            assert len(found.groups) == 1
    assert refused > 300


def test_a_layout_of_a_newer_version_is_left_alone() -> None:
    with pytest.raises(SkipstoneError, match="written by a newer skipstone; upgrade skipstone"):
        load_layout(old_file(format=FORMAT + 1), RECORD.id)


def test_a_layout_under_the_name_of_another_is_refused() -> None:
    with pytest.raises(DamagedFileError, match="it describes the layout other"):
        load_layout(old_file(id="other"), RECORD.id)
