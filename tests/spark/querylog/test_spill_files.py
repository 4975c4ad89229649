"""The spill files of the query log: whose they are, and what becomes of their names. No JVM is needed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skipstone.spark.querylog.spill_files import SpillFolder

OWN, RUNNING, ENDED = "here_1_10_a", "here_2_20_b", "here_3_30_c"


@pytest.fixture
def told() -> list[str]:
    """What a folder complained of."""
    return []


@pytest.fixture
def folder(tmp_path: Path, told: list[str]) -> SpillFolder:
    return SpillFolder(tmp_path, OWN, 8_000, _runs, told.append)


def _runs(holder: str) -> bool:
    if holder.count("_") != 3:
        raise ValueError(holder)
    return holder != ENDED


def put(folder: SpillFolder, name: str, content: bytes = b"{}\n", second: int = 0) -> Path:
    path = folder.path / name
    path.write_bytes(content)
    os.utime(path, (second, second))
    return path


def names(folder: SpillFolder, current: int = 2) -> list[str]:
    return [file.path.name for file in folder.closed(current)]


def test_files_that_somebody_may_still_write_are_left_alone(folder: SpillFolder) -> None:
    put(folder, f"{OWN}.1.jsonl")
    left = [f"{OWN}.2.jsonl", f"{RUNNING}.0.jsonl", f"{ENDED}.0.by-{RUNNING}.jsonl", "notes.txt", "x.jsonl"]
    for name in left:
        put(folder, name)
    assert names(folder) == [f"{OWN}.1.jsonl"]
    assert {path.name for path in folder.path.iterdir()} == {f"{OWN}.1.jsonl", *left}
    assert not folder.abandoned()


def test_files_of_ended_applications_are_taken_over_and_keep_their_batch(folder: SpillFolder) -> None:
    put(folder, f"{ENDED}.7.jsonl")
    put(folder, f"{RUNNING}.5.tried.by-{ENDED}.jsonl")
    assert folder.abandoned()
    taken = [(file.path.name, file.batch, file.tried) for file in folder.closed(0)]
    assert taken == [
        (f"{RUNNING}.5.tried.by-{OWN}.jsonl", f"{RUNNING}.5", True),
        (f"{ENDED}.7.by-{OWN}.jsonl", f"{ENDED}.7", False),
    ]
    assert not folder.abandoned(), "they belong to somebody who runs now"
    assert [file.batch for file in folder.closed(0)] == [f"{RUNNING}.5", f"{ENDED}.7"], "and stay ours"


def test_what_was_tried_comes_first_and_then_the_oldest(folder: SpillFolder) -> None:
    put(folder, f"{OWN}.0.jsonl", second=3)
    put(folder, f"{OWN}.1.jsonl", second=1)
    put(folder, f"{OWN}.w1.jsonl", second=2)
    put(folder, f"{OWN}.w0.tried.jsonl", second=4)
    order = ["w0.tried", "1", "w1", "0"]
    assert names(folder) == [f"{OWN}.{name}.jsonl" for name in order]


def test_an_owner_that_nobody_understands_is_told_and_not_touched(
    folder: SpillFolder, told: list[str]
) -> None:
    path = put(folder, "no_such.0.jsonl")
    assert names(folder) == []
    assert path.exists()
    assert [problem for problem in told if "no_such still runs" in problem]


def test_marking_a_file_renames_it_and_keeps_its_batch(folder: SpillFolder) -> None:
    put(folder, f"{ENDED}.7.jsonl")
    (file,) = folder.closed(0)
    assert not folder.stays(file)
    marked = file.marked()
    assert folder.stays(marked)
    assert marked.path.name == f"{ENDED}.7.tried.by-{OWN}.jsonl"
    assert [(file.batch, file.tried) for file in folder.closed(0)] == [(f"{ENDED}.7", True)]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", ([], False)),
        (b"{}\n", ([b"{}"], False)),
        (b"{}\n{", ([b"{}"], True)),
    ],
)
def test_a_line_that_was_cut_off_is_left_out(
    folder: SpillFolder, content: bytes, expected: tuple[list[bytes], bool]
) -> None:
    put(folder, f"{OWN}.0.jsonl", content)
    (file,) = folder.closed(1)
    assert file.read() == expected


def test_a_file_keeps_what_it_is_told_to_and_is_deleted_without_any(folder: SpillFolder) -> None:
    path = put(folder, f"{OWN}.0.jsonl", b"a\nb\nc\n")
    (file,) = folder.closed(1)
    file.keep([b"a", b"c"])
    assert path.read_bytes() == b"a\nc\n"
    assert path.stat().st_mode & 0o077 == 0
    file.keep([])
    assert list(folder.path.iterdir()) == []


def test_lines_that_wait_are_put_together_in_files_of_a_bounded_size(folder: SpillFolder) -> None:
    folder.wait([])
    assert list(folder.path.iterdir()) == []
    lines = [f"{number:0300}".encode() for number in range(10)]
    for line in lines:
        folder.wait([line])
    files = sorted(folder.path.iterdir(), key=lambda path: path.name)
    assert len(files) == 4, "three of 301 bytes in an eighth of 8,000"
    assert b"".join(file.read_bytes() for file in files) == b"\n".join([*lines, b""])
    assert all(file.stat().st_mode & 0o077 == 0 for file in files)
    assert all(folder.stays(file) for file in folder.closed(0))


def test_a_waiting_file_that_was_offered_is_not_added_to(folder: SpillFolder) -> None:
    folder.wait([b"a"])
    (file,) = folder.closed(0)
    file.marked()
    folder.wait([b"b"])
    assert {file.path.read_bytes() for file in folder.closed(0)} == {b"a\n", b"b\n"}
    assert len({file.batch for file in folder.closed(0)}) == 2


def test_what_cannot_be_written_leaves_the_file_as_it_was_and_nothing_else(
    folder: SpillFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(folder, f"{OWN}.1.jsonl", b"{}\n{}\n")
    (file,) = folder.closed(2)

    class FullDisk:
        """Lines that the disk has no room for."""

        def __add__(self, other: bytes) -> bytes:
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left on device"):
        file.keep([FullDisk()])  # type: ignore[list-item]
    assert [each.name for each in folder.path.iterdir()] == [path.name]
    assert path.read_bytes() == b"{}\n{}\n"
