"""The query log: every scan that a finished query made of a registered table, kept with the table.

Three steps, so that no query waits and little is lost (self-organising layouts for Delta, chapter 3):

1. A listener in the driver's JVM describes the scans of each finished query, on a thread of its own, and
   keeps them in a bounded queue.
2. The queue is spilled to a local file when it is full, every few seconds, and when the application ends. A
   driver that is killed loses what was in memory; its file is taken over by the next session on that machine.
3. Now and then a background thread appends what the files hold to ``TABLE/_skipstone/query_log``. The name of
   the file is the name of the batch, so taking a file over can never append it twice.

Every kind of failure is logged once, counted, and shown by ``status``.
"""

from __future__ import annotations

import atexit
import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pyspark.sql import SparkSession

from skipstone.errors import SkipstoneError
from skipstone.predicate.expr import Expr
from skipstone.spark.bridge.runtime import Runtime
from skipstone.spark.delta_settings import has_delta
from skipstone.spark.engine.engine import Engine
from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.querylog.log_settings import LogSettings
from skipstone.spark.querylog.log_table import LogExtent, LogTable, ReplicaUse
from skipstone.spark.querylog.recorder import Recorder, RecorderCounts
from skipstone.workload.logged_scans import LoggedScan, columns_gone, redact

__all__ = [
    "LogStatus",
    "append_log",
    "clear_log",
    "flush",
    "log_status",
    "logged",
    "read_log",
    "recorder_of",
    "replica_uses",
    "start_log",
    "stop_log",
    "unlogged",
    "usable_log",
]

LOG = logging.getLogger("skipstone")
_UNLOGGED = "skipstone-unlogged"  # as in QueryLog.java
_recorders: dict[str, Recorder] = {}
_lock = threading.Lock()
_NOTHING = RecorderCounts(recorded=0, waiting=0, dropped={}, problems=())
_warned: set[tuple[str, tuple[str, ...]]] = set()


@dataclass(frozen=True, slots=True)
class LogStatus:
    """A table's log, and what this application has recorded and dropped; times are ISO 8601 in UTC.

    ``on`` says whether this application records, ``waiting`` counts scans that are not in the table's log
    yet, ``dropped`` counts lost ones by reason, and ``problems`` are sentences about what went wrong.
    """

    on: bool
    entries: int = 0
    oldest: str = ""
    newest: str = ""
    recorded: int = 0
    waiting: int = 0
    dropped: dict[str, int] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


def start_log(spark: SparkSession, runtime: Runtime) -> None:
    """Record the queries of all sessions of this application, unless that is done already."""
    if not has_delta(spark):
        raise SkipstoneError("The query log is a Delta table, and this Spark session has no Delta.")
    with _lock:
        application = spark.sparkContext.applicationId
        if application not in _recorders:
            recorder = Recorder(spark, runtime, LogSettings.of(spark))
            _recorders[application] = recorder
            atexit.register(recorder.stop)


def stop_log(spark: SparkSession) -> None:
    """Append what was recorded and record no more."""
    with _lock:
        recorder = _recorders.pop(spark.sparkContext.applicationId, None)
    if recorder is not None:
        recorder.stop()
        atexit.unregister(recorder.stop)


def recorder_of(spark: SparkSession) -> Recorder | None:
    """What records the queries of a session's application, if anything does."""
    return _recorders.get(spark.sparkContext.applicationId)


def flush(spark: SparkSession) -> None:
    """Append everything that was recorded so far to the tables' logs."""
    recorder = recorder_of(spark)
    if recorder is not None:
        recorder.flush(wait_seconds=10.0)


def read_log(
    engine: Engine, root: str, since: datetime | None = None, newest: int | None = None
) -> tuple[LoggedScan, ...]:
    """The scans of one table in the order of their time, those that were just made included.

    ``newest`` is how many of them are read, for whoever wants no more than an impression.
    """
    flush(engine.spark)
    return LogTable(engine.spark, engine.runtime, root).read(since, newest)


