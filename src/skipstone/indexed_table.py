"""A table as it lies: listed, indexed, explained and replayed. No data is moved here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from skipstone.actions.explain import Explanation, explain_query
from skipstone.actions.index import IndexReport, index_files
from skipstone.actions.replay import ReplayReport, replay_queries
from skipstone.actions.status import TableStatus, table_status
from skipstone.errors import SkipstoneError
from skipstone.progress import Progress
from skipstone.source import problem_of, read_listing, split_source
from skipstone.spark.bridge.runtime import Runtime, runtime_of
from skipstone.spark.engine.executors import bounded
from skipstone.spark.engine.open_table import TableFiles, has_delta, open_files
from skipstone.spark.failures import sentence_of
from skipstone.spark.querylog.query_log import clear_log, read_log, unlogged
from skipstone.spark.running import require_running
from skipstone.workload.logged_scans import LoggedScan
from skipstone.workload.queries import Workload

__all__ = ["IndexedTable", "is_path", "split_source"]

_PATTERN = re.compile(r"[*?\[{]")


class IndexedTable:
    """One table and its catalog: what can be done without moving any data."""

    def __init__(self, spark: SparkSession, source: str, name: str | None = None) -> None:
        """Remember where the table is; nothing is read yet."""
        self.spark = spark
        self.source = source
        self.name = name
        self._opened_in = runtime_of(spark)

    @property
    def _runtime(self) -> Runtime:
        """What answers for the table's catalog; a sentence once Spark has stopped."""
        require_running(self.spark, self.source)
        return self._opened_in

    def frame(self) -> DataFrame:
        """The table as a DataFrame, as it is now."""
        require_running(self.spark, self.source)
        try:
            if not is_path(self.source):
                return self.spark.table(self.source)
            format_ = self._format()
            if format_ == "delta" and not has_delta(self.spark):
                raise SkipstoneError(
                    f"{self.source} is a Delta table, and this Spark session has no Delta: start it with "
                    "Delta's jars and settings, or use skipstone.session()."
                )
            return self.spark.read.format(format_).load(self.source)
        except (PySparkException, Py4JJavaError) as problem:
            why = (sentence_of(problem) or "").rstrip(".")
            raise SkipstoneError(f"{self.source} is not a table that can be read: {why}.") from problem

    def _format(self) -> str:
        """How the path is read; raises when what lies there is no table."""
        store = self._runtime.store(self.source.rstrip("/") or "/")
        found = read_listing(store.listing(""))
        if "_delta_log" in found.names:
            return "delta"
        # What has a pattern for names is Spark's to find.
        if found.exists or not _PATTERN.search(self.source):
            problem = problem_of(self.source, found, lambda name: read_listing(store.listing(name)))
            if problem:
                raise SkipstoneError(problem)
        return "parquet"

    def files(self) -> TableFiles:
        """The table's files as they lie now; for skipstone's own modules."""
        return open_files(self.spark, self.frame(), self.source)

    @bounded
    def index(
        self,
        expressions: Sequence[str] = (),
        features: Sequence[str] = (),
        rebuild: bool = False,
        progress: Progress | None = None,
    ) -> IndexReport:
        """Compute statistics for the files that have none; queries skip from then on. No data is changed.

        ``expressions`` are SQL expressions to keep minimum, maximum and value sets of, like those of columns;
        ``features`` are SQL conditions to keep one bit of per block. Both are remembered for later runs.
        ``rebuild`` indexes all files anew, with only the expressions and features that are given now.
        """
        files = self._current(rebuild)
        return index_files(self.spark, self._runtime, files, expressions, features, rebuild, progress)

    def _current(self, rebuild: bool = False) -> TableFiles:
        files = self.files()
        if not rebuild:
            self._runtime.refresh(files.root)
        return files

    @bounded
    def explain(self, query: str | DataFrame) -> Explanation:
        """Show which files a query reads and skips, and why; the query is planned and not run."""
        return explain_query(self.spark, self._runtime, query)

    @bounded
    def status(self) -> TableStatus:
        """Show what is known about the table, and how many of its files have no statistics yet."""
        return table_status(self.spark, self._runtime, self.files())

    @bounded
    def replay(self, queries: Workload, progress: Progress | None = None) -> ReplayReport:
        """Run queries with skipping on and off; compare results, rows, files, bytes and seconds."""
        files = self.files()
        with suppress(SkipstoneError):  # queries run without a catalog too; why it is unusable was logged
            self._runtime.refresh(files.root)
        with unlogged(self.spark):
            return replay_queries(self.spark, self._runtime, files, queries, progress)

    @bounded
    def log(self, since: datetime | None = None) -> tuple[LoggedScan, ...]:
        """The table's query log, oldest first, queries that have just ended included.

        ``since``, a datetime with a time zone, leaves older entries out.
        """
        return read_log(self.spark, self._runtime, self.files().root, since)

    @bounded
    def clear_log(self) -> int:
        """Delete every entry of the table's query log and return how many there were."""
        return clear_log(self.spark, self._runtime, self.files().root)


def is_path(source: str) -> bool:
    """Whether a table is named by its path rather than by its name in a catalog."""
    return "/" in source or source.startswith(".")
