"""Copying rows by column groups: each group in blocks of its own, none of it counting until all is checked.

The rows are read once to count and hash them, all columns together and each group with its tuple ids, and
once for each group to write it. What was written is read back, counted and hashed by group. Tuple ids are
unique, so where the hashes of all groups agree, putting tuples together gives the rows that were read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql.types import LongType, StructField, StructType

from skipstone.catalog.column_groups import TUPLE_ID, StoredGroup
from skipstone.catalog.replicas import concatenated
from skipstone.catalog.segment import Segment
from skipstone.errors import SkipstoneError
from skipstone.predicate.expr import Expr, Value
from skipstone.progress import Progress, Steps
from skipstone.pruning.blocks import BlockSet, Counts
from skipstone.spark.engine.cancellation import check_cancelled
from skipstone.spark.engine.group_files import GroupPlace, GroupPlan, write_group
from skipstone.spark.engine.job_progress import watch
from skipstone.spark.engine.job_settings import EXACT
from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.engine.row_hash import RowHash, hashes_of
from skipstone.spark.engine.session_copy import copied_session
from skipstone.spark.engine.stored_names import stored_schema, with_stored_names
from skipstone.spark.engine.tuple_ids import numbered_rows
from skipstone.spark.failures import SPARK_FAILURES, reason_of

__all__ = ["CopiedGroups", "GroupsPlan", "copy_groups", "group_rows"]

_PARTS = 1000


@dataclass(frozen=True, slots=True)
class GroupsPlan:
    """What a copy by column groups is to be: which files, and how each group is written.

    The rest is as in :class:`~skipstone.spark.engine.rewrite.Plan`.
    """

    chosen: Counts
    groups: tuple[GroupPlan, ...]
    values: Mapping[Expr, Sequence[Value]]
    layout: str
    created: str

    def of(self, chosen: Counts) -> GroupsPlan:
        """The same for other files."""
        return replace(self, chosen=chosen)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns, in the order of the groups."""
        return tuple(column for group in self.groups for column in group.columns)


@dataclass(frozen=True, slots=True, eq=False)
class CopiedGroups:
    """The groups as they are stored, their files, and the hash of the columns that they have."""

    groups: tuple[StoredGroup, ...]
    segment: Segment
    rows: RowHash


def copy_groups(
    table: OpenTable, plan: GroupsPlan, folder: str, progress: Progress | None
) -> CopiedGroups | None:
    """Copy the rows of the plan's files to a folder below the table's root; None if there are no rows.

    If that fails, nothing of it is left.
    """
    try:
        return _copy(table, plan, folder, progress)
    except SPARK_FAILURES as problem:
        table.store.delete_folder(folder)
        raise SkipstoneError(
            f"{table.root} could not be copied to {folder}, and nothing of it counts: {reason_of(problem)}."
        ) from problem
    except BaseException:
        table.store.delete_folder(folder)
        raise


def _copy(table: OpenTable, plan: GroupsPlan, folder: str, progress: Progress | None) -> CopiedGroups | None:
    names = [str(number) for number in range(len(plan.groups))]
    steps = Steps(progress, _PARTS, {"reading": 2, **dict.fromkeys(names, 8 / len(names)), "verifying": 1})
    spark, schema = table.engine.spark, table.snapshot.schema
    numbered = numbered_rows(table, plan.chosen)
    wanted = [plan.columns, *((TUPLE_ID, *group.columns) for group in plan.groups)]
    with watch(spark, steps.step("reading"), "reading rows"):
        read, *truths = hashes_of(with_stored_names(numbered, schema), wanted)
    if not read.rows:
        return None
    groups: list[StoredGroup] = []
    for number, group in enumerate(plan.groups):
        place = GroupPlace(table, folder, number, plan.layout, plan.created, plan.values)
        with watch(spark, steps.step(str(number)), "writing column groups", 2):
            stored = write_group(numbered, group, place)
        table.store.delete_folder(place.scratch)
        groups.append(replace(stored, row_hash=truths[number].total))
    with watch(spark, steps.step("verifying"), "verifying blocks"):
        for stored, truth in zip(groups, truths, strict=True):
            check_cancelled(spark)
            (found,) = hashes_of(group_rows(table, stored, schema), [(TUPLE_ID, *stored.columns)])
            if found != truth:
                raise SkipstoneError(
                    f"The copy of {table.root} was stopped before anything of it counts: it read "
                    f"{truth.rows:,} rows and wrote {found.rows:,}, or their contents differ."
                )
    files = concatenated([group.files for group in groups])
    blocks = BlockSet.of(_rows_of_files(groups), {})
    segment = Segment(files, blocks, _settings(groups), plan.created, layout=plan.layout)
    return CopiedGroups(tuple(groups), segment, read)


def group_rows(table: OpenTable, group: StoredGroup, schema: str) -> DataFrame:
    """All rows of a group behind their tuple ids; ``schema`` is the table's when it was written."""
    session = copied_session(table.engine.spark, EXACT)
    fields = stored_schema(schema, group.columns).fields
    kind = StructType([StructField(TUPLE_ID, LongType()), *fields])
    return session.read.schema(kind).parquet(*(f"{table.root}/{path}" for path in group.files.paths))


def _rows_of_files(groups: Sequence[StoredGroup]) -> Counts:
    sums = [np.bincount(group.file_of, weights=group.blocks.blocks.rows) for group in groups]
    return np.concatenate(sums).astype(np.int64)


def _settings(groups: Sequence[StoredGroup]) -> dict[str, str]:
    """What the statistics of any group depend on."""
    return {key: text for group in groups for key, text in group.blocks.settings.items()}
