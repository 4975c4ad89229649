"""Recording: the Python half of the query log's listener, and the thread that empties its files.

A file's name is the name of its batch, so it is marked as tried before it is first offered: from then on its
lines can only be offered under that name, for they may be in a table's log already. A table that refuses them
is not asked again in the same round, and what else waits for it, having never been offered, is put together
in a few files. So a log that cannot be written costs one attempt a round, however long that lasts.
"""

from __future__ import annotations

import json
import logging
import os
import re
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
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
from skipstone.spark.log_table import LogTable, as_arrow
from skipstone.spark.runtime import Question, Runtime
from skipstone.spark.table_files import BASE
from skipstone.workload.log import LoggedScan, redact

__all__ = ["Recorder", "scan_of"]

LOG = logging.getLogger("skipstone")
_EXPRESSION_ID = re.compile(r"#\d+L?")
_FILE = re.compile(
    r"(?P<batch>(?P<owner>[^.]+)\.(?P<number>w?\d+))(?P<tried>\.tried)?(?:\.by-(?P<taker>[^.]+))?\.jsonl"
)
_SETTLE_SECONDS = 2.0
_WAITING_FILES = 8
_MOST_PROBLEMS = 20
_TOO_LONG = "the log could not be written for too long"
_UNREADABLE = "a scan could not be read"


def scan_of(line: str | bytes) -> tuple[str, LoggedScan]:
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
    """A closed file of the listener's lines; ``batch`` is its name whoever has it now.

    What is in a ``tried`` file may be in a table's log already.
    """

    path: Path
    batch: str
    tried: bool
    size: int
    modified: int


