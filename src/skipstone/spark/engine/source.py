"""Where a table is: a path or a name in Spark's catalog, and what queries call it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, DataFrameWriter

from skipstone.errors import SkipstoneError
from skipstone.path_listing import problem_of, read_listing
from skipstone.spark.delta_settings import has_delta
from skipstone.spark.engine.engine import Engine
from skipstone.spark.engine.open_table import OpenTable, open_table
from skipstone.spark.failures import sentence_of

__all__ = ["Source", "is_path"]

_PATTERN = re.compile(r"[*?\[{]")


def is_path(location: str) -> bool:
    """Whether a table is named by its path rather than by its name in a catalog."""
    return "/" in location or location.startswith(".")


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A table that can be opened as often as one likes; ``name`` is what queries call it, if they may."""

    engine: Engine
    location: str
    name: str | None = None

    @property
    def called(self) -> str:
        """The name by which query files speak of the table."""
        return self.name or self.location.rstrip("/").rpartition("/")[2]

    def open(self) -> OpenTable:
        """List the table's files, as they are now."""
        return open_table(self.engine, self.frame(), self.location)

    def bind(self) -> None:
        """Let queries call the table, as it is now, by its name."""
        if self.name is not None:
            self.engine.runtime.bind(self.name, self.frame())

    def save(self, writer: DataFrameWriter) -> None:
        """Let a writer write to the table."""
        if is_path(self.location):
            writer.save(self.location)
        else:
            writer.saveAsTable(self.location)

    def frame(self) -> DataFrame:
        """The table as a DataFrame, as it is now."""
        spark = self.engine.spark
        try:
            if not is_path(self.location):
                return spark.table(self.location)
            format_ = self._format()
            if format_ == "delta" and not has_delta(spark):
                raise SkipstoneError(
                    f"{self.location} is a Delta table, and this Spark session has no Delta: start it with "
                    "Delta's jars and settings, or use skipstone.session()."
                )
            return spark.read.format(format_).load(self.location)
        except (PySparkException, Py4JJavaError) as problem:
            why = (sentence_of(problem) or "").rstrip(".")
            raise SkipstoneError(f"{self.location} is not a table that can be read: {why}.") from problem

    def _format(self) -> str:
        """How the path is read; raises when what lies there is no table."""
        store = self.engine.runtime.store(self.location.rstrip("/") or "/")
        found = read_listing(store.listing(""))
        if "_delta_log" in found.names:
            return "delta"
        # What has a pattern for names is Spark's to find.
        if found.exists or not _PATTERN.search(self.location):
            problem = problem_of(self.location, found, lambda name: read_listing(store.listing(name)))
            if problem:
                raise SkipstoneError(problem)
        return "parquet"
