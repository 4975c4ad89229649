"""Rewriting a Delta table's files, so that nothing is ever lost.

Steps: begin, check, write, measure, verify, publish, commit. New files are no part of the table until the
commit, which is one Delta commit that changes no data. The rows read are counted and hashed on their way
to the new files, and those of the new files when these are read back; only when both agree is anything
committed. Statistics are published just before: entries are keyed by files, so those of files
that never become part of the table harm nobody. A crash at any point leaves the old table or the new one.
So nothing is deleted once the commit has begun, unless it is certain that it was refused.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, Observation, SparkSession

from skipstone.catalog import Segment, publish
from skipstone.catalog.column_names import quoted
from skipstone.catalog.tracked import TrackedSet
from skipstone.errors import SkipstoneError, TableChangedError
from skipstone.predicate.expr import Expr, Value
from skipstone.progress import Progress, Steps
from skipstone.pruning.blocks import Counts
from skipstone.spark.bridge.janino import new_instance
from skipstone.spark.engine.assign import Placing
from skipstone.spark.engine.cancellation import check_cancelled, shielded
from skipstone.spark.engine.job_progress import watch
from skipstone.spark.engine.job_settings import AUTO_COMPACT, IN_PLACE, NO_DELTA_STATISTICS, WIDE
from skipstone.spark.engine.open_table import OpenTable, open_handle, packed_bits
from skipstone.spark.engine.reader_settings import settings_of
from skipstone.spark.engine.row_hash import (
    HASH,
    MOST_HASHED,
    RowHash,
    hash_of,
    leaves,
    row_hash,
    total_hash,
    with_hash,
)
from skipstone.spark.engine.session_copy import with_settings
from skipstone.spark.engine.statistics import measure, scans_of
from skipstone.spark.failures import reason_of

__all__ = ["Plan", "Rewriting", "Rewritten", "RowSource", "Written", "check_new_table"]

T = TypeVar("T")
LOG = logging.getLogger("skipstone")
_DEFAULTS = "spark.databricks.delta.properties.defaults."
_COMPACTING = ("delta.autoOptimize.autoCompact", "delta.autoOptimize")

_PARTS = 1000
_DICTIONARY = "parquet.enable.dictionary#"


@dataclass(frozen=True, slots=True, eq=False)
class RowSource:
    """Files that hold the same rows as others, and what these rows were found to be."""

    table: OpenTable
    rows: RowHash


@dataclass(frozen=True, slots=True)
class Plan:
    """What a rewrite is to do: which files, in which order, and what to keep of the new ones.

    ``placing`` says which block each row goes to, ``sort`` is the SQL by which rows are sorted inside a
    block. ``values`` are what columns of few values are known to have, for the value sets of the new blocks.
    ``layout`` is the id under which the new blocks are known, ``created`` the time of it. ``source`` has the
    rows of the chosen files where these cannot be read. ``no_dictionaries`` are stored columns for which
    Parquet's writer is not to look for equal values.
    """

    chosen: Counts
    placing: Placing
    sort: tuple[str, ...]
    tracked: TrackedSet
    values: Mapping[Expr, Sequence[Value]]
    layout: str
    created: str
    source: RowSource | None = None
    no_dictionaries: tuple[str, ...] = ()

    def of(self, chosen: Counts) -> Plan:
        """The same for other files."""
        return replace(self, chosen=chosen)


@dataclass(frozen=True, slots=True, eq=False)
class Written:
    """New files that hold the rows which were read, checked, and what is known about them."""

    table: OpenTable
    segment: Segment
    rows: RowHash


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What a rewrite did."""

    version: int
    rows: int
    files_before: int
    files_after: int
    bytes_before: int
    bytes_after: int


