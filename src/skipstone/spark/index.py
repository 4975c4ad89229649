"""Indexing: statistics for the files that have none, published as a new segment.

Steps: list the files, find those without an entry (or without what is asked for now), scan them once,
publish. A file is asked for by path, size and time, so a file that was overwritten is new.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from skipstone.catalog import Catalog, Files, Segment, merge, publish
from skipstone.catalog.store import replace_all
from skipstone.predicate.blocks import MOST_VALUES, BlockSet, Counts, Feature
from skipstone.predicate.expr import Column, Expr, Value
from skipstone.predicate.render import to_sql
from skipstone.predicate.types import Kind
from skipstone.spark.kept import (
    Kept,
    columns_to_keep,
    expressions_to_keep,
    features_to_keep,
    still_to_keep,
)
from skipstone.spark.progress import Progress, watch
from skipstone.spark.runtime import Runtime
from skipstone.spark.statistics import compute
from skipstone.spark.table_files import TableFiles

__all__ = ["IndexReport", "index_files", "index_laid_out"]

_MOST_SEGMENTS = 16
Flags = npt.NDArray[np.bool_]
_TIMESTAMPS = (Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ)
_TIMESTAMP = re.compile(r'"(?:type|elementType|keyType|valueType)"\s*:\s*"timestamp(?:_ntz)?"')
_YEAR_1901 = -2_177_452_800_000_000


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What an index run did."""

    root: str
    files: int
    files_indexed: int
    rows_indexed: int
    bytes_indexed: int
    columns: tuple[str, ...]
    expressions: tuple[str, ...]
    features: tuple[str, ...]
    seconds: float


