"""A table's query log on disk: the Delta table ``TABLE/_skipstone/query_log``.

It is written through Spark, so any file system does, and by any number of applications at once: they only
ever append. A batch has a name, under which Delta takes it once however often it is offered. Small files are
compacted by Delta itself, and every now and then one of the writers deletes what is too old or too much.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pyarrow as pa
from delta.tables import DeltaTable
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from skipstone.errors import SkipstoneError
from skipstone.spark.bridge.janino import new_instance
from skipstone.spark.bridge.runtime import Runtime
from skipstone.spark.engine.job_settings import QUERY_LOG
from skipstone.spark.engine.session_copy import with_settings
from skipstone.spark.failures import (
    SPARK_FAILURES,
    deepest_reason,
    file_read,
    is_storage,
    storage_reason,
)
from skipstone.workload.logged_scans import LoggedScan, from_record, to_record

__all__ = ["NEVER_USED", "LogExtent", "LogTable", "ReplicaUse", "as_arrow"]

LOG = logging.getLogger("skipstone")
_FOLDER = "_skipstone/query_log"
_COMMITS_BETWEEN_CLEANING = 20
_TRIES = 4
_MOST_NAMED = 3
_LONGEST = 200
_NAMES = re.compile(r"(\d{20})\.json")
_SCHEMA = pa.schema([
    pa.field("time", pa.timestamp("us", "UTC"), nullable=False),
    pa.field("filter", pa.string(), nullable=False),
    pa.field("filter_sql", pa.string(), nullable=False),
    pa.field("columns", pa.list_(pa.string()), nullable=False),
    pa.field("files_total", pa.int64()),
    pa.field("files_read", pa.int64()),
    pa.field("bytes_read", pa.int64()),
    pa.field("rows_read", pa.int64()),
    pa.field("rows_needed", pa.int64()),
    pa.field("seconds", pa.float64()),
    pa.field("user", pa.string()),
    pa.field("application", pa.string()),
    pa.field("count", pa.int64()),
    pa.field("replicas", pa.list_(pa.string())),
])  # fmt: skip
_sessions: dict[str, SparkSession] = {}
_lock = threading.Lock()


def as_arrow(scans: Sequence[LoggedScan]) -> pa.Table:
    """The scans as they are stored."""
    return pa.Table.from_pylist([to_record(scan) for scan in scans], schema=_SCHEMA)


@dataclass(frozen=True, slots=True)
class LogExtent:
    """How many scans are logged, and from when to when."""

    entries: int
    oldest: datetime | None
    newest: datetime | None


@dataclass(frozen=True, slots=True)
class ReplicaUse:
    """How many logged scans read a replica, and when the last of them was made."""

    scans: int = 0
    last: datetime | None = None


NEVER_USED = ReplicaUse()


class LogTable:
    """The log of one table."""

    def __init__(self, spark: SparkSession, runtime: Runtime, root: str) -> None:
        """Remember where the log is; nothing is read yet."""
        self._spark = _own_session(spark)
        self._store = runtime.store(root)
        self.path = f"{root}/{_FOLDER}"

    def exists(self) -> bool:
        """Whether anything was ever logged."""
        return self._version() >= 0

    def _version(self) -> int:
        names = map(_NAMES.fullmatch, self._store.names(f"{_FOLDER}/_delta_log"))
        return max((int(found[1]) for found in names if found), default=-1)

    def append(self, scans: Sequence[LoggedScan], batch: str = "") -> None:
        """Append in one commit; a batch of the same name is appended only once."""
        with self._one_sentence("written"):
            frame = self._spark.createDataFrame(as_arrow(scans)).coalesce(1)
            # A log that an earlier version began has fewer columns.
            writer = frame.write.format("delta").mode("append").option("mergeSchema", "true")
            if batch:
                writer = writer.option("txnAppId", batch).option("txnVersion", "1")
            for left in reversed(range(_TRIES)):
                try:
                    writer.save(self.path)
                    return
                except PySparkException as problem:
                    # Two applications that create the log at the same moment: the other one was faster.
                    if not left or "CONCURRENT" not in str(problem).upper():
                        raise

    def read(self, since: datetime | None = None, newest: int | None = None) -> tuple[LoggedScan, ...]:
        """The scans in the order of their time; of very many, only so many of the newest."""
        if not self.exists():
            return ()
        with self._one_sentence("read"):
            frame = self._frame() if since is None else self._frame().where(F.col("time") >= F.lit(since))
            ordered = frame.orderBy("time", "filter")
            if newest is not None:
                ordered = frame.orderBy(F.desc("time"), F.desc("filter")).limit(newest)
            try:
                records = ordered.toArrow().to_pylist()
            except SPARK_FAILURES:
                # Spark's error names the file that was read; what reaches Python does not.
                self._frame().write.format("noop").mode("overwrite").save()
                raise
        if newest is not None:
            records.reverse()
        found: list[LoggedScan] = []
        damaged: list[str] = []
        for record in records:
            try:
                found.append(from_record(record))
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                damaged.append(str(record.get("filter_sql") or record.get("filter"))[:_LONGEST])
        if damaged:
            named = "; ".join(dict.fromkeys(damaged[:_MOST_NAMED]))
            count = len(damaged)
            LOG.warning(
                "%d entries of %s cannot be read and are left out, such as: %s.", count, self.path, named
            )
        return tuple(found)

    def extent(self) -> LogExtent:
        """How much there is, without reading it all."""
        if not self.exists():
            return LogExtent(0, None, None)
        with self._one_sentence("read"):
            times = (F.unix_micros(bound("time")) for bound in (F.min, F.max))
            row = self._frame().agg(F.count(F.lit(1)), *times).first()
        assert row is not None
        return LogExtent(row[0], *(_moment(micros) for micros in row[1:]))

    def replica_uses(self) -> dict[str, ReplicaUse]:
        """How often each replica was read, and when last, without reading it all."""
        if not self.exists():
            return {}
        with self._one_sentence("read"):
            frame = self._frame()
            if "replicas" not in frame.columns:
                return {}
            each = frame.select("time", "count", F.explode("replicas").alias("replica"))
            last = F.unix_micros(F.max("time"))
            rows = each.groupBy("replica").agg(F.sum("count"), last).collect()
        return {row[0]: ReplicaUse(row[1], _moment(row[2])) for row in rows}

    def clear(self) -> int:
        """Delete every entry and return how many there were; the files follow when Delta may remove them."""
        entries = self.extent().entries
        if entries:
            with self._one_sentence("cleared"):
                DeltaTable.forPath(self._spark, self.path).delete()
        return entries

    def clean_now_and_then(self, days: float, rows: int, now: datetime) -> None:
        """Delete what is older than so many days or beyond so many rows, once in a number of commits."""
        if (self._version() + 1) % _COMMITS_BETWEEN_CLEANING == 0:
            self.clean(days, rows, now)

    def clean(self, days: float, rows: int, now: datetime) -> None:
        """Delete what is older than so many days, and the oldest beyond so many rows."""
        oldest = now - timedelta(days=days)
        with self._one_sentence("cleaned"):
            frame = self._frame()
            if frame.count() > rows:
                surplus = frame.orderBy(F.desc("time")).offset(rows).select(F.unix_micros("time")).first()
                oldest = max(oldest, _moment(surplus[0] + 1) or oldest) if surplus else oldest
            DeltaTable.forPath(self._spark, self.path).delete(F.col("time") < F.lit(oldest))
            new_instance(self._spark, "QuietVacuum").run(self._spark._jsparkSession, self.path)

    @contextmanager
    def _one_sentence(self, done: str) -> Iterator[None]:
        """What Spark fails with, as a sentence that names the log and says what to do."""
        try:
            yield
        except SPARK_FAILURES as problem:
            reason, file = storage_reason(problem), file_read(problem)
            remedy = ""
            if not is_storage(reason):
                reason = reason if file is None else f"{file}: {deepest_reason(problem)}"
                if done != "written" or file is not None:
                    remedy = f"; if that stays so, delete {self.path}, which is then begun anew"
            raise SkipstoneError(
                f"The query log {self.path} cannot be {done} ({reason}){remedy}."
            ) from problem

    def _frame(self) -> DataFrame:
        return self._spark.read.format("delta").load(self.path)


def _own_session(spark: SparkSession) -> SparkSession:
    """A session for the log alone: nothing in it skips or is logged, and the user's settings stay theirs."""
    application = spark.sparkContext.applicationId
    with _lock:
        if application not in _sessions:
            session = with_settings(spark.newSession(), QUERY_LOG)
            _sessions[application] = session
        return _sessions[application]


def _moment(micros: int | None) -> datetime | None:
    return None if micros is None else datetime.fromtimestamp(0, UTC) + timedelta(microseconds=micros)
