"""Parquet directories on their way to Delta: converted where they lie, or copied to a new table.

Both are made for what follows. If that fails, what was made is taken away again: only what this run made, and
only if nobody has put anything to it. Each commit carries a mark by which it is known.
"""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from skipstone.catalog.column_names import quoted
from skipstone.errors import SkipstoneError
from skipstone.spark.engine.engine import Engine
from skipstone.spark.engine.folders import Folder, is_inside
from skipstone.spark.engine.job_settings import EXACT
from skipstone.spark.engine.open_table import OpenTable, open_table
from skipstone.spark.engine.rewrite import check_new_table
from skipstone.spark.engine.row_hash import hash_of
from skipstone.spark.engine.session_copy import copied_session
from skipstone.spark.failures import SPARK_FAILURES, some_sentence_of, storage_reason

__all__ = ["Conversion", "Copy"]

LOG = logging.getLogger("skipstone")
_CLAIM = "_skipstone/being-written"
_METADATA = "spark.databricks.delta.commitInfo.userMetadata"


@dataclass(frozen=True, slots=True, eq=False)
class Copy:
    """The rows of a table, copied to a new Delta table."""

    table: OpenTable
    output: str

    def check(self) -> None:
        """Refuse an output that cannot be written, before anything is."""
        folder = Folder(self.table.engine.spark, self.output)
        if is_inside(folder.path, self.table.root):
            raise SkipstoneError(f"{self.output} lies in the table itself; give a path elsewhere.")
        folder.check_free()
        check_new_table(self.table.engine.spark, self.output)

    @contextmanager
    def made(self) -> Iterator[OpenTable]:
        """The copy, checked; it is deleted again if it, or what is done with it, fails."""
        folder, mark = Folder(self.table.engine.spark, self.output), f"skipstone {uuid.uuid4().hex}"
        existed = folder.exists()
        store = self.table.engine.store(folder.path)
        self._claim(folder, mark, existed)
        try:
            yield self._copied(folder.path, mark)
        except BaseException as problem:
            with _telling_why_it_stays(self.output):
                if store.read(_CLAIM) != mark.encode() or not _only_marked(
                    self.table.engine, folder.path, mark
                ):
                    raise SkipstoneError("somebody has written to it") from problem
                folder.remove()
                if existed:
                    folder.make()
            raise
        with suppress(SkipstoneError):  # it says nothing any more
            store.delete(_CLAIM)

    def _claim(self, folder: Folder, mark: str, existed: bool) -> None:
        """Make the folder this run's own; if two runs do so at once, the last one has it."""
        store = self.table.engine.store(folder.path)
        try:
            store.write(_CLAIM, mark.encode())
        except SkipstoneError:
            Folder(self.table.engine.spark, f"{folder.path}/_skipstone").remove_if_empty()
            if not existed:
                folder.remove_if_empty()
            raise
        if store.read(_CLAIM) != mark.encode():
            raise SkipstoneError(f"{self.output} is being written by somebody else.")

    def _copied(self, output: str, mark: str) -> OpenTable:
        session = copied_session(self.table.engine.spark, EXACT)
        frame = self.table.live(self.table.file_indices, session)
        names = self.table.snapshot.partition_columns
        try:
            writer = frame.write.format("delta").partitionBy(*names).mode("errorifexists")
            writer.option("userMetadata", mark).save(output)
            before, after = hash_of(frame), hash_of(session.read.format("delta").load(output))
        except SPARK_FAILURES as problem:
            raise SkipstoneError(
                f"{self.table.root} cannot be copied to {self.output} ({storage_reason(problem)})."
            ) from problem
        if before != after:
            raise SkipstoneError(
                f"The copy of {self.table.root} in {self.output} had {after.rows:,} rows instead of "
                f"{before.rows:,}, or their contents differed."
            )
        engine = self.table.engine
        return open_table(engine, engine.spark.read.format("delta").load(output), output)


