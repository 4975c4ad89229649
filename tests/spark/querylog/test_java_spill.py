"""The queue of the query log's listener, and who may still write to a file."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from tests.spark.bridge.java_calls import call, construct


class Queue:
    """A queue of three lines at most, whose file holds as many bytes as are given."""

    def __init__(self, spark: SparkSession, folder: Path, most_bytes: int = 1000) -> None:
        self.spark = spark
        self.handle = construct(spark, "SpillQueue", str(folder), "me", 3, most_bytes)

    def __call__(self, method: str, *arguments: Any) -> Any:
        return call(self.spark, self.handle, method, *arguments)

    def status(self) -> Any:
        return json.loads(self("status"))


def test_lines_wait_until_the_queue_is_full_and_then_go_to_the_file(
    spark: SparkSession, tmp_path: Path
) -> None:
    queue = Queue(spark, tmp_path / "spill")
    for line in "abc":
        queue("add", line)
    assert (queue.status()["waiting"], (tmp_path / "spill").exists()) == (3, False)
    queue("add", "d")
    assert (tmp_path / "spill" / "me.0.jsonl").read_text() == "a\nb\nc\n"
    assert queue.status() == {"recorded": 4, "waiting": 1, "dropped": {}, "problems": []}


def test_what_is_logged_is_for_the_user_only(spark: SparkSession, tmp_path: Path) -> None:
    queue = Queue(spark, tmp_path / "spill")
    queue("add", "a")
    queue("spill")
    written = (tmp_path / "spill", tmp_path / "spill" / "me.0.jsonl")
    modes = [stat.S_IMODE(path.stat().st_mode) for path in written]
    assert modes == [0o700, 0o600]


def test_a_closed_file_is_followed_by_the_next_number(spark: SparkSession, tmp_path: Path) -> None:
    queue = Queue(spark, tmp_path)
    assert (queue("rotate"), queue("number")) == ("", 0)
    for number, line in enumerate("ab"):
        queue("add", line)
        assert queue("rotate") == ""
        assert (tmp_path / f"me.{number}.jsonl").read_text() == f"{line}\n"
        assert queue("number") == number + 1


def test_a_file_that_has_reached_its_limit_drops_lines_and_says_so_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    queue = Queue(spark, tmp_path, most_bytes=6)
    for line in "abcdefgh":
        queue("add", line)
    status = queue.status()
    assert status["dropped"] == {"the queue was full": 2}
    assert status["problems"] == ["the queue was full", "the spill file has reached its limit"]
    assert (tmp_path / "me.0.jsonl").read_text() == "a\nb\nc\n"
    assert queue("rotate") == "d\ne\nf", "what could not be written is given back"


def test_a_place_that_cannot_be_written_keeps_the_lines(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    queue = Queue(spark, tmp_path / "file")
    queue("add", "a")
    queue("spill")
    assert queue.status()["waiting"] == 1
    assert queue.status()["problems"] == [f"the queue cannot be spilled to {tmp_path / 'file'}"]


def test_a_writer_may_run_as_long_as_its_process_does(spark: SparkSession) -> None:
    writer = construct(spark, "LogWriter")
    host, process, started, number = call(spark, writer, "id").split("_")

    def may_run(*parts: str) -> bool:
        return bool(call(spark, writer, "mayRun", "_".join(parts)))

    assert not may_run(host, process, started, number), "it has not begun"
    call(spark, writer, "begin")
    assert may_run(host, process, started, number)
    call(spark, writer, "end")
    assert not may_run(host, process, started, number)
    assert may_run("elsewhere", process, started, number), "what other machines do is not known"
    assert may_run("not", "an", "id")
    assert not may_run(host, str(os.getpid()), "1", number), "another process has its number now"
