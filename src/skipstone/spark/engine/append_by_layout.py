"""Laying rows out on their way into the table.

Once a layout has proved itself, appended rows need not be written twice, first without the layout and then
by it: an ordinary append puts them into the layout's blocks at once. If far fewer rows are appended than the
layout was made for, neighbouring blocks share a file. If far more rows belong to a block than it was made
for, as when the layout goes by a date and the days go by, they become several files, which count as not laid
out and wait for a layout that is fitted to them.

Only that is published about a file which was measured in it, so nothing is ever skipped because of where a
row was meant to go. An append that fails with the layout is made once more without it.
"""

from __future__ import annotations

import json
import logging
import re
import uuid
from collections import Counter
from dataclasses import dataclass

import numpy as np
from pyspark.sql import DataFrame

from skipstone.catalog.layout_records import LayoutRecord
from skipstone.errors import SkipstoneError, UnknownOutcomeError
from skipstone.layout.assignment import Assignment, blocks_of
from skipstone.layout.stored_layout import design_of
from skipstone.pruning.blocks import Counts
from skipstone.spark.engine.assign import arranged, assigned, coarsened
from skipstone.spark.engine.cancellation import shielded
from skipstone.spark.engine.job_settings import IN_PLACE
from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.engine.session_copy import in_session
from skipstone.spark.engine.source import Source
from skipstone.spark.failures import SPARK_FAILURES, some_sentence_of, storage_reason

__all__ = ["LayoutAppend", "append_by_layout", "append_plainly"]

LOG = logging.getLogger("skipstone")
_WITHOUT_LAYOUT = "Rows are appended without a layout, for it fails on them: %s"
_MOST_GROWTH = 2.0
"""A layout is used for at most so many times the rows that it was made for."""
_LARGEST = 8
"""Rows of a file at most, in blocks: twice what any layout puts into one."""
_MOST_ROWS = "spark.sql.files.maxRecordsPerFile"
_PART = re.compile(r"part-(\d+)-")


@dataclass(frozen=True, slots=True, eq=False)
class LayoutAppend:
    """Rows that were appended by a layout to the table ``before``; ``mark`` is in their commit."""

    before: OpenTable
    record: LayoutRecord
    rows: int
    mark: str

    def file_indices(self, now: OpenTable) -> tuple[Counts, Counts]:
        """The indices of the new files in the table as it is now: blocks of the layout, overflowing files."""
        indices = {path: index for index, path in enumerate(now.files.paths)}
        added = [path for path in self.added(now) or () if path in indices]
        tasks = [_task(path) for path in added]
        alone = Counter(tasks)
        laid_out, overflowing = (
            [indices[path] for path, task in zip(added, tasks, strict=True) if (alone[task] == 1) == wanted]
            for wanted in (True, False)
        )
        return np.array(laid_out, np.int64), np.array(overflowing, np.int64)

    def added(self, now: OpenTable) -> tuple[str, ...] | None:
        """The files that the commit added; None if there is no such commit."""
        return _added(self.before, now, self.mark)


def _added(before: OpenTable, now: OpenTable, mark: str) -> tuple[str, ...] | None:
    """The files that the commit with a mark added between two states; None if there is no such commit."""
    store = now.store
    for version in range(before.snapshot.version + 1, now.snapshot.version + 1):
        lines = store.read(f"_delta_log/{version:020d}.json").splitlines()
        actions = [json.loads(line) for line in lines if line.strip()]
        if any(action.get("commitInfo", {}).get("userMetadata") == mark for action in actions):
            return tuple(action["add"]["path"] for action in actions if "add" in action)
    return None


def append_plainly(source: Source, before: OpenTable, rows: DataFrame) -> None:
    """Append rows without a layout to the table ``before``; an error means that they are not in it."""
    mark = _new_mark()
    try:
        source.save(rows.write.format("delta").mode("append").option("userMetadata", mark))
    except SPARK_FAILURES as problem:
        reason = storage_reason(problem)
        if not _was_committed(source, before, mark, problem):
            raise SkipstoneError(
                f"The rows cannot be appended to {before.root} ({reason}); the table is as it was, and "
                "VACUUM removes files that were begun."
            ) from problem
        LOG.warning("The rows were appended to %s, but then Delta failed: %s.", before.root, reason)


def _was_committed(source: Source, before: OpenTable, mark: str, problem: Exception) -> bool:
    """Whether an append that failed is in the table all the same."""
    try:
        # Jobs that look are not cancelled, for whoever sees a failure appends again.
        with shielded(source.engine.spark):
            return _added(before, source.open(), mark) is not None
    # Whoever sees an append fail appends again: only a sure answer is given.
    except Exception as other:  # noqa: BLE001
        unknown = some_sentence_of(other).rstrip(".")
        raise UnknownOutcomeError(
            f"Appending to {before.root} failed ({storage_reason(problem)}), and whether the rows are in the "
            f"table is not known ({unknown}); look before you append them again."
        ) from problem


def _new_mark() -> str:
    return f"skipstone {uuid.uuid4().hex}"


def append_by_layout(
    source: Source, table: OpenTable, record: LayoutRecord, rows: DataFrame
) -> LayoutAppend | None:
    """Append rows by a layout; None, with nothing appended, if they do not suit it."""
    if not _fits(table, rows):
        return None
    try:
        append = LayoutAppend(table, record, rows.count(), _new_mark())
        assignment = design_of(record).group.assignment
        wanted = round(append.rows / record.block_rows)
        if not 1 < wanted <= _MOST_GROWTH * blocks_of(assignment):
            return None
        session = table.engine.session({**IN_PLACE, _MOST_ROWS: str(_LARGEST * record.block_rows)})
        numbered = assigned(table, in_session(session, rows), assignment)
        placed = _placed(numbered, record, assignment, wanted)
    # Such as a record that cannot be read, or a column that the layout goes by and that was dropped since.
    # Nothing was written yet.
    except Exception as problem:  # noqa: BLE001
        LOG.warning(_WITHOUT_LAYOUT, some_sentence_of(problem))
        return None
    try:
        source.save(placed.write.format("delta").mode("append").option("userMetadata", append.mark))
    except SPARK_FAILURES as problem:
        # The commit may have succeeded all the same, and then the rows must not be appended again.
        if not _was_committed(source, table, append.mark, problem):
            LOG.warning(_WITHOUT_LAYOUT, some_sentence_of(problem))
            return None
    return append


def _task(path: str) -> str:
    """Which task wrote a file; every block has one of its own.

    >>> _task("a=1/part-00003-5d2c.c001.snappy.parquet"), _task("other.parquet")
    ('00003', 'other.parquet')
    """
    found = _PART.match(path.rpartition("/")[2])
    return found[1] if found else path


def _fits(table: OpenTable, rows: DataFrame) -> bool:
    """Whether the rows have just the table's columns, and the table no partitions."""
    if table.snapshot.partition_columns:
        return False
    schema = table.no_rows().schema
    there, here = (
        sorted((field.name.lower(), field.dataType.simpleString()) for field in fields)
        for fields in (schema.fields, rows.schema.fields)
    )
    return there == here


def _placed(numbered: DataFrame, record: LayoutRecord, assignment: Assignment, wanted: int) -> DataFrame:
    """The rows in so many partitions, each with one or some neighbouring blocks of the layout."""
    blocks = blocks_of(assignment)
    partitions = min(wanted, blocks)
    sort = [each.sql for each in record.group.sort]
    return arranged(coarsened(numbered, blocks, partitions), partitions, sort)
