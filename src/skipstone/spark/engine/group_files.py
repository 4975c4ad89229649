"""The files of one column group: written block by block, measured, and put together as row groups.

Spark writes a file for each block, with the columns of the group and those that its features and expressions
read besides. Their statistics are computed as for any files. Then the driver copies the blocks, at most about
a hundred, into one file, without decoding them and without the columns that are not the group's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from pyspark.sql import DataFrame, SparkSession

from skipstone.catalog import merge
from skipstone.catalog.column_groups import TUPLE_ID, StoredGroup, block_name
from skipstone.catalog.column_names import ColumnNames, quoted
from skipstone.catalog.files import Files
from skipstone.catalog.logical_names import LogicalNames
from skipstone.catalog.segment import Segment
from skipstone.catalog.tracked import TrackedSet
from skipstone.errors import SkipstoneError
from skipstone.predicate.expr import Column, Expr, Value, columns_of
from skipstone.pruning.blocks import Counts
from skipstone.spark.bridge.janino import new_instance
from skipstone.spark.engine.assign import BLOCK, arranged
from skipstone.spark.engine.cancellation import check_cancelled
from skipstone.spark.engine.open_table import OpenTable, open_table
from skipstone.spark.engine.reader_settings import settings_of
from skipstone.spark.engine.resolve_tracked import rendered_expressions, rendered_features, tracked_columns
from skipstone.spark.engine.statistics import compute
from skipstone.spark.engine.stored_names import with_stored_names

__all__ = ["MOST_BLOCKS", "GroupPlace", "GroupPlan", "write_group"]

MOST_BLOCKS = 100
"""Row groups of a file: whoever reads some of them reads its whole footer."""
_TASK = re.compile(r"part-(\d+)")


@dataclass(frozen=True, slots=True)
class GroupPlan:
    """How one group is written: its columns by their stored names, and the block of each row.

    ``features`` have a bit in each block, ``expressions`` statistics, besides the columns.
    """

    columns: tuple[str, ...]
    assign: Callable[[DataFrame], DataFrame]
    blocks: int
    features: tuple[Expr, ...] = ()
    expressions: tuple[Expr, ...] = ()

    @property
    def written(self) -> tuple[str, ...]:
        """What a block has until its statistics are known: also what its features and expressions read."""
        read = {column.path[0] for expr in (*self.features, *self.expressions) for column in columns_of(expr)}
        return (*self.columns, *sorted(read - set(self.columns)), TUPLE_ID)


@dataclass(frozen=True, slots=True, eq=False)
class GroupPlace:
    """Where a group is written: a folder below the table's root, the group's number, and its layout.

    ``values`` are what columns of few values are known to have, for the value sets of the blocks.
    """

    table: OpenTable
    folder: str
    number: int
    layout: str
    created: str
    values: Mapping[Expr, Sequence[Value]]

    @property
    def scratch(self) -> str:
        """The folder of its single blocks, below the root; it is deleted in the end."""
        return f"{self.folder}/blocks-{self.number}"


def write_group(rows: DataFrame, plan: GroupPlan, place: GroupPlace) -> StoredGroup:
    """Write rows of the table that have tuple ids; their hash is not known yet, and 0."""
    table, session = place.table, rows.sparkSession
    folder = f"{table.root}/{place.scratch}"
    named = with_stored_names(plan.assign(rows), table.snapshot.schema).select(
        *map(quoted, (*plan.written, BLOCK))
    )
    # Sorted tuple ids take a byte a row where what is stored is the difference of each to the one before.
    placed = arranged(named, plan.blocks, (TUPLE_ID,))
    writer = placed.write.option("parquet.writer.version", "v2")
    writer.option(f"parquet.enable.dictionary#{TUPLE_ID}", "false").parquet(folder)
    blocks = open_table(table.engine, session.read.schema(placed.schema).parquet(folder), folder)
    order, tracked = _in_order(blocks), _tracked(blocks, plan)
    statistics = compute(blocks, order, tracked, place.values)
    settings = settings_of(blocks, statistics)
    segment = Segment(
        blocks.files.some(order),
        statistics,
        settings,
        place.created,
        tracked.texts,
        place.layout,
        place.number,
    )
    filled = np.flatnonzero(statistics.rows > 0)
    locations = [blocks.snapshot.locations[index] for index in order[filled].tolist()]
    some = merge([segment], only={segment.files.paths[index] for index in filled.tolist()})
    measured = replace(segment, files=some.files, blocks=some.blocks)
    schema = blocks.no_rows(session).select(*map(quoted, (*plan.columns, TUPLE_ID))).schema.json()
    return _put_together(_Blocks(session, locations, schema, measured), plan, place)


def _in_order(blocks: OpenTable) -> Counts:
    """The files of the blocks by the number of the task that wrote them, which is the block's."""
    names = (_TASK.match(path.rpartition("/")[2]) for path in blocks.files.paths)
    numbers = np.array([int(name[1]) for name in names if name], np.int64)
    return np.argsort(numbers, kind="stable").astype(np.int64)


