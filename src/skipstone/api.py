"""The Python API: a table, by path or by name, with a method for each action."""

from __future__ import annotations

from typing import TypeVar

from skipstone.actions.action import Action, perform
from skipstone.cancel import Cancel
from skipstone.progress import Progress
from skipstone.source import split_source
from skipstone.spark import DataFrame, SparkSession
from skipstone.spark.bridge.enable import enable
from skipstone.spark.engine.engine import Engine
from skipstone.spark.engine.executors import bounded_wait
from skipstone.spark.engine.source import Source
from skipstone.spark.failures import some_sentence_of
from skipstone.spark.running import require_running
from skipstone.view import View

__all__ = ["Table", "table"]

Result = TypeVar("Result")


def table(spark: SparkSession, source: str) -> Table:
    """Open a Delta table or a directory of Parquet files, and enable skipping in the session.

    ``source`` is a path (something with a slash, or a leading dot), a name in Spark's catalog, or
    ``name=path``. The last also makes a temporary view, so that queries can call the table by that name.
    Raises a :class:`SkipstoneError` when there is no such table.
    """
    enable(spark)
    name, location = split_source(source)
    found = Table(Source(Engine.of(spark), location, name))
    with bounded_wait(spark):
        found._source.open()
        found._source.bind()
    return found


class Table:
    """One table, made by :func:`table`: index it, ask about it, and rearrange it."""

    def __init__(self, source: Source) -> None:
        """Remember where the table is; nothing is read yet."""
        self._source = source

    @property
    def spark(self) -> SparkSession:
        """The session in which the table was opened."""
        return self._source.engine.spark

    @property
    def source(self) -> str:
        """The path of the table, or its name in Spark's catalog."""
        return self._source.location

    @property
    def name(self) -> str | None:
        """What queries may call the table."""
        return self._source.name

    def __repr__(self) -> str:
        return f"<Table {self.source if self.name is None else f'{self.name}={self.source}'}>"

    def _repr_html_(self) -> str:
        """What is known about the table now; a notebook shows it even if that cannot be told."""
        try:
            return self.status().view().html()
        except Exception as problem:
            return View(repr(self), notes=(some_sentence_of(problem),)).html()

    def frame(self) -> DataFrame:
        """The table as a DataFrame, as it is now."""
        require_running(self.spark, self.source)
        return self._source.frame()

    def perform(
        self, action: Action[Result], progress: Progress | None = None, cancel: Cancel | None = None
    ) -> Result:
        """Perform any action; the methods below are short for this.

        ``progress`` is called with how far it is. ``cancel`` ends it from another thread: its Spark jobs are
        cancelled and :class:`CancelledError` is raised, unless it is done or its commit has begun.
        """
        require_running(self.spark, self.source)
        return perform(action, self._source, progress, cancel)