class Rewriting:
    """One rewrite of some of a table's files; made, used once and dropped."""

    def __init__(self, table: OpenTable, in_place: bool = True) -> None:
        """Begin: look at the newest version of the table, and list it again only if it has changed.

        With ``in_place``, tables that must not be rewritten are refused.
        """
        engine = self._engine = table.engine
        self._spark = engine.spark
        self._committing = False
        self._folder = ""
        self._session = engine.session(IN_PLACE)
        self._handle = new_instance(self._spark, "SkipstoneRewrite")
        begun = self._handle.begin(self._session._jsparkSession, table.root, table.jvm_files)
        self.before = table if begun.equals(table.jvm_files) else open_handle(engine, begun)
        if in_place:
            self._check()

    @property
    def session(self) -> SparkSession:
        """The session in which the rewrite runs."""
        return self._session

    def _check(self) -> None:
        _check(self._spark, json.loads(self._handle.properties()), self.before.root)

    def live(self, chosen: Counts) -> DataFrame:
        """The rows of the chosen files, without those that are deleted."""
        bits = packed_bits(chosen, len(self.before.files))
        return DataFrame(self._handle.live(self._session._jsparkSession, bits), self._session)

    def _rows(self, plan: Plan) -> DataFrame:
        if plan.source is None:
            return self.live(plan.chosen)
        return plan.source.table.frame(plan.source.table.file_indices, self._session)

    def run(self, plan: Plan, progress: Progress | None = None) -> Rewritten:
        """Rewrite the chosen files; if that fails before the commit, what was written is deleted again."""
        return self._unless_it_fails(lambda: self._run(plan, progress))

    def copy(self, plan: Plan, folder: str, progress: Progress | None = None) -> Written | None:
        """Write the rows of the chosen files to a folder below the table's root; the table stays as it is.

        None if these files have no rows.
        """
        self._folder = folder
        return self._unless_it_fails(lambda: self._copy(plan, progress, folder))

    def abandon(self) -> None:
        """Delete what was written, unless it is part of the table."""
        if not self._committing:
            self._abandon()

    def _unless_it_fails(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except (Py4JJavaError, PySparkException) as problem:
            failure = self._failure(problem)
            if not self._committing or isinstance(failure, TableChangedError):
                self._abandon()
            raise failure from problem
        except BaseException:
            if not self._committing:
                self._abandon()
            raise

    def _run(self, plan: Plan, progress: Progress | None) -> Rewritten:
        written = self._copy(plan, progress, "")
        assert written is not None
        publish(self.before.store, written.segment)
        version = self._commit()
        self.before.refresh()
        return Rewritten(
            version=version,
            rows=written.rows.rows,
            files_before=len(plan.chosen),
            files_after=len(written.segment.files),
            bytes_before=self.before.snapshot.bytes_of(plan.chosen),
            bytes_after=written.segment.files.bytes,
        )

    def _copy(self, plan: Plan, progress: Progress | None, folder: str) -> Written | None:
        statistics = None if folder else self._delta_statistics()
        if folder or statistics is not None:
            # Replicas are no files of Delta's, and have none.
            with_settings(self._session, NO_DELTA_STATISTICS)
        steps = Steps(progress, _PARTS, {"writing": 6, "measuring": 3, "verifying": 1})
        # The rows are read and dealt out, and then sorted and written.
        with watch(self._spark, steps.step("writing"), "writing blocks", 2):
            written, read = self._write(plan, folder)
        if folder and not read.rows and not len(written.files):
            return None
        everything = np.arange(len(written.files))
        scans = scans_of(plan.tracked.expressions)
        with watch(self._spark, steps.step("measuring"), "measuring blocks", scans, len(everything)):
            measured = measure(written, plan.tracked, plan.values, statistics)
        if measured.others:
            self._handle.describe("\0".join(measured.others).encode())
        found = measured.rows
        if found is None:
            with watch(self._spark, steps.step("verifying"), "verifying blocks"):
                found = hash_of(written.frame(everything, self._session))
        if found != read and read.rows > found.rows:
            # Spark counts the rows of a task again when its output was lost with an executor.
            read = hash_of(self._rows(plan))
        if found != read or (plan.source is not None and found != plan.source.rows):
            what, when = ("copy", "anything of it counts") if folder else ("rewrite", "its commit")
            raise SkipstoneError(
                f"The {what} of {self.before.root} was stopped before {when}: "
                f"it read {read.rows:,} rows and wrote {found.rows:,}, or their contents differ."
            )
        settings = settings_of(written, measured.blocks)
        check_cancelled(self._spark)
        segment = Segment(
            written.files, measured.blocks, settings, plan.created, plan.tracked.texts, plan.layout
        )
        return Written(written, segment, found)

    def _delta_statistics(self) -> Column | None:
        """The aggregate that gives a file's statistics in Delta's log, if Delta need not find them itself."""
        found = self._handle.statistics(self._session._jsparkSession)
        return None if found is None else Column(found)

    def _generate_code(self, plan: Plan) -> None:
        """Let code be generated for whole stages, as the user wants, if none of it gets too long for that."""
        short = leaves(self.before.no_rows().schema) <= MOST_HASHED and not plan.sort
        if short and plan.placing.expression is not None:
            usual = {key: self.before.engine.spark.conf.get(key, None) for key in WIDE}
            with_settings(self._session, usual)

    def _write(self, plan: Plan, folder: str) -> tuple[OpenTable, RowHash]:
        self._generate_code(plan)
        with_settings(self._session, {f"{_DICTIONARY}{name}": "false" for name in plan.no_dictionaries})
        source = self._rows(plan)
        observation = Observation()
        counted = with_hash(source).observe(observation, *row_hash()).drop(HASH)
        partitions = [quoted(name) for name in self.before.snapshot.partition_columns]
        placed = plan.placing.arranged(counted, (*partitions, *plan.sort))
        handle = self._handle.write(
            self._session._jsparkSession,
            placed.select(*map(quoted, source.columns))._jdf,
            packed_bits(plan.chosen, len(self.before.files)),
            folder,
        )
        return open_handle(self._engine, handle), total_hash(observation.get)

    def _commit(self) -> int:
        self._committing = True
        session = self._session._jsparkSession
        try:
            # Whoever cancels now is too late: a commit is not broken off.
            with shielded(self._spark):
                return int(self._handle.commit(session))
        except (Py4JJavaError, PySparkException) as problem:
            # Delta also fails after its commit, in what it does for other readers of the table.
            version = int(self._handle.committed(session))
            if version < 0:
                raise
            LOG.warning("%s was rewritten, but then Delta failed: %s.", self.before.root, reason_of(problem))
            return version

    def _abandon(self) -> None:
        """Delete what was written; if that fails too, the first failure is the one to report."""
        try:
            self._handle.abandon(self._session._jsparkSession)
        except (Py4JJavaError, PySparkException) as problem:
            LOG.warning("Files without a commit are left for VACUUM: %s.", reason_of(problem))

    def _failure(self, problem: Py4JJavaError | PySparkException) -> SkipstoneError:
        root, reason = self.before.root, reason_of(problem)
        # Once Delta's own Python package is imported, its exceptions are Python's.
        if isinstance(problem, PySparkException):
            name = type(problem).__name__
        else:
            name = problem.java_exception.getClass().getSimpleName()
        if "Concurrent" in name or name in ("MetadataChangedException", "ProtocolChangedException"):
            return TableChangedError(
                f"{root} was changed by somebody else during the rewrite, so nothing was committed and "
                f"the table is as they left it ({reason}); run it again."
            )
        if self._folder:
            return SkipstoneError(
                f"{root} could not be copied to {self._folder}, and nothing of it counts: {reason}."
            )
        if self._committing:
            return SkipstoneError(
                f"The rewrite of {root} failed in its commit: {reason}; the table is the old one or the "
                "new one, with the same rows, and VACUUM removes the files that are no part of it."
            )
        return SkipstoneError(
            f"The rewrite of {root} failed and nothing was committed: {reason}; files that it may have left "
            "are no part of the table, and VACUUM removes them."
        )


def check_new_table(spark: SparkSession, root: str) -> None:
    """Refuse what a rewrite of a Delta table that this session is about to make would be refused for."""
    names = ("delta.enableRowTracking", "delta.appendOnly", *_COMPACTING)
    defaults = {name: f"{_DEFAULTS}{name.removeprefix('delta.')}" for name in names}
    _check(spark, {name: str(spark.conf.get(key, "false")) for name, key in defaults.items()}, root)


def _check(spark: SparkSession, properties: Mapping[str, str], root: str) -> None:
    if _is_set(properties, "delta.enableRowTracking"):
        raise SkipstoneError(
            f"{root} has row tracking, whose row ids a rewrite would change; "
            "disable delta.enableRowTracking first."
        )
    if _is_set(properties, "delta.appendOnly"):
        raise SkipstoneError(f"{root} is append-only (delta.appendOnly), so it cannot be rewritten.")
    for name in _COMPACTING:
        if _is_set(properties, name):
            raise SkipstoneError(
                f"{root} has {name}, by which Delta would merge the new blocks after the "
                f"next write; ALTER TABLE ... UNSET TBLPROPERTIES ('{name}') first."
            )
    if str(spark.conf.get(AUTO_COMPACT, "false")).lower() == "true":
        raise SkipstoneError(
            f"This session has {AUTO_COMPACT}, by which Delta would merge the new blocks of "
            f"{root} after the next write; unset it first."
        )


def _is_set(properties: Mapping[str, str], name: str) -> bool:
    return properties.get(name, "").lower() == "true"
