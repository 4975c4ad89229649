"""Segments in a file store: added, replaced, and refused when a single bit is wrong."""

from __future__ import annotations

import pytest
from tests.catalog.segments import A, MemoryStore, bounds, segment

from skipstone.catalog import encode, load, publish, stamp
from skipstone.catalog.store import replace_segments
from skipstone.errors import SkipstoneError
from skipstone.predicate.types import INT

BLOCKS = "_skipstone/blocks/"


def test_an_empty_store_is_an_empty_catalog() -> None:
    store = MemoryStore()
    assert stamp(store) == ()
    assert len(load(store, "t")) == 0


def test_segments_are_numbered_and_loaded_in_that_order() -> None:
    store = MemoryStore()
    names = [publish(store, segment(["f"], {A: bounds(INT, [n], [n])})) for n in range(11)]
    assert [name[:9] for name in names] == [f"{n:08d}-" for n in range(1, 12)]
    assert stamp(store) == tuple(names)
    assert load(store, "t").blocks.statistics[A].low.to_pylist() == [10], "the newest entry"


def test_a_replacing_segment_is_the_only_one_and_has_a_new_stamp() -> None:
    store = MemoryStore()
    before = [publish(store, segment([name])) for name in "fg"]
    name = publish(store, segment(["f"]), replace=True)
    assert stamp(store) == (name,)
    assert name not in before
    assert load(store, "t").files.paths == ("f",)


def test_files_that_are_no_segments_are_left_alone() -> None:
    store = MemoryStore()
    name = publish(store, segment(["f"]))
    others = ["README", f".{name}.draft", f"{name}.crc", "1-abc.parquet"]
    for other in others:
        store.write(BLOCKS + other, b"?")
    assert stamp(store) == (name,)
    assert len(load(store, "t")) == 1
    publish(store, segment(["f"]), replace=True)
    assert all(BLOCKS + other in store.files for other in others)


def test_a_segment_of_which_one_bit_is_wrong_is_never_used() -> None:
    store = MemoryStore()
    path = BLOCKS + publish(store, segment(["f", "g"], {A: bounds(INT, [1, 5], [2, 6])}))
    whole = store.files[path]
    for index in range(len(whole)):
        store.files[path] = whole[:index] + bytes([whole[index] ^ 1 << index % 8]) + whole[index + 1 :]
        with pytest.raises(SkipstoneError):
            load(store, "t")
    store.files[path] = whole
    assert len(load(store, "t")) == 2


def test_another_segment_under_the_name_of_one_is_damage_that_names_it() -> None:
    store = MemoryStore()
    name = publish(store, segment(["f"]))
    store.files[BLOCKS + name] = encode(segment(["g"]))
    with pytest.raises(SkipstoneError, match=f"^t/{BLOCKS}{name} is damaged .*; delete it and index again"):
        load(store, "t")


def test_one_damaged_segment_makes_the_whole_catalog_unusable_until_it_is_replaced() -> None:
    store = MemoryStore()
    publish(store, segment(["f"]))
    name = publish(store, segment(["g"]))
    store.files[BLOCKS + name] = b"junk"
    with pytest.raises(SkipstoneError):
        load(store, "t")
    publish(store, segment(["f", "g"]), replace=True)
    assert len(load(store, "t")) == 2


def test_only_those_are_replaced_that_were_named_and_what_came_meanwhile_stays_the_newest() -> None:
    store = MemoryStore()
    old = [publish(store, segment([name])) for name in "abc"]
    later = publish(store, segment(["c"], {A: bounds(INT, [7], [7])}))
    names = replace_segments(store, old, [segment(["a"]), segment(["b", "c"])])
    assert stamp(store) == (*names, later)
    assert load(store, "t").names == stamp(store)
    assert load(store, "t").blocks.statistics[A].low.to_pylist() == [None, None, 7]


def test_more_segments_than_they_replace_are_numbered_anew() -> None:
    store = MemoryStore()
    old = [publish(store, segment(["a"]))]
    later = publish(store, segment(["b"]))
    names = replace_segments(store, old, [segment(["a"]), segment(["c"])])
    assert stamp(store) == (later, *names)


def test_a_segment_that_replaces_itself_is_not_deleted() -> None:
    store = MemoryStore()
    name = publish(store, segment(["a"]))
    assert replace_segments(store, [name], [segment(["a"])]) == [name]
    assert stamp(store) == (name,)


class CompactedMeanwhile(MemoryStore):
    """Somebody else replaces all segments after they were listed, so many times."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    def read(self, path: str) -> bytes:
        if self.times:
            self.times -= 1
            publish(self, segment(["f", "g", f"h{self.times}"]), replace=True)
        return super().read(path)


def test_segments_that_vanish_while_they_are_read_are_listed_anew() -> None:
    store = CompactedMeanwhile(2)
    for name in "fg":
        publish(store, segment([name]))
    assert load(store, "t").files.paths == ("f", "g", "h0")
    store.times = 9
    with pytest.raises(KeyError):
        load(store, "t")
