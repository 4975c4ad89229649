"""Recording: the Python half of the query log's listener, and the thread that empties its files."""

from __future__ import annotations

import json
import logging
import re
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from skipstone.catalog import stamp
from skipstone.predicate.normalize import normalize_filter
from skipstone.spark.column_names import ColumnNames
from skipstone.spark.failures import some_sentence_of
from skipstone.spark.janino import new_instance
from skipstone.spark.log_settings import LogSettings
from skipstone.spark.log_table import LogTable
from skipstone.spark.runtime import Question, Runtime
from skipstone.spark.table_files import BASE
from skipstone.workload.log import LoggedScan, redact

__all__ = ["Recorder", "scan_of"]

LOG = logging.getLogger("skipstone")
_EXPRESSION_ID = re.compile(r"#\d+L?")
_FILE = re.compile(r"(?P<batch>(?P<owner>[^.]+)\.(?P<number>\d+))(?:\.by-(?P<taker>[^.]+))?\.jsonl")
_SETTLE_SECONDS = 2.0


def scan_of(line: str) -> tuple[str, LoggedScan]:
    """The table's root and the scan that a line of the listener describes."""
    found = json.loads(line)
    asked = found["question"]
    # Numbers that Spark gives to columns anew in each query would make every filter look different.
    asked["unusable"] = [(code, _EXPRESSION_ID.sub("", text)) for code, text in asked["unusable"]]
    question = Question.read(asked)
    return question.root, LoggedScan(
        time=datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=found["started"]),
        filter=normalize_filter(question.filter),
        columns=_physical(question.names, found["columns"]),
        files_total=found["files_total"],
        files_read=found["files_read"],
        bytes_read=found["bytes_read"],
        rows_read=found["rows_read"],
        rows_needed=found["rows_needed"],
        seconds=found["seconds"],
        user=found["user"],
        application=found["application"],
    )


def _physical(names: ColumnNames, columns: Sequence[str]) -> tuple[str, ...]:
    """The stored columns among those that a scan returns."""
    resolved = [names.resolve((), column) for column in columns]
    return tuple(column.path[0] for column in resolved if column.problem != "UNKNOWN_COLUMN")


@dataclass(frozen=True, slots=True)
class _SpillFile:
    """A file of the listener's lines; ``batch`` is its name whoever has it now."""

    path: Path
    batch: str


