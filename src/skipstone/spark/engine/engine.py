"""Spark as actions see it: a session, and what answers for the catalogs of its application."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from skipstone.catalog import Catalog
from skipstone.catalog.replica_store import FolderStore
from skipstone.catalog.replicas import Replicas
from skipstone.progress import Progress
from skipstone.spark.bridge.query_text import query_frame
from skipstone.spark.bridge.runtime import Runtime, runtime_of
from skipstone.spark.bridge.scans import DecidedScan, scans_of
from skipstone.spark.engine.job_progress import watch
from skipstone.spark.engine.job_settings import Settings
from skipstone.spark.engine.session_copy import copied_session

__all__ = ["Engine"]


@dataclass(frozen=True, slots=True, eq=False)
class Engine:
    """A session and the runtime of its application."""

    spark: SparkSession
    runtime: Runtime

    @classmethod
    def of(cls, spark: SparkSession) -> Engine:
        """The engine of a session that runs; a sentence for one that has stopped."""
        return cls(spark, runtime_of(spark))

    def session(self, settings: Settings) -> SparkSession:
        """A copy of the session with settings of its own."""
        return copied_session(self.spark, settings)

    def catalog(self, root: str) -> Catalog:
        """What is known about a table's blocks, as last read."""
        return self.runtime.catalog(root)

    def replicas(self, root: str) -> Replicas:
        """A table's replicas, as last read."""
        return self.runtime.replicas(root)

    def store(self, root: str) -> FolderStore:
        """Where the catalog of a table is kept."""
        return self.runtime.store(root)

    def refresh(self, root: str) -> None:
        """Read a table's catalog anew; raises when it is unreadable."""
        self.runtime.refresh(root)

    @property
    def cluster(self) -> str:
        """What the cost of work depends on: the master and how many tasks run at once."""
        context = self.spark.sparkContext
        return f"{context.master}-{context.defaultParallelism}"

    def watch(
        self, progress: Progress | None, what: str, stages: int = 1, tasks: int = 2
    ) -> AbstractContextManager[None]:
        """Report how far the jobs are that are started inside, as :func:`~job_progress.watch` does."""
        return watch(self.spark, progress, what, stages, tasks)

    def reader_settings(self) -> dict[str, str]:
        """The session's settings that change what is read from the same bytes."""
        return self.runtime.settings(self.spark)

    def scans_of(self, query: str | DataFrame) -> tuple[DecidedScan, ...]:
        """Plan a query anew, without running it: what was decided about its scans of indexed tables."""
        return scans_of(self.runtime, query_frame(self.spark, query))
