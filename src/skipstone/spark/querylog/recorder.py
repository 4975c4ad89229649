"""Recording: the Python half of the query log's listener, and the thread that empties its files.

A table that refuses the lines of a file is not asked again in the same round, and what else waits for it,
having never been offered, is put together in a few files. So a log that cannot be written costs one attempt
a round, however long that lasts.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict

from pyspark.sql import SparkSession

from skipstone.spark.bridge.janino import new_instance
from skipstone.spark.bridge.loaded_table import stored_names
from skipstone.spark.bridge.runtime import Runtime
from skipstone.spark.failures import some_sentence_of
from skipstone.spark.querylog.log_lines import root_of, scan_of
from skipstone.spark.querylog.log_settings import LogSettings
from skipstone.spark.querylog.log_table import LogTable, as_arrow
from skipstone.spark.querylog.spill_files import SpillFile, SpillFolder
from skipstone.workload.logged_scans import LoggedScan, redact

__all__ = ["Recorder", "RecorderCounts"]

LOG = logging.getLogger("skipstone")
_SETTLE_SECONDS = 2.0
_MOST_PROBLEMS = 20
_TOO_LONG = "the log could not be written for too long"
_UNREADABLE = "a scan could not be read"


class RecorderCounts(TypedDict):
    """What was recorded, and what became of it; the listener in the JVM counts the same."""

    recorded: int
    waiting: int
    dropped: dict[str, int]
    problems: Sequence[str]


class Recorder:
    """Records the queries of one application until it is stopped."""

    def __init__(self, spark: SparkSession, runtime: Runtime, settings: LogSettings) -> None:
        """Begin to listen, and to empty the listener's files in the background."""
        self.settings = settings
        self._spark = spark
        self._runtime = runtime
        self._left: list[bytes] = []
        self._dropped: Counter[str] = Counter()
        self._problems: dict[str, None] = {}
        self._guard = threading.Lock()
        self._noting = threading.Lock()
        self._ended = threading.Event()
        self.listener = new_instance(spark, "QueryLog")
        self.listener.start(
            runtime.shim,
            spark.sparkContext._jsc.sc(),
            settings.spill_directory,
            settings.queue_size,
            settings.spill_bytes,
        )
        self.folder = SpillFolder(
            Path(settings.spill_directory),
            str(self.listener.id()),
            settings.spill_bytes,
            lambda holder: bool(self.listener.mayRun(holder)),
            self._report,
        )
        self._thread = threading.Thread(target=self._work, name="skipstone-query-log", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        # What an earlier session left behind comes first, if there is anything.
        due = time.monotonic() + (0.0 if self.folder.abandoned() else self.settings.interval_seconds)
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

    def flush(self, wait_seconds: float = 0.0) -> None:
        """Append what was recorded so far; what cannot be appended now is kept for the next time."""
        with self._guard:
            if wait_seconds:
                self._safely(self.listener.awaitEnded, int(1_000 * wait_seconds))
            self._safely(self._take_all)

    def counts(self) -> RecorderCounts:
        """What was recorded, what waits in memory, what was dropped and why, what went wrong."""
        found: RecorderCounts = json.loads(self.listener.status())
        with self._noting:
            dropped, problems = self._dropped + Counter(found["dropped"]), tuple(self._problems)
        return {
            "recorded": found["recorded"],
            "waiting": found["waiting"] + len(self._left),
            "dropped": dict(sorted(dropped.items())),
            "problems": (*found["problems"], *problems),
        }

    def _safely(self, call: Callable[..., object], *arguments: object) -> None:
        try:
            call(*arguments)
        # The log must neither fail a query nor end the thread that writes it: here and below.
        except Exception as problem:  # noqa: BLE001
            self._report(some_sentence_of(problem))

    def _report(self, problem: str) -> None:
        with self._noting:
            new = problem not in self._problems and len(self._problems) < _MOST_PROBLEMS
            if new:
                self._problems[problem] = None
        if new:
            LOG.warning("Query log: %s", problem)

    # ------------------------------------------------------------------- files

    def _take_all(self) -> None:
        self._left += [line.encode() for line in self.listener.rotate().split("\n") if line]
        failing: set[str] = set()
        for file in self._closed_files():
            self._safely(self._take, file, failing)
        left: list[bytes] = []
        for root, lines in self._by_root(self._left).items():
            left += lines if root in failing else self._offer(root, lines, "", failing)
        self._left = left
        self._keep_within_bounds()

    def _take(self, file: SpillFile, failing: set[str]) -> None:
        """Offer what a file holds to the tables that are not failing, and keep the rest on disk."""
        lines, cut = file.read()
        if cut:
            self._drop("the last line of a file was cut off", 1)
        found = self._by_root(lines)
        waits = [line for root in found if root in failing for line in found[root]]
        if lines and len(waits) == len(lines) and not cut and self.folder.stays(file):
            return
        tried = file.tried
        if not tried and len(waits) < len(lines):
            file = file.marked()
        kept: list[bytes] = []
        for root in [root for root in found if root not in failing]:
            kept += self._offer(root, found[root], file.batch, failing)
        if tried:
            kept += waits
        else:
            self.folder.wait(waits)
        if not kept or len(kept) < len(lines) or cut:
            file.keep(kept)

    def _closed_files(self) -> list[SpillFile]:
        return self.folder.closed(int(self.listener.number()))

    def _keep_within_bounds(self) -> None:
        """Drop the oldest of what could not be appended, once it is too much."""
        held = len(self._left)
        size = sum(map(len, self._left))
        while len(self._left) > self.settings.queue_size or size > self.settings.spill_bytes:
            size -= len(self._left.pop(0))
        if held > len(self._left):
            self._drop(_TOO_LONG, held - len(self._left))
        files = self._closed_files()
        size = sum(file.size for file in files)
        for file in files:
            if size > self.settings.spill_bytes:
                self._safely(self._forget, file)
                size -= file.size

    def _forget(self, file: SpillFile) -> None:
        lines = file.path.read_bytes().count(b"\n")
        file.path.unlink()
        self._drop(_TOO_LONG, lines)

    # ------------------------------------------------------------------ tables

    def _by_root(self, lines: Iterable[bytes]) -> Mapping[str, list[bytes]]:
        """The lines by the root of their table; little is read of them, for most may have to wait."""
        found: dict[str, list[bytes]] = defaultdict(list)
        for line in lines:
            try:
                found[root_of(line)].append(line)
            except Exception as problem:  # noqa: BLE001
                self._drop(_UNREADABLE, 1, problem)
        return found

    def _offer(self, root: str, lines: Sequence[bytes], batch: str, failing: set[str]) -> list[bytes]:
        """Append lines to the log of their table; returns those with which that must be tried again."""
        found: list[tuple[bytes, LoggedScan]] = []
        for line in lines:
            try:
                scan = scan_of(line)
                found.append((line, redact(scan) if self.settings.redact else scan))
            except Exception as problem:  # noqa: BLE001
                self._drop(_UNREADABLE, 1, problem)
        found = self._storable(found)
        try:
            if found:
                self._append_to(root, [scan for _, scan in found], batch)
        except Exception as problem:  # noqa: BLE001
            self._report(some_sentence_of(problem))
            failing.add(root)
            return [line for line, _ in found]
        return []

    def _storable(self, found: list[tuple[bytes, LoggedScan]]) -> list[tuple[bytes, LoggedScan]]:
        """Those that can be stored: one that cannot would keep all others from it."""
        try:
            as_arrow([scan for _, scan in found])
        except Exception as problem:  # noqa: BLE001
            if len(found) > 1:
                return [one for each in found for one in self._storable([each])]
            self._drop(_UNREADABLE, 1, problem)
            return []
        return found

    def _append_to(self, root: str, scans: Sequence[LoggedScan], batch: str) -> None:
        if not stored_names(self._runtime.store(root)):
            self._drop("the table has no catalog any more", len(scans))
            return
        log = LogTable(self._spark, self._runtime, root)
        log.append(scans, batch)
        days, rows = self.settings.retention_days, self.settings.retention_rows
        self._safely(log.clean_now_and_then, days, rows, datetime.now(UTC))

    def _drop(self, reason: str, count: int, problem: Exception | None = None) -> None:
        with self._noting:
            self._dropped[reason] += count
        self._report(reason if problem is None else f"{reason} ({type(problem).__name__}: {problem})")