def usable_log(
    table: OpenTable, since: datetime | None = None, newest: int | None = None
) -> tuple[tuple[LoggedScan, ...], str]:
    """The scans that a table can be asked, and a sentence about those left out, if any are.

    Those filter by columns that were dropped since, and no layout can serve them.
    """
    root, known = table.root, table.snapshot.names.display
    gone: dict[Expr, frozenset[tuple[str, ...]]] = {}
    kept: list[LoggedScan] = []
    dropped: set[tuple[str, ...]] = set()
    scans = read_log(table.engine, root, since, newest)
    for scan in scans:
        if scan.filter not in gone:
            gone[scan.filter] = columns_gone(scan.filter, known)
        if gone[scan.filter]:
            dropped |= gone[scan.filter]
        else:
            kept.append(scan)
    if not dropped:
        return scans, ""
    names = tuple(sorted(map(".".join, dropped)))
    sentence = (
        f"{len(scans) - len(kept):,} of {len(scans):,} entries in the query log of {root} are left out, for "
        f"they filter by columns that the table no longer has ({', '.join(names)})."
    )
    with _lock:
        new = (root, names) not in _warned
        _warned.add((root, names))
    if new:
        LOG.warning("%s", sentence)
    return tuple(kept), sentence


def append_log(engine: Engine, root: str, scans: Sequence[LoggedScan]) -> None:
    """Add scans that were recorded elsewhere."""
    settings = LogSettings.of(engine.spark)
    if scans:
        log = LogTable(engine.spark, engine.runtime, root)
        log.append([redact(scan) for scan in scans] if settings.redact else scans)
        log.clean_now_and_then(settings.retention_days, settings.retention_rows, datetime.now(UTC))


def clear_log(engine: Engine, root: str) -> int:
    """Delete every entry of one table's log and return how many there were."""
    flush(engine.spark)
    return LogTable(engine.spark, engine.runtime, root).clear()


def log_status(engine: Engine, root: str) -> LogStatus:
    """How much is logged; nothing is appended for that."""
    spark = engine.spark
    if not has_delta(spark):
        return LogStatus(on=False)
    recorder = recorder_of(spark)
    found = _NOTHING if recorder is None else recorder.counts()
    problems = tuple(found["problems"])
    try:
        extent = LogTable(spark, engine.runtime, root).extent()
    except SkipstoneError as problem:
        extent = LogExtent(0, None, None)
        problems = (*problems, str(problem))
    return LogStatus(
        on=recorder is not None,
        entries=extent.entries,
        oldest=extent.oldest.isoformat() if extent.oldest else "",
        newest=extent.newest.isoformat() if extent.newest else "",
        recorded=found["recorded"],
        waiting=found["waiting"],
        dropped=found["dropped"],
        problems=problems,
    )


def replica_uses(engine: Engine, root: str) -> dict[str, ReplicaUse]:
    """How often each replica of a table was read; nothing is appended for that."""
    return LogTable(engine.spark, engine.runtime, root).replica_uses()


@contextmanager
def unlogged(spark: SparkSession) -> Iterator[None]:
    """A context manager: queries that this thread runs inside it are not recorded in any query log."""
    context = spark.sparkContext
    if _UNLOGGED in context.getJobTags():
        yield
        return
    context.addJobTag(_UNLOGGED)
    try:
        yield
    finally:
        context.removeJobTag(_UNLOGGED)


@contextmanager
def logged(spark: SparkSession) -> Iterator[None]:
    """Queries that this thread runs inside it are recorded, although what is around it is not."""
    context = spark.sparkContext
    if _UNLOGGED not in context.getJobTags():
        yield
        return
    context.removeJobTag(_UNLOGGED)
    try:
        yield
    finally:
        context.addJobTag(_UNLOGGED)