class Recorder:
    """Records the queries of one application until it is stopped."""

    def __init__(self, spark: SparkSession, runtime: Runtime, settings: LogSettings) -> None:
        """Begin to listen, and to empty the listener's files in the background."""
        self.settings = settings
        self._spark = spark
        self._runtime = runtime
        self._folder = Path(settings.spill_directory)
        self._left: list[bytes] = []
        self._waiting = 0
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
        dropped = self._dropped.copy() + Counter(found["dropped"])
        return {
            "recorded": found["recorded"],
            "waiting": found["waiting"] + len(self._left),
            "dropped": dict(sorted(dropped.items())),
            "problems": (*found["problems"], *list(self._problems)),
        }

    def _safely(self, call: Any, *arguments: Any) -> None:
        try:
            call(*arguments)
        except Exception as problem:
            self._tell(some_sentence_of(problem))

    def _tell(self, problem: str) -> None:
        if problem not in self._problems and len(self._problems) < _MOST_PROBLEMS:
            self._problems[problem] = None
            LOG.warning("Query log: %s", problem)

    # ------------------------------------------------------------------- files

    def _take_all(self) -> None:
        self._left += [line.encode() for line in self.listener.rotate().split("\n") if line]
        failing: set[str] = set()
        for file in self._files():
            self._safely(self._take, file, failing)
        left: list[bytes] = []
        for root, lines in self._by_root(self._left).items():
            left += lines if root in failing else self._offer(root, lines, "", failing)
        self._left = left
        self._keep_within_bounds()

    def _take(self, file: _SpillFile, failing: set[str]) -> None:
        """Offer what a file holds to the tables that are not failing, and keep the rest on disk."""
        *lines, cut = file.path.read_bytes().split(b"\n")
        if cut:
            self._drop("the last line of a file was cut off", 1)
        found = self._by_root(lines)
        waits = [line for root in found if root in failing for line in found[root]]
        if lines and len(waits) == len(lines) and not cut and self._stays(file):
            return
        tried = file.tried
        if not tried and len(waits) < len(lines):
            file = _marked(file)
        kept: list[bytes] = []
        for root in [root for root in found if root not in failing]:
            kept += self._offer(root, found[root], file.batch, failing)
        if tried:
            kept += waits
        else:
            self._wait(waits)
        if not kept or len(kept) < len(lines) or cut:
            _rewrite(file.path, kept)

    def _stays(self, file: _SpillFile) -> bool:
        """Whether a file that only waits is left as it is: what was tried, and what was put together here."""
        return file.tried or file.batch.startswith(f"{self.listener.id()}.w")

    def _wait(self, lines: Sequence[bytes]) -> None:
        """Put lines that were never offered to a file of such lines, up to a part of what may wait."""
        if not lines:
            return
        data = b"".join(line + b"\n" for line in lines)
        path = self._waiting_path()
        size = path.stat().st_size if path.exists() else self.settings.spill_bytes
        if size + len(data) > self.settings.spill_bytes / _WAITING_FILES:
            # A file that was offered has another name now, and its number is never used again.
            self._waiting += 1
            path = self._waiting_path()
        _add(path, data)

    def _waiting_path(self) -> Path:
        return self._folder / f"{self.listener.id()}.w{self._waiting}.jsonl"

    def _files(self) -> list[_SpillFile]:
        """The closed files of this and of ended applications: first what was tried, then the oldest."""
        own, current = str(self.listener.id()), int(self.listener.number())
        found = []
        for path, match in self._matches():
            try:
                file = self._closed(path, match, own, current)
            except FileNotFoundError:  # another session was faster
                continue
            except OSError as problem:
                self._tell(some_sentence_of(problem))
                continue
            found += [] if file is None else [file]
        return sorted(found, key=lambda file: (not file.tried, file.modified, file.path.name))

    def _closed(self, path: Path, match: re.Match[str], own: str, current: int) -> _SpillFile | None:
        """The file, taken over if its holder has ended; None if somebody may still write it."""
        holder = match["taker"] or match["owner"]
        if holder != own:
            if self._may_run(holder):
                return None
            path = path.rename(path.with_name(f"{match['batch']}{match['tried'] or ''}.by-{own}.jsonl"))
        elif match["owner"] == own and match["number"].isdigit() and int(match["number"]) >= current:
            return None
        state = path.stat()
        return _SpillFile(path, match["batch"], bool(match["tried"]), state.st_size, state.st_mtime_ns)

    def _may_run(self, holder: str) -> bool:
        try:
            return bool(self.listener.mayRun(holder))
        except Exception as problem:  # a name that nobody understands is not ours
            self._tell(f"nobody can tell whether {holder} still runs ({some_sentence_of(problem)})")
            return True

    def _matches(self) -> list[tuple[Path, re.Match[str]]]:
        paths = sorted(self._folder.glob("*.jsonl"))
        return [(path, match) for path in paths if (match := _FILE.fullmatch(path.name))]

    def _abandoned(self) -> bool:
        holders = {match["taker"] or match["owner"] for _, match in self._matches()}
        return any(not self._may_run(holder) for holder in holders)

    def _keep_within_bounds(self) -> None:
        """Drop the oldest of what could not be appended, once it is too much."""
        held = len(self._left)
        size = sum(map(len, self._left))
        while len(self._left) > self.settings.queue_size or size > self.settings.spill_bytes:
            size -= len(self._left.pop(0))
        if held > len(self._left):
            self._drop(_TOO_LONG, held - len(self._left))
        files = self._files()
        size = sum(file.size for file in files)
        for file in files:
            if size > self.settings.spill_bytes:
                self._safely(self._forget, file)
                size -= file.size

    def _forget(self, file: _SpillFile) -> None:
        lines = file.path.read_bytes().count(b"\n")
        file.path.unlink()
        self._drop(_TOO_LONG, lines)

    # ------------------------------------------------------------------ tables

    def _by_root(self, lines: Iterable[bytes]) -> Mapping[str, list[bytes]]:
        """The lines by the root of their table; little is read of them, for most may have to wait."""
        found: dict[str, list[bytes]] = defaultdict(list)
        for line in lines:
            try:
                found[json.loads(line)["question"]["root"]].append(line)
            except Exception as problem:
                self._drop(_UNREADABLE, 1, problem)
        return found

    def _offer(self, root: str, lines: Sequence[bytes], batch: str, failing: set[str]) -> list[bytes]:
        """Append lines to the log of their table; returns those with which that must be tried again."""
        found: list[tuple[bytes, LoggedScan]] = []
        for line in lines:
            try:
                scan = scan_of(line)[1]
                found.append((line, redact(scan) if self.settings.redact else scan))
            except Exception as problem:
                self._drop(_UNREADABLE, 1, problem)
        found = self._storable(found)
        try:
            if found:
                self._append_to(root, [scan for _, scan in found], batch)
        except Exception as problem:
            self._tell(some_sentence_of(problem))
            failing.add(root)
            return [line for line, _ in found]
        return []

    def _storable(self, found: list[tuple[bytes, LoggedScan]]) -> list[tuple[bytes, LoggedScan]]:
        """Those that can be stored: one that cannot would keep all others from it."""
        try:
            as_arrow([scan for _, scan in found])
        except Exception as problem:
            if len(found) > 1:
                return [one for each in found for one in self._storable([each])]
            self._drop(_UNREADABLE, 1, problem)
            return []
        return found

    def _append_to(self, root: str, scans: Sequence[LoggedScan], batch: str) -> None:
        if not stamp(self._runtime.store(root)):
            self._drop("the table has no catalog any more", len(scans))
            return
        log = LogTable(self._spark, self._runtime, root)
        log.append(scans, batch)
        days, rows = self.settings.retention_days, self.settings.retention_rows
        self._safely(log.clean_now_and_then, days, rows, datetime.now(UTC))

    def _drop(self, reason: str, count: int, problem: Exception | None = None) -> None:
        self._dropped[reason] += count
        self._tell(reason if problem is None else f"{reason} ({type(problem).__name__}: {problem})")


def _marked(file: _SpillFile) -> _SpillFile:
    """The same file, marked as tried."""
    name = file.path.name.replace(file.batch, f"{file.batch}.tried", 1)
    return replace(file, path=file.path.rename(file.path.with_name(name)), tried=True)


def _add(path: Path, data: bytes) -> None:
    """Append to a file that only its owner can read, all or nothing."""
    before = path.stat().st_size if path.exists() else 0
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as file:
            file.write(data)
    except OSError:
        os.truncate(path, before)
        raise


def _rewrite(path: Path, lines: Sequence[bytes]) -> None:
    """Let a file have these lines and no others; without any it is deleted."""
    if not lines:
        path.unlink()
        return
    scratch = path.with_suffix(".new")
    with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.writelines(line + b"\n" for line in lines)
    scratch.replace(path)
