"""Publishing on file systems that show files before they are whole, and beside other publishers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.catalog.segments import A, MemoryStore, bounds, segment

from skipstone.catalog import load, publish, stamp
from skipstone.catalog.store import replace_segments
from skipstone.errors import SkipstoneError
from skipstone.predicate.types import INT

BLOCKS = "_skipstone/blocks/"


class GrowingStore(MemoryStore):
    """A file appears empty, grows byte group by byte group, and others act at every moment in between."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile: Callable[[], object] = lambda: None

    def write(self, path: str, data: bytes) -> None:
        self._others_act()
        for end in (0, 1, len(data) // 2, len(data) - 1, len(data)):
            super().write(path, data[:end])
            self._others_act()

    def delete(self, path: str) -> None:
        super().delete(path)
        self._others_act()

    def _others_act(self) -> None:
        act, self.meanwhile = self.meanwhile, lambda: None
        act()
        self.meanwhile = act


def test_a_reader_at_any_moment_of_a_publication_sees_all_that_was_there_or_an_error() -> None:
    store = GrowingStore()
    publish(store, segment(["f"]))
    seen: list[tuple[str, ...]] = []

    def look() -> None:
        try:
            seen.append(load(store, "t").files.paths)
        except SkipstoneError:
            seen.append(())

    store.meanwhile = look
    publish(store, segment(["g"]))
    assert seen == [("f",), (), (), (), (), ("f", "g")]
    seen.clear()
    replace_segments(store, stamp(store), [segment(["f", "g"])])
    assert set(seen) == {(), ("f", "g")}
    assert seen[-1] == ("f", "g")


def test_no_beginning_of_a_segment_is_ever_taken_for_it() -> None:
    store = MemoryStore()
    path = BLOCKS + publish(store, segment(["f", "g"], {A: bounds(INT, [1, 5], [2, 6])}))
    whole = store.files[path]
    for end in range(len(whole)):
        store.files[path] = whole[:end]
        with pytest.raises(SkipstoneError, match="not written to its end"):
            load(store, "t")


def test_a_patient_reader_waits_for_a_segment_that_is_being_written() -> None:
    store = MemoryStore()
    path = BLOCKS + publish(store, segment(["f"]))
    whole, store.files[path] = store.files[path], b""
    pauses: list[float] = []

    def grow(seconds: float) -> None:
        pauses.append(seconds)
        store.files[path] = whole[: len(whole) * len(pauses) // 3]

    assert load(store, "t", patience=1.0, pause=grow).files.paths == ("f",)
    assert len(pauses) == 3
    store.files[path] = whole[:-1]
    pauses.clear()
    with pytest.raises(SkipstoneError, match="delete it and index again if it stays so"):
        load(store, "t", patience=1.0, pause=pauses.append)
    assert sum(pauses) == pytest.approx(1.0)


def test_a_segment_that_was_left_half_written_is_written_again_under_its_name() -> None:
    store = MemoryStore()
    path = BLOCKS + publish(store, segment(["f"]))
    whole, store.files[path] = store.files[path], store.files[path][:10]
    replace_segments(store, stamp(store), [segment(["f"])])
    assert store.files[path] == whole
    assert load(store, "t").files.paths == ("f",)


def test_of_publishers_that_took_the_same_number_none_loses_anything() -> None:
    store = GrowingStore()
    others = iter("abcdeg")
    store.meanwhile = lambda: publish(store, segment([next(others)]))
    publish(store, segment(["f"]))
    store.meanwhile = lambda: None
    names = stamp(store)
    assert len(names) == 7
    assert len({name[:8] for name in names}) < 7, "a number was taken twice"
    assert set(load(store, "t").files.paths) == set("abcdefg")


def test_a_publication_during_a_replacement_is_kept() -> None:
    store = GrowingStore()
    old = [publish(store, segment([name])) for name in "ab"]
    others = iter("cdefghijklmnop")
    store.meanwhile = lambda: publish(store, segment([next(others)]))
    replace_segments(store, old, [segment(["a", "b"])])
    added = next(others)
    assert set(load(store, "t").files.paths) == set("abcdefghijklmnop".partition(added)[0])
