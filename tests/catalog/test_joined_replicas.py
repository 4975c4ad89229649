"""Joined replicas: which joins they answer, and records that are read as they were written, or not at all."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.catalog.test_replica_store import FolderTree

from skipstone.catalog.joined_replicas import (
    CoveredTable,
    JoinedRead,
    JoinedReplica,
    JoinMatch,
    JoinRefusal,
    match_join,
)
from skipstone.catalog.joined_store import (
    JOINED,
    copy_folder,
    delete_joined,
    joined_stamp,
    load_joined,
    mark_joined_damaged,
    save_joined,
    sweep_joined,
)

TABLES = (
    CoveredTable("/f", "1", {"o": "o", "v": "v"}),
    CoveredTable("/o", "2", {"id": "o", "c": "c", "v": "o_v"}, "/f", (("o", "id"),), "has_o"),
    CoveredTable("/c", "3", {"id": "c", "name": "name"}, "/o", (("c", "id"),), "has_c", always=True),
)
REPLICA = JoinedReplica("r1", "2026-01-01", "qdtree", copy_folder("r1", "a"), "s", TABLES, 10, 1 << 60)
READS = {
    "/f": JoinedRead("/f", "1", ("o", "v")),
    "/o": JoinedRead("/o", "2", ("id", "c", "v")),
    "/c": JoinedRead("/c", "3", ("id", "name")),
}


def match(*roots: str, equal: tuple[str, ...] = ()) -> JoinMatch | JoinRefusal:
    """How the joins of some tables are answered; ``1.id=0.o`` for each of ``equal``."""
    sides = [side.split(".") for each in equal for side in each.split("=")]
    pairs = [
        (int(a), one, int(b), other) for (a, one), (b, other) in zip(sides[::2], sides[1::2], strict=True)
    ]
    return match_join(REPLICA, [READS[root] for root in roots], pairs)


def test_a_join_of_some_of_the_tables_needs_the_partners_in_these() -> None:
    found = match("/o", "/f", equal=("1.o=0.id",))
    assert found == JoinMatch(({"id": "o", "c": "c", "v": "o_v"}, {"o": "o", "v": "v"}), ("has_o",))


def test_a_snowflake_is_answered_and_tables_with_partners_for_all_need_no_flag() -> None:
    found = match("/f", "/o", "/c", equal=("0.o=1.id", "2.id=1.c"))
    assert isinstance(found, JoinMatch)
    assert found.present == ("has_o",)


def test_keys_that_are_equal_by_way_of_others_are_equal() -> None:
    same = ("0.o=0.v", "1.v=0.v", "1.id=1.v")
    assert isinstance(match("/f", "/o", equal=same), JoinMatch)
    assert isinstance(match("/f", "/o", equal=same[:2]), JoinRefusal)


@pytest.mark.parametrize(
    ("reads", "equal", "code"),
    [
        (("/f", "/o"), (), "OTHER_KEYS"),
        (("/f", "/o"), ("0.o=1.c",), "OTHER_KEYS"),
        (("/f", "/c"), ("0.o=1.id",), "OTHER_KEYS"),
        (("/f", "/o", "/o"), ("0.o=1.id", "0.o=2.id"), "SELF_JOIN"),
        (("/o", "/c"), ("0.c=1.id",), "OTHER_TABLES"),
    ],
)
def test_other_joins_are_refused(reads: tuple[str, ...], equal: tuple[str, ...], code: str) -> None:
    found = match(*reads, equal=equal)
    assert isinstance(found, JoinRefusal)
    assert found.code == code


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        (replace(READS["/o"], state="other"), "STALE"),
        (replace(READS["/o"], state=""), "NOT_KNOWN"),
        (replace(READS["/o"], columns=("id", "comment")), "MISSING_COLUMN"),
        (replace(READS["/o"], root="/other"), "OTHER_TABLES"),
    ],
)
def test_other_versions_columns_and_tables_are_refused(changed: JoinedRead, code: str) -> None:
    found = match_join(REPLICA, (READS["/f"], changed), ((0, "o", 1, "id"),))
    assert isinstance(found, JoinRefusal)
    assert found.code == code


def test_a_record_is_read_as_it_was_written_and_replaced_by_a_newer_one() -> None:
    store = FolderTree()
    save_joined(store, replace(REPLICA, queries="[1]", block_rows=7))
    assert load_joined(store, "/f").replicas == (replace(REPLICA, queries="[1]", block_rows=7),)
    newer = replace(REPLICA, created="2026-02-01", folder=copy_folder("r1", "b"))
    save_joined(store, newer)
    assert load_joined(store, "/f").replicas == (newer,)
    other = replace(REPLICA, id="r2", created="2026-03-01", folder=copy_folder("r2", "a"))
    save_joined(store, other)
    assert load_joined(store, "/f").replicas == (other, newer), "the newest first"


def test_what_is_damaged_answers_nothing_until_it_is_made_anew() -> None:
    store = FolderTree()
    save_joined(store, REPLICA)
    mark_joined_damaged(store, "r1")
    (found,) = load_joined(store, "/f").replicas
    refused = match_join(found, tuple(READS.values()), ())
    assert isinstance(refused, JoinRefusal)
    assert refused.code == "DAMAGED"
    save_joined(store, replace(REPLICA, created="2026-02-01"))
    assert not load_joined(store, "/f").replicas[0].damaged


def test_a_record_with_a_wrong_bit_or_of_a_newer_format_is_a_problem_and_not_used() -> None:
    store = FolderTree()
    save_joined(store, REPLICA)
    (name,) = joined_stamp(store)
    data = store.read(f"{JOINED}/{name}")
    store.delete(f"{JOINED}/{name}")
    store.write(f"{JOINED}/{name}", data.replace(b'"rows": 10', b'"rows": 11'))
    found = load_joined(store, "/f")
    assert not found.replicas
    assert "do not fit its name" in found.problems[0]


def test_a_dropped_replica_leaves_its_files_for_a_day_or_not_at_all() -> None:
    store = FolderTree()
    save_joined(store, REPLICA)
    store.write(f"{REPLICA.folder}/part-0.parquet", b"rows")
    sweep_joined(store)
    assert store.names(REPLICA.folder)
    delete_joined(store, "r1")
    assert not load_joined(store, "/f").replicas
    assert store.names(REPLICA.folder), "a query may be reading it"
    save_joined(store, REPLICA)
    delete_joined(store, "r1", now=True)
    assert not store.names(REPLICA.folder)
