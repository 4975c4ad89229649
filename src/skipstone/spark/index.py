"""Indexing: statistics for the files that have none, published as a new segment.

Steps: list the files, find those without an entry (or without what is asked for now), scan them once,
publish. A file is asked for by path, size and time, so a file that was overwritten is new.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from pyspark.sql import DataFrame, SparkSession

from skipstone.catalog import Catalog, Files, Segment, merge, publish
from skipstone.predicate.blocks import Counts, Feature
from skipstone.predicate.expr import Column, Expr
from skipstone.predicate.render import to_sql
from skipstone.spark.kept import Kept, columns_to_keep, expressions_to_keep, features_to_keep
from skipstone.spark.progress import Progress, watch
from skipstone.spark.runtime import Runtime
from skipstone.spark.statistics import compute
from skipstone.spark.table_files import TableFiles

__all__ = ["IndexReport", "index_files"]

_MOST_SEGMENTS = 16


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
    todo = np.arange(len(files.files)) if rebuild else _missing(files.files, catalog, asked, set(wanted))
    if len(todo):
        with watch(spark, progress, f"indexing {len(todo):,} files"):
            blocks = compute(spark, files, todo, kept, wanted)
        settings = runtime.settings(spark)
        texts: dict[Expr, str] = {item.expr: item.sql for item in kept if not isinstance(item.expr, Column)}
        segment = Segment(_some(files.files, todo), blocks, settings, started.isoformat(), texts)
        publish(runtime.store(files.root), segment, replace=rebuild)
        runtime.refresh(files.root)
        _compact(runtime, files)
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
    texts = dict.fromkeys(expressions)
    wanted = dict.fromkeys(features)
    if not rebuild:
        texts |= dict.fromkeys(catalog.expression_texts)
        wanted |= dict.fromkeys(feature.text for feature in catalog.blocks.features)
    for item in expressions_to_keep(spark, frame, files.schema, tuple(texts)):
        kept.setdefault(item.expr, item)
    read = features_to_keep(spark, frame, files.schema, tuple(wanted))
    return tuple(kept.values()), tuple({feature.predicate: feature for feature in read}.values())


def _missing(files: Files, catalog: Catalog, asked: set[Expr], wanted: set[Feature]) -> Counts:
    """Places of the files with no entry, or with one that lacks something that is asked for."""
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
    """Put one segment in the place of many, without the files that have gone."""
    catalog = runtime.catalog(files.root)
    settings = {tuple(sorted(segment.settings.items())) for segment in catalog.segments}
    if len(catalog.segments) <= _MOST_SEGMENTS or len(settings) > 1:
        return
    alive = merge(catalog.segments, only=set(files.files.paths))
    newest = catalog.segments[-1]
    texts = {expr: text for segment in catalog.segments for expr, text in segment.texts.items()}
    merged = Segment(alive.files, alive.blocks, newest.settings, newest.created, texts, newest.layout)
    publish(runtime.store(files.root), merged, replace=True)
    runtime.refresh(files.root)