@dataclass(frozen=True, slots=True, eq=False)
class Conversion:
    """A Delta log beside the Parquet files; no file is moved. A table of a catalog has a ``name``."""

    table: OpenTable
    name: str | None = None

    def check(self) -> None:
        """Refuse a directory that would not be the same table, before anything is written.

        Delta also takes files in subdirectories that Spark does not look into, and none from elsewhere.
        """
        others = self._found_everywhere() ^ set(self.table.files.paths)
        if others:
            raise SkipstoneError(
                f"{self.table.root} cannot be made a Delta table where it lies, for that would change which "
                f"files belong to it ({min(others)}); copy it to a new table (--output)."
            )
        check_new_table(self.table.engine.spark, self.table.root)

    def _found_everywhere(self) -> set[str]:
        root = self.table.root
        everywhere = (
            self.table.engine.spark.read.schema("none INT")
            .option("recursiveFileLookup", "true")
            .parquet(root)
        )
        return set(open_table(self.table.engine, everywhere, root).files.paths)

    @contextmanager
    def made(self) -> Iterator[OpenTable]:
        """The Delta table; it is a directory of Parquet files again if what is done with it fails."""
        root, mark = self.table.root, f"skipstone {uuid.uuid4().hex}"
        try:
            yield self._converted(mark)
        except BaseException as problem:
            with _telling_why_it_stays(f"{root}/_delta_log"):
                if self.name is not None:
                    raise SkipstoneError("the catalog knows it as a Delta table now") from problem
                if not _only_marked(self.table.engine, root, mark):
                    raise SkipstoneError("somebody has written to it") from problem
                if self._found_everywhere() != set(self.table.files.paths):
                    # Without Delta's log they would be rows of the table.
                    raise SkipstoneError("files that are no part of the table lie beside it") from problem
                Folder(self.table.engine.spark, f"{root}/_delta_log").remove()
            raise

    def _converted(self, mark: str) -> OpenTable:
        table, spark = self.table, self.table.engine.spark
        try:
            if self.name is None:
                fields = json.loads(table.snapshot.partition_schema)["fields"]
                columns = ", ".join(f"{quoted(field['name'])} {field['type']}" for field in fields)
                by = f" PARTITIONED BY ({columns})" if fields else ""
                marked = copied_session(spark, {**EXACT, _METADATA: mark})
                marked.sql(f"CONVERT TO DELTA parquet.{quoted(table.root)}{by}")
            else:
                # By its path, the catalog would still take it for a directory of Parquet files.
                copied_session(spark, EXACT).sql(f"CONVERT TO DELTA {self.name}")
        except SPARK_FAILURES as problem:
            raise SkipstoneError(
                f"{table.root} cannot be made a Delta table ({storage_reason(problem)})."
            ) from problem
        now = open_table(table.engine, spark.read.format("delta").load(table.root), table.root)
        if _extent(now) != _extent(table):
            raise SkipstoneError(
                f"{table.root} had {len(table.files):,} files and was made a Delta table of "
                f"{len(now.files):,}; nothing else was changed."
            )
        return now


def _extent(table: OpenTable) -> tuple[int, int]:
    return len(table.files), table.files.bytes


def _only_marked(engine: Engine, root: str, mark: str) -> bool:
    """Whether a Delta table has no commit but, at most, a first one that carries the mark."""
    store = engine.store(root)
    commits = [name for name in store.names("_delta_log") if name.endswith(".json")]
    if len(commits) > 1:
        return False
    return all(mark.encode() in store.read(f"_delta_log/{name}") for name in commits)


@contextmanager
def _telling_why_it_stays(path: str) -> Iterator[None]:
    """A failed clean-up is logged, and the failure before it is raised."""
    try:
        yield
    # The failure before this one is what matters.
    except Exception as problem:  # noqa: BLE001
        LOG.warning("%s stays, for %s.", path, some_sentence_of(problem).rstrip("."))
