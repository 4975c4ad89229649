"""A table as its user sees it: by path or by name, with everything that skipstone can do for it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from skipstone.errors import SkipstoneError
from skipstone.spark.enable import enable
from skipstone.spark.explain import Explanation, explain_query
from skipstone.spark.index import IndexReport, index_files
from skipstone.spark.progress import Progress
from skipstone.spark.replay import ReplayReport, replay_queries
from skipstone.spark.runtime import runtime_of
from skipstone.spark.status import TableStatus, table_status
from skipstone.spark.table_files import TableFiles, open_files
from skipstone.workload.queries import Workload

__all__ = ["Table", "table"]


def table(spark: SparkSession, source: str) -> Table:
    """A Delta table or a directory of Parquet files, by path or by catalog name.

    ``source`` may be ``name=path``; then ``name`` is what queries call the table.
    """
    enable(spark)
    name, path = _split(source)
    found = Table(spark, path, name)
    found.files()
    if name is not None:
        found.frame().createOrReplaceTempView(name)
    return found


def _split(source: str) -> tuple[str | None, str]:
    match = re.fullmatch(r"([A-Za-z_]\w*)=(.+)", source)
    return (match[1], match[2]) if match else (None, source)


class Table:
    """One table. Made by :func:`table`."""

    def __init__(self, spark: SparkSession, source: str, name: str | None = None) -> None:
        """Remember where the table is; nothing is read yet."""
        self.spark = spark
        self.source = source
        self.name = name
        self._runtime = runtime_of(spark)

    def frame(self) -> DataFrame:
        """The table as a DataFrame."""
        try:
            if not _is_path(self.source):
                return self.spark.table(self.source)
            return self.spark.read.format("delta" if self._is_delta() else "parquet").load(self.source)
        except PySparkException as problem:
            first = (problem.getMessage() or str(problem)).strip().splitlines()[0].rstrip(".")
            raise SkipstoneError(f"{self.source} is not a table that can be read: {first}.") from problem

    def _is_delta(self) -> bool:
        return "_delta_log" in self._runtime.store(self.source.rstrip("/")).names("")

    def files(self) -> TableFiles:
        """The table's files as they lie now."""
        return open_files(self.spark, self.frame(), self.source)

    def index(
        self,
        expressions: Sequence[str] = (),
        features: Sequence[str] = (),
        rebuild: bool = False,
        progress: Progress | None = None,
    ) -> IndexReport:
        """Compute statistics for the files that have none; queries skip from then on.

        ``expressions`` are further things to keep min, max and value sets of, ``features`` conditions to
        keep a bit of per block. Both are remembered for later runs.
        """
        files = self._current(rebuild)
        return index_files(self.spark, self._runtime, files, expressions, features, rebuild, progress)

    def _current(self, rebuild: bool = False) -> TableFiles:
        files = self.files()
        if not rebuild:
            self._runtime.refresh(files.root)
        return files

    def explain(self, query: str | DataFrame) -> Explanation:
        """Which files a query reads and skips, and why."""
        return explain_query(self.spark, self._runtime, query)

    def status(self) -> TableStatus:
        """What is known about the table."""
        return table_status(self._runtime, self.files())

    def replay(self, queries: Workload, progress: Progress | None = None) -> ReplayReport:
        """Run queries with skipping on and off and compare."""
        return replay_queries(self.spark, self._runtime, self._current(), queries, progress)


def _is_path(source: str) -> bool:
    return "/" in source or source.startswith(".")
