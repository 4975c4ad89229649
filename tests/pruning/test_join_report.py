"""What is said about joins."""

from __future__ import annotations

from skipstone.pruning.join_report import JoinJson, JoinReport, RunJson

RUN: RunJson = {"keys": 1, "files": 8, "files_read": 2, "bytes": 80, "bytes_read": 20, "failure": ""}


def written(code: str, share: float | None, last: RunJson | None) -> JoinJson:
    sentence = "the keys of a file are in most files"
    return {
        "key": "id = k",
        "join": "inner",
        "other": "dim where (grp = a)",
        "code": code,
        "sentence": sentence,
        "share": share,
        "last": last,
    }


def test_a_join_that_is_left_alone_says_why() -> None:
    found = JoinReport.read(written("SPREAD", 0.875, None))
    assert not found.used
    assert found.line() == (
        "inner join by id = k with dim where (grp = a): not used: the keys of a file are in most files, "
        "the keys of a file are in 88% of the files [SPREAD]"
    )


def test_after_a_run_it_says_what_was_read() -> None:
    found = JoinReport.read(written("BROADCAST", None, RUN))
    assert found.used
    assert found.line().endswith("[BROADCAST]; last run: 1 key, 2 of 8 files read")
    failed = JoinReport.read(written("BROADCAST", None, {**RUN, "keys": 2, "failure": "it broke"}))
    assert failed.line().endswith("; last run: 2 keys, it broke")
