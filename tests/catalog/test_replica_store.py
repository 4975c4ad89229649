"""Records of horizontal partitions: read as they were written, or not at all."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.catalog.replica_parts import SCHEMA, files, part
from tests.catalog.segments import A, MemoryStore, bounds, segment

from skipstone.catalog import stamp
from skipstone.catalog.replica_store import (
    REPLICAS,
    WITH_GROUPS,
    delete_partition,
    delete_replica,
    forget_empty,
    load_replicas,
    partition_folder,
    replica_stamp,
    save_empty,
    save_partition,
    sweep_partitions,
)
from skipstone.catalog.replicas import HorizontalPartition
from skipstone.catalog.store import digest_of
from skipstone.predicate.types import INT

DATA = Path(__file__).parent / "data" / "replicas"
"""A replica as it was written in format 1."""


class FolderTree(MemoryStore):
    """As a file system has it: folders are listed too, and each has an age in milliseconds."""

    def __init__(self) -> None:
        super().__init__()
        self.ages: dict[str, int] = {}
        self.reads: list[str] = []

    def names(self, folder: str) -> list[str]:
        start = f"{folder}/"
        return sorted({path[len(start) :].split("/")[0] for path in self.files if path.startswith(start)})

    def read(self, path: str) -> bytes:
        self.reads.append(path)
        return super().read(path)

    def delete_folder(self, folder: str, unless_younger_millis: int | None = None) -> None:
        if unless_younger_millis is None or self.ages.get(folder, 0) > unless_younger_millis:
            super().delete_folder(folder)


def saved(*parts: HorizontalPartition) -> FolderTree:
    store = FolderTree()
    for each in parts:
        for path in each.files.paths:
            store.write(path, b"rows")
        save_partition(store, each)
    return store


def record_path(store: MemoryStore, name: str = "r.1") -> str:
    (found,) = (each for each in replica_stamp(store) if each.startswith(f"{name}-"))
    return f"{REPLICAS}/{found}"


def blocks_path(store: MemoryStore, name: str = "r.1") -> str:
    (found,) = (
        path for path in store.files if path.startswith(f"{REPLICAS}/{name.replace('.', '/')}/blocks-")
    )
    return found


def with_record(store: MemoryStore, change: Callable[[dict[str, Any]], object]) -> None:
    """Write the record of r.1 anew, with a name that fits it."""
    path = record_path(store)
    record = json.loads(store.files.pop(path))
    change(record)
    data = json.dumps(record).encode()
    store.write(f"{REPLICAS}/r.1-{digest_of(data)}.json", data)


def assert_left_out(store: MemoryStore, reason: str) -> None:
    """Nothing is used, and one sentence says why; other partitions are used."""
    found = load_replicas(store, "t")
    assert [each.name for each in found.parts] == ["r.2"]
    assert len(found.record_names) == 1
    assert found.names == replica_stamp(store)
    (problem,) = found.problems
    assert re.fullmatch(
        rf"t/{REPLICAS}/r\.1-[0-9a-f]{{12}}\.json cannot be used \(.*{reason}.*\)\.", problem
    ), problem


PART = replace(
    part("r.1", files("a", "p=1/b", vectors={"a": "u1:3"}), [900, 901]),
    segment=segment(["x", "y"], {A: bounds(INT, [1, 5], [2, 6])}),
    partition_values=('{"p":"1"}', '{"p":null}'),
)


def test_an_empty_store_has_no_replicas() -> None:
    found = load_replicas(MemoryStore(), "t")
    assert (len(found), found.names, found.problems) == (0, (), ())


def test_a_partition_is_read_as_it_was_saved() -> None:
    found = load_replicas(saved(PART), "t")
    (read,) = found.parts
    same = (
        "id",
        "replica",
        "created",
        "table_version",
        "schema",
        "rows",
        "row_hash",
        "partition_values",
        "name",
    )
    assert [getattr(read, each) for each in same] == [getattr(PART, each) for each in same]
    assert read.covered.paths == ("a", "p=1/b")
    assert read.covered.vectors == ("u1:3", "")
    assert (read.covered.sizes.tolist(), read.covered.times.tolist()) == ([1000, 1000], [7, 7])
    assert read.files.paths == ("x", "y")
    assert read.segment.blocks.statistics[A].low.to_pylist() == [1, 5]
    assert (found.problems, found.record_names) == ((), found.names)


def test_a_row_hash_of_any_size_and_odd_paths_stay_as_they_are() -> None:
    odd = replace(part("r.1", files("p=a%20b/ü.parquet", size=2**62, time=2**61)), row_hash=-(2**90))
    (read,) = load_replicas(saved(odd), "t").parts
    assert (read.row_hash, read.covered.paths) == (-(2**90), ("p=a%20b/ü.parquet",))
    assert (read.covered.sizes.tolist(), read.covered.times.tolist()) == ([2**62], [2**61])


def test_the_record_is_written_last() -> None:
    store = saved(PART)
    assert list(store.files)[-1] == record_path(store)


def test_a_partition_whose_record_is_not_written_does_not_count() -> None:
    class Full(MemoryStore):
        def write(self, path: str, data: bytes) -> None:
            if path.endswith(".json"):
                raise OSError("no space left")
            super().write(path, data)

    store = Full()
    with pytest.raises(OSError, match="no space left"):
        save_partition(store, PART)
    assert store.files
    assert replica_stamp(store) == ()
    assert len(load_replicas(store, "t")) == 0


def test_names_of_other_files_are_no_records() -> None:
    store = saved(PART)
    names = replica_stamp(store)
    others = [
        "README",
        f".{names[0]}.draft",
        f"{names[0]}.crc",
        "r.1.json",
        "r-123456789012.json",
        "R.1-0.json",
    ]
    for other in others:
        store.write(f"{REPLICAS}/{other}", b"?")
    assert replica_stamp(store) == names
    assert load_replicas(store, "t").problems == ()
    assert stamp(store) == (), "replicas are no segments of the table's own catalog"


@pytest.mark.parametrize("path_of", [record_path, blocks_path])
def test_one_wrong_bit_in_the_record_or_the_statistics_leaves_the_partition_out(
    path_of: Callable[[MemoryStore], str],
) -> None:
    store = saved(part("r.1", files("a")), part("r.2", files("b")))
    path = path_of(store)
    whole = store.files[path]
    for index in range(0, len(whole), 7):
        store.files[path] = whole[:index] + bytes([whole[index] ^ 1 << index % 8]) + whole[index + 1 :]
        assert_left_out(store, "do not fit its name")
    for end in (0, 1, len(whole) // 2, len(whole) - 1):
        store.files[path] = whole[:end]
        assert_left_out(store, "do not fit its name")
    store.files[path] = whole
    assert len(load_replicas(store, "t")) == 2


def test_missing_statistics_leave_the_partition_out() -> None:
    store = saved(part("r.1", files("a")), part("r.2", files("b")))
    del store.files[blocks_path(store)]
    assert_left_out(store, "blocks-")


def test_a_newer_format_is_left_out_and_said() -> None:
    store = saved(part("r.1", files("a")), part("r.2", files("b")))
    with_record(store, lambda record: record.update(format=WITH_GROUPS + 1))
    assert_left_out(store, f"it was written by a newer skipstone, in format {WITH_GROUPS + 1}")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda record: record.pop("covered"), "covered"),
        (lambda record: record.update(id="2"), ""),
        (lambda record: record.update(replica="q"), ""),
        (lambda record: record.update(partition_values=[]), "too few partition values"),
        (lambda record: record.update(partition_values=["", ""]), "too few partition values"),
        (lambda record: record["covered"].update(sizes=[1, 2]), "different lengths"),
        (lambda record: record["covered"].update(vectors=["", ""]), "different lengths"),
        (
            lambda record: record.update(covered={"paths": [], "sizes": [], "times": [], "vectors": []}),
            "no files",
        ),
        (
            lambda record: record.update(
                covered={"paths": ["a", "a"], "sizes": [1, 2], "times": [1, 1], "vectors": []}
            ),
            "occurs twice",
        ),
        (lambda record: record.update(rows="many"), ""),
        (lambda record: record.update(row_hash="x"), ""),
        (lambda record: record.update(format="1"), ""),
    ],
)
def test_a_record_that_makes_no_sense_is_left_out(
    change: Callable[[dict[str, Any]], object], reason: str
) -> None:
    store = saved(part("r.1", files("a")), part("r.2", files("b")))
    with_record(store, change)
    assert_left_out(store, reason)


def test_a_record_under_the_name_of_another_partition_is_left_out() -> None:
    store = saved(part("r.1", files("a")), part("r.2", files("b")))
    data = store.files.pop(record_path(store))
    store.write(f"{REPLICAS}/r.7-{digest_of(data)}.json", data)
    found = load_replicas(store, "t")
    assert [each.name for each in found.parts] == ["r.2"]
    assert "it describes r.1" in found.problems[0]


def test_what_was_read_before_is_not_read_again() -> None:
    store = saved(part("r.1", files("a")), part("r.2", files("b")))
    before = load_replicas(store, "t")
    save_partition(store, part("r.3", files("c")))
    delete_partition(store, "r.1")
    store.reads.clear()
    after = load_replicas(store, "t", before)
    assert [each.name for each in after.parts] == ["r.2", "r.3"]
    assert after.parts[0] is before.parts[1]
    assert len(store.reads) == 2, "the new record and its statistics"


def test_a_partition_that_was_damaged_before_is_tried_again() -> None:
    store = saved(PART)
    path = blocks_path(store)
    whole = store.files.pop(path)
    before = load_replicas(store, "t")
    assert (len(before), len(before.problems)) == (0, 1)
    store.files[path] = whole
    assert len(load_replicas(store, "t", before)) == 1


def test_a_retired_partition_counts_no_more_and_its_files_stay() -> None:
    store = saved(part("r.1", files("a")), part("r.12", files("b")), part("r1.2", files("c")))
    delete_partition(store, "r.1")
    assert [each.name for each in load_replicas(store, "t").parts] == ["r.12", "r1.2"]
    assert f"{partition_folder('r', '1')}/part-0.parquet" in store.files


def test_a_deleted_replica_leaves_no_files_and_others_alone() -> None:
    store = saved(part("r.1", files("a")), part("r.2", files("b")), part("r1.2", files("c")))
    save_empty(store, "r", "2026")
    delete_replica(store, "r", now=True)
    assert [each.name for each in load_replicas(store, "t").parts] == ["r1.2"]
    assert not [path for path in store.files if path.startswith((f"{REPLICAS}/r/", f"{REPLICAS}/r."))]
    assert len(replica_stamp(store)) == 1


def test_the_files_of_a_deleted_replica_stay_for_a_day() -> None:
    store = saved(part("r.1", files("a")), part("r.2", files("b")), part("r1.2", files("c")))
    save_empty(store, "r", "2026")
    before = {path for path in store.files if path.startswith(f"{REPLICAS}/r/")}
    delete_replica(store, "r")
    assert load_replicas(store, "t").ids() == ("r1",)
    sweep_partitions(store)
    assert before < {*store.files}
    retired = {f"{partition_folder('r', number)}/retired" for number in ("1", "2")}
    assert retired == {path for path in store.files if path.startswith(f"{REPLICAS}/r/")} - before
    store.ages = {partition_folder("r", number): 25 * 3_600_000 for number in ("1", "2")}
    sweep_partitions(store)
    assert store.names(f"{REPLICAS}/r") == []


def test_a_replica_without_partitions_counts() -> None:
    store = saved(part("r.1", files("a")))
    save_empty(store, "s", "2025-01-01")
    found = load_replicas(store, "t")
    assert found.ids() == ("s", "r"), "oldest first"
    assert (len(found), found.created("s"), found.problems) == (1, "2025-01-01", ())
    assert load_replicas(store, "t", found).ids() == ("s", "r")
    forget_empty(store, "s")
    assert load_replicas(store, "t").ids() == ("r",)
    save_empty(store, "r", "2025-01-01")
    assert load_replicas(store, "t").ids() == ("r",), "both records may be there for a moment"


def test_a_damaged_record_of_a_replica_without_partitions_is_told() -> None:
    store = MemoryStore()
    store.write(f"{REPLICAS}/empty-s-{'0' * 12}.json", b"{}")
    found = load_replicas(store, "t")
    assert found.ids() == ()
    assert "its bytes do not fit its name" in found.problems[0]


def test_only_folders_without_a_record_that_are_a_day_old_are_swept() -> None:
    store = saved(*(part(f"r.{number}", files("a")) for number in (1, 2, 3)))
    day = 24 * 3_600_000
    for number in (2, 3):
        delete_partition(store, f"r.{number}")
    store.ages = {partition_folder("r", "1"): 9 * day, partition_folder("r", "2"): 9 * day}
    sweep_partitions(store)
    assert store.names(f"{REPLICAS}/r") == ["1", "3"]
    store.ages[partition_folder("r", "3")] = day + 1
    sweep_partitions(store)
    assert store.names(f"{REPLICAS}/r") == ["1"]
    assert [each.name for each in load_replicas(store, "t").parts] == ["r.1"]


def test_a_replica_of_format_1_stays_readable() -> None:
    store = MemoryStore()
    for path in DATA.rglob("*"):
        if path.is_file():
            store.write(f"{REPLICAS}/{path.relative_to(DATA).as_posix()}", path.read_bytes())
    found = load_replicas(store, "t")
    assert found.problems == ()
    (read,) = found.parts
    assert (read.name, read.rows, read.row_hash, read.table_version) == (
        "5d0c2f6e91ab.77aa00bb11cc",
        20,
        2**64 - 1,
        3,
    )
    assert (read.schema, read.partition_values) == (SCHEMA, ('{"p":"1"}', '{"p":null}'))
    assert read.covered.paths == ("a", "p=1/b")
    assert read.covered.vectors == ("u1:3", "")
    assert read.files.paths == ("x", "y")
    assert read.segment.blocks.statistics[A].high.to_pylist() == [2, 6]
    snapshot = files("a", "p=1/b", "c", vectors={"a": "u1:3"})
    assert found.valid_in(snapshot).tolist() == [True]
    assert np.array_equal(found.valid_in(replace(snapshot, times=snapshot.times + 1)), [False])