class Recorder:
    """Records the queries of one application until it is stopped."""

    def __init__(self, spark: SparkSession, runtime: Runtime, settings: LogSettings) -> None:
        """Begin to listen, and to empty the listener's files in the background."""
        self.settings = settings
        self._spark = spark
        self._runtime = runtime
        self._folder = Path(settings.spill_directory)
        self._left: list[str] = []
        self._dropped: Counter[str] = Counter()
        self._problems: dict[str, None] = {}
        self._guard = threading.Lock()
        self._ended = threading.Event()
        self.listener = new_instance(spark, *BASE, "QueryLog")
        self.listener.start(
            runtime.shim,
            spark.sparkContext._jsc.sc(),
            settings.spill_directory,
            settings.queue_size,
            settings.spill_bytes,
        )
        self._thread = threading.Thread(target=self._work, name="skipstone-query-log", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        # What an earlier session left behind comes first, if there is anything.
        due = time.monotonic() + (0.0 if self._abandoned() else self.settings.interval_seconds)
        while not self._ended.wait(self.settings.spill_seconds) and self._runs():
            if time.monotonic() >= due:
                self.flush()
                due = time.monotonic() + self.settings.interval_seconds
            else:
                self._safely(self.listener.spill)

    def _runs(self) -> bool:
        return self._spark.sparkContext._jsc is not None

    def stop(self) -> None:
        """Append what was recorded and stop listening; after the application has ended, only the latter."""
        self._ended.set()
        if self._runs():
            self.flush(_SETTLE_SECONDS)
            self._safely(self.listener.stop)
        self._thread.join(timeout=_SETTLE_SECONDS)

    def flush(self, settle_seconds: float = 0.0) -> None:
        """Append what was recorded so far; what cannot be appended now is kept for the next time."""
        with self._guard:
            if settle_seconds:
                self._safely(self.listener.settle, int(1_000 * settle_seconds))
            self._safely(self._take_all)

    def counts(self) -> dict[str, Any]:
        """What was recorded, what waits in memory, what was dropped and why, what went wrong."""
        found = json.loads(self.listener.status())
        dropped = self._dropped + Counter(found["dropped"])
        return {
            "recorded": found["recorded"],
            "waiting": found["waiting"] + len(self._left),
            "dropped": dict(sorted(dropped.items())),
            "problems": (*found["problems"], *self._problems),
        }

    def _safely(self, call: Any, *arguments: Any) -> None:
        try:
            call(*arguments)
        except Exception as problem:
            self._tell(some_sentence_of(problem))

    def _tell(self, problem: str) -> None:
        if problem not in self._problems:
            self._problems[problem] = None
            LOG.warning("Query log: %s", problem)

    # ------------------------------------------------------------------- files

    def _take_all(self) -> None:
        self._left += [line for line in self.listener.rotate().split("\n") if line]
        for file in self._files():
            # A line without its end was cut off when its writer was killed.
            lines = file.path.read_text(encoding="utf-8").split("\n")[:-1]
            if not self._append(lines, file.batch):
                file.path.unlink()
        self._left = self._append(self._left, "")
        self._keep_within_bounds()

    def _files(self) -> list[_SpillFile]:
        """The closed files of this application, and those of applications that have ended."""
        own, current = str(self.listener.id()), int(self.listener.number())
        found = []
        for path, match in self._matches():
            holder = match["taker"] or match["owner"]
            if holder == own:
                if match["owner"] != own or int(match["number"]) < current:
                    found.append(_SpillFile(path, match["batch"]))
            elif not self.listener.mayRun(holder):
                taken = path.with_name(f"{match['batch']}.by-{own}.jsonl")
                try:
                    path.rename(taken)
                except FileNotFoundError:  # another session was faster
                    continue
                found.append(_SpillFile(taken, match["batch"]))
        return found

    def _matches(self) -> list[tuple[Path, re.Match[str]]]:
        paths = sorted(self._folder.glob("*.jsonl"))
        return [(path, match) for path in paths if (match := _FILE.fullmatch(path.name))]

    def _abandoned(self) -> bool:
        holders = {match["taker"] or match["owner"] for _, match in self._matches()}
        return any(not self.listener.mayRun(holder) for holder in holders)

    def _keep_within_bounds(self) -> None:
        """Drop the oldest of what could not be appended, once it is too much."""
        surplus = len(self._left) - self.settings.queue_size
        if surplus > 0:
            self._drop("the log could not be written for too long", surplus)
            self._left = self._left[surplus:]
        files = self._files()
        sizes = [file.path.stat().st_size for file in files]
        for place, file in enumerate(files):
            if sum(sizes[place:]) > self.settings.spill_bytes:
                lines = file.path.read_bytes().count(b"\n")
                file.path.unlink()
                self._drop("the log could not be written for too long", lines)

    # ------------------------------------------------------------------ tables

    def _append(self, lines: Sequence[str], batch: str) -> list[str]:
        """Append lines to the logs of their tables; returns those with which that must be tried again."""
        left: list[str] = []
        for root, found in self._by_root(lines).items():
            try:
                self._append_to(root, [scan for _, scan in found], batch)
            except Exception as problem:
                self._tell(some_sentence_of(problem))
                left += [line for line, _ in found]
        return left

    def _append_to(self, root: str, scans: Sequence[LoggedScan], batch: str) -> None:
        if not stamp(self._runtime.store(root)):
            self._drop("the table has no catalog any more", len(scans))
            return
        log = LogTable(self._spark, self._runtime, root)
        log.append(scans, batch)
        days, rows = self.settings.retention_days, self.settings.retention_rows
        self._safely(log.clean_now_and_then, days, rows, datetime.now(UTC))

    def _by_root(self, lines: Sequence[str]) -> Mapping[str, list[tuple[str, LoggedScan]]]:
        found: dict[str, list[tuple[str, LoggedScan]]] = defaultdict(list)
        for line in lines:
            try:
                root, scan = scan_of(line)
            except Exception as problem:
                self._drop(f"a scan could not be read ({type(problem).__name__}: {problem})", 1)
                continue
            found[root].append((line, redact(scan) if self.settings.redact else scan))
        return found

    def _drop(self, reason: str, count: int) -> None:
        self._dropped[reason] += count
        self._tell(reason)