def index_files(
    spark: SparkSession,
    runtime: Runtime,
    files: TableFiles,
    expressions: Sequence[str] = (),
    features: Sequence[str] = (),
    rebuild: bool = False,
    progress: Progress | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> IndexReport:
    """Index what is not indexed yet; ``rebuild`` does all files anew."""
    started = clock()
    catalog = runtime.catalog(files.root)
    none = files.frame(spark, np.zeros(0, np.int64))
    kept, wanted = _what_to_keep(spark, none, files, catalog, expressions, features, rebuild)
    asked: set[Expr] = {item.expr for item in kept if not isinstance(item.expr, Column)}
    foreign = catalog.foreign(runtime.settings(spark))
    todo = (
        np.arange(len(files.files))
        if rebuild
        else _missing(files.files, catalog, foreign, asked, set(wanted))
    )
    if len(todo):
        with watch(spark, progress, f"indexing {len(todo):,} files"):
            blocks = compute(spark, files, todo, kept, wanted, _known_values(catalog))
        _publish(spark, runtime, files, todo, kept, blocks, started.isoformat(), "", rebuild)
    return IndexReport(
        root=files.root,
        files=len(files.files),
        files_indexed=len(todo),
        rows_indexed=int(blocks.rows.sum()) if len(todo) else 0,
        bytes_indexed=int(files.files.sizes[todo].sum()),
        columns=tuple(to_sql(item.expr) for item in kept if isinstance(item.expr, Column)),
        expressions=tuple(item.sql for item in kept if not isinstance(item.expr, Column)),
        features=tuple(feature.text for feature in wanted),
        seconds=(clock() - started).total_seconds(),
    )


def index_laid_out(
    spark: SparkSession, runtime: Runtime, files: TableFiles, places: Counts, layout: str, created: str
) -> None:
    """Index files that were written by a layout of this table: with all that was ever asked for."""
    catalog = runtime.catalog(files.root)
    none = files.frame(spark, np.zeros(0, np.int64))
    kept, wanted = _what_to_keep(spark, none, files, catalog, (), (), False)
    blocks = compute(spark, files, places, kept, wanted, _known_values(catalog))
    _publish(spark, runtime, files, places, kept, blocks, created, layout)


def _publish(
    spark: SparkSession,
    runtime: Runtime,
    files: TableFiles,
    places: Counts,
    kept: Sequence[Kept],
    blocks: BlockSet,
    created: str,
    layout: str,
    rebuild: bool = False,
) -> None:
    settings = runtime.settings(spark)
    if not _has_old_timestamps(files, blocks):
        del settings["user.timezone"]
    texts: dict[Expr, str] = {item.expr: item.sql for item in kept if not isinstance(item.expr, Column)}
    segment = Segment(_some(files.files, places), blocks, settings, created, texts, layout)
    publish(runtime.store(files.root), segment, replace=rebuild)
    runtime.refresh(files.root)
    _compact(runtime, files)


def _known_values(catalog: Catalog) -> dict[Expr, tuple[Value, ...]]:
    """What the value sets of earlier entries have: new files may show few of a column's values."""
    sets = ((expr, statistics.values) for expr, statistics in catalog.blocks.statistics.items())
    return {
        expr: values.dictionary
        for expr, values in sets
        if values is not None and len(values.dictionary) <= MOST_VALUES
    }


def _has_old_timestamps(files: TableFiles, blocks: BlockSet) -> bool:
    """Whether what was read may depend on the JVM's time zone.

    Old writers and the legacy mode store timestamps before 1900 in the hybrid calendar, and Spark puts them
    into today's by that zone. Timestamps inside arrays and maps are not seen here and count as old.
    """
    known = [s for e, s in blocks.statistics.items() if isinstance(e, Column) and s.type.kind in _TIMESTAMPS]
    in_schema, in_paths = (len(_TIMESTAMP.findall(s)) for s in (files.schema, files.partition_schema))
    if in_schema - in_paths > len(known):
        return True
    return any(pc.any(pc.less(statistics.low, _YEAR_1901)).as_py() for statistics in known)


def _what_to_keep(
    spark: SparkSession,
    frame: DataFrame,
    files: TableFiles,
    catalog: Catalog,
    expressions: Sequence[str],
    features: Sequence[str],
    rebuild: bool,
) -> tuple[tuple[Kept, ...], tuple[Feature, ...]]:
    """The columns, what is asked for now, and what earlier runs were asked for."""
    kept = {item.expr: item for item in columns_to_keep(files.schema, files.partition_schema)}
    for item in expressions_to_keep(spark, frame, files.schema, tuple(dict.fromkeys(expressions))):
        kept.setdefault(item.expr, item)
    wanted = list(features_to_keep(spark, frame, files.schema, tuple(dict.fromkeys(features))))
    if not rebuild:
        texts = _others(catalog.expression_texts, expressions)
        others = _others((feature.text for feature in catalog.blocks.features), features)
        items, more = still_to_keep(spark, frame, files.schema, texts, others)
        for item in items:
            kept.setdefault(item.expr, item)
        wanted += more
    return tuple(kept.values()), tuple({feature.predicate: feature for feature in wanted}.values())


def _others(texts: Iterable[str], asked: Sequence[str]) -> list[str]:
    return [text for text in dict.fromkeys(texts) if text not in asked]


def _missing(
    files: Files, catalog: Catalog, foreign: Flags, asked: set[Expr], wanted: set[Feature]
) -> Counts:
    """Places of the files with no entry that counts now, or with one that lacks what is asked for."""
    complete = np.array(
        [
            asked <= set(segment.blocks.statistics) and wanted <= set(segment.blocks.features)
            for segment in catalog.segments
        ],
        np.bool_,
    )
    entries = {path: place for place, path in enumerate(catalog.files.paths)}
    todo = []
    for place, path in enumerate(files.paths):
        entry = entries.get(path, -1)
        same = (
            entry >= 0
            and not foreign[entry]
            and catalog.files.sizes[entry] == files.sizes[place]
            and catalog.files.times[entry] == files.times[place]
            and complete[catalog.segment_of[entry]]
        )
        if not same:
            todo.append(place)
    return np.array(todo, np.int64)


def _some(files: Files, places: Counts) -> Files:
    return Files(tuple(files.paths[place] for place in places), files.sizes[places], files.times[places])


def _compact(runtime: Runtime, files: TableFiles) -> None:
    """Put one segment per layout in the place of many, without the files that have gone."""
    catalog = runtime.catalog(files.root)
    settings = {tuple(sorted(segment.settings.items())) for segment in catalog.segments}
    # The layouts stay in the order in which they were last applied.
    layouts = list(dict.fromkeys(segment.layout for segment in reversed(catalog.segments)))[::-1]
    if len(catalog.segments) <= max(_MOST_SEGMENTS, 2 * len(layouts)) or len(settings) > 1:
        return
    newest = catalog.segments[-1]
    texts = {expr: text for segment in catalog.segments for expr, text in segment.texts.items()}
    merged = []
    for layout in layouts:
        mine = {
            path
            for path, place in zip(catalog.files.paths, catalog.segment_of, strict=True)
            if catalog.segments[place].layout == layout
        }
        alive = merge(catalog.segments, only=mine & set(files.files.paths))
        if len(alive):
            merged.append(Segment(alive.files, alive.blocks, newest.settings, newest.created, texts, layout))
    replace_all(runtime.store(files.root), merged)
    runtime.refresh(files.root)
