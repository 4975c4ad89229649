"""The decision log is bounded, and waiting leaves one entry."""

from __future__ import annotations

import json
from datetime import datetime

from tests.damage import damaged

from skipstone.catalog.decisions import MOST_DECISIONS, Decision, load_decisions, save_decision
from skipstone.errors import SkipstoneError


class Memory:
    """A file store of one table."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def names(self, folder: str) -> list[str]:
        return sorted(path.rpartition("/")[2] for path in self.files if path.startswith(f"{folder}/"))

    def read(self, path: str) -> bytes:
        return self.files[path]

    def write(self, path: str, data: bytes) -> None:
        self.files[path] = data

    def delete(self, path: str) -> None:
        self.files.pop(path, None)


def decision(minute: int, code: str, acted: bool = False) -> Decision:
    moment = f"2024-05-{1 + minute // 1440:02d}T{minute // 60 % 24:02d}:{minute % 60:02d}:00.000001+00:00"
    return Decision(moment, acted, code, "a sentence", {"bytes": minute})


def test_decisions_come_back_in_order_with_their_numbers() -> None:
    store = Memory()
    made = [decision(0, "WAITING"), decision(1, "PAYS", True), decision(2, "PAYS", True)]
    for each in made:
        save_decision(store, each)
    assert load_decisions(store) == tuple(made)
    assert load_decisions(store, 1) == (made[-1],)


def test_a_repeated_negative_decision_replaces_the_one_before() -> None:
    store = Memory()
    for minute in range(5):
        save_decision(store, decision(minute, "WAITING"))
    save_decision(store, decision(5, "DOES_NOT_PAY"))
    waiting, other = load_decisions(store)
    assert (waiting.code, waiting.repeated, waiting.numbers["bytes"]) == ("WAITING", 4, 4)
    assert (other.code, other.repeated) == ("DOES_NOT_PAY", 0)


def test_only_the_newest_decisions_are_kept() -> None:
    store = Memory()
    for minute in range(MOST_DECISIONS + 10):
        save_decision(store, decision(minute, "PAYS", True))
    found = load_decisions(store)
    assert len(found) == MOST_DECISIONS
    assert found[-1].numbers["bytes"] == MOST_DECISIONS + 9


class Vanishing(Memory):
    """One in which whatever is listed has just been deleted by somebody else."""

    def read(self, path: str) -> bytes:
        raise SkipstoneError(f"{path} cannot be read: it does not exist.")


def test_a_decision_that_somebody_else_has_just_replaced_is_left_out() -> None:
    store = Vanishing()
    for minute in (0, 1):
        save_decision(store, decision(minute, "WAITING"))
    assert len(store.files) == 2
    assert load_decisions(store) == ()


def test_a_damaged_decision_is_left_out() -> None:
    store = Memory()
    save_decision(store, decision(0, "PAYS", True))
    store.write("_skipstone/decisions/20240501T000100Z-00000000.json", b"{")
    assert [each.code for each in load_decisions(store)] == ["PAYS"]


def test_whatever_is_done_to_a_decision_it_is_left_out() -> None:
    store = Memory()
    save_decision(store, decision(0, "PAYS", True))
    (path,) = store.files
    whole = store.files[path]
    for data in damaged(whole, flips=len(whole)):
        store.files[path] = data
        assert load_decisions(store) == ()
        assert save_decision(store, decision(1, "WAITING")).repeated == 0
        store.files = {path: whole}
    assert [each.code for each in load_decisions(store)] == ["PAYS"]


def test_decisions_of_earlier_versions_are_read_unless_they_are_damaged() -> None:
    whole = json.dumps(decision(0, "PAYS", True).to_dict()).encode()
    path = "_skipstone/decisions/20240501T000000000001Z-00ff00ff.json"
    store = Memory()
    store.write(path, whole)
    assert load_decisions(store) == (decision(0, "PAYS", True),)
    for data in damaged(whole):
        store.write(path, data)
        for found in load_decisions(store):
            assert datetime.fromisoformat(found.time).tzinfo is not None
            assert isinstance(found.numbers, dict)