def _tracked(blocks: OpenTable, plan: GroupPlan) -> TrackedSet:
    """All columns that the blocks have, and what the group has bits and statistics of."""
    columns = tuple(
        item
        for item in tracked_columns(blocks.snapshot.schema)
        if isinstance(item.expr, Column) and item.expr.path[0] != TUPLE_ID
    )
    names = LogicalNames.of(ColumnNames.from_schema(blocks.snapshot.schema))
    more = TrackedSet(
        rendered_expressions(blocks, [names.sql(expr) for expr in plan.expressions]),
        rendered_features(blocks, plan.features),
    )
    return TrackedSet(columns).with_more(more)


@dataclass(frozen=True, slots=True, eq=False)
class _Blocks:
    """Where the single blocks are that have rows, the schema to keep, and what was measured."""

    session: SparkSession
    locations: Sequence[str]
    schema: str
    measured: Segment


def _put_together(blocks: _Blocks, plan: GroupPlan, place: GroupPlace) -> StoredGroup:
    """Copy the blocks into files of at most about a hundred."""
    writer = new_instance(blocks.session, "GroupFileWriter")
    conf = blocks.session._jsparkSession.sessionState().newHadoopConf()
    columns = "\0".join((*plan.columns, TUPLE_ID))
    count = len(blocks.locations)
    paths: list[str] = []
    found: list[_File] = []
    for number, some in enumerate(np.array_split(np.arange(count), -(-count // MOST_BLOCKS))):
        check_cancelled(blocks.session)
        path = f"{place.folder}/group-{place.number}-{number}.parquet"
        sources = "\0".join(blocks.locations[index] for index in some.tolist())
        text = writer.write(conf, sources, f"{place.table.root}/{path}", columns, blocks.schema)
        file = _File.read(text)
        if file.rows != blocks.measured.blocks.rows[some].tolist():
            raise SkipstoneError(f"{path} has other blocks than were measured, and nothing of it counts.")
        paths.append(path)
        found.append(file)
    return _stored(plan, blocks.measured, paths, found)


@dataclass(frozen=True, slots=True)
class _File:
    """A file as it was written: rows, first byte and bytes of each block, and the bytes of each column."""

    size: int
    time: int
    rows: list[int]
    starts: list[int]
    bytes: list[int]
    columns: Mapping[str, int]

    @classmethod
    def read(cls, text: str) -> _File:
        """Read the JVM's JSON."""
        return cls(**json.loads(text))


def _stored(plan: GroupPlan, measured: Segment, paths: Sequence[str], found: Sequence[_File]) -> StoredGroup:
    times = np.array([file.time for file in found], np.int64)
    file_of = np.repeat(np.arange(len(found)), [len(file.rows) for file in found]).astype(np.int64)
    blocks = Files(
        tuple(
            block_name(path, number)
            for path, file in zip(paths, found, strict=True)
            for number in range(len(file.rows))
        ),
        np.array([size for file in found for size in file.bytes], np.int64),
        times[file_of],
    )
    sizes: dict[str, int] = {}
    for file in found:
        for name, size in file.columns.items():
            sizes[name] = sizes.get(name, 0) + size
    return StoredGroup(
        columns=plan.columns,
        files=Files(tuple(paths), np.array([file.size for file in found], np.int64), times),
        blocks=replace(measured, files=blocks),
        file_of=file_of,
        starts=np.array([start for file in found for start in file.starts], np.int64),
        column_bytes=sizes,
        row_hash=0,
    )
