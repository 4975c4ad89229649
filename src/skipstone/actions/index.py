"""Indexing: statistics for the files that have none, published as a new segment.

Steps: list the files, find those without an entry (or without what is asked for now), scan them once,
publish. A file is asked for by path, size and time, so a file that was overwritten is new.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt
from pyspark.sql import DataFrame, SparkSession

from skipstone.catalog import Catalog, Files, FileStore, Segment, publish, stamp
from skipstone.catalog.compact import by_layout, compact
from skipstone.catalog.store import replace_segments
from skipstone.errors import SkipstoneError
from skipstone.predicate.expr import Column, Expr, Value
from skipstone.predicate.readable import plain_constants
from skipstone.predicate.render import to_sql
from skipstone.predicate.types import Kind
from skipstone.progress import Progress, Steps
from skipstone.pruning.blocks import MOST_VALUES, BlockSet, Counts, Feature
from skipstone.spark.bridge.runtime import Runtime
from skipstone.spark.engine.job_progress import watch
from skipstone.spark.engine.open_table import TableFiles
from skipstone.spark.engine.statistics import compute, scans_of
from skipstone.spark.engine.tracked import (
    Kept,
    columns_to_keep,
    expressions_to_keep,
    features_to_keep,
    still_to_keep,
)
from skipstone.view import View, Viewed, count, listed, megabytes

__all__ = ["IndexReport", "index_files", "index_laid_out", "settings_of"]

_MOST_SEGMENTS = 16
Flags = npt.NDArray[np.bool_]
_TIMESTAMPS = (Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ)
_TIMESTAMP = re.compile(r'"(?:type|elementType|keyType|valueType)"\s*:\s*"timestamp(?:_ntz)?"')
_YEAR_1901 = -2_177_452_800_000_000


@dataclass(frozen=True, slots=True, repr=False)
class IndexReport(Viewed):
    """What an index run did; ``files`` are all files of the table, ``files_indexed`` those of this run.

    ``columns``, ``expressions`` and ``features`` are the SQL of everything that statistics are kept of.
    """

    root: str
    files: int
    files_indexed: int
    rows_indexed: int
    bytes_indexed: int
    columns: tuple[str, ...]
    expressions: tuple[str, ...]
    features: tuple[str, ...]
    seconds: float

    def view(self) -> View:
        """What was done, and what is known now."""
        done = f"Nothing to do: {count(self.files, 'file')}, all indexed."
        if self.files_indexed:
            done = (
                f"Indexed {self.files_indexed:,} of {count(self.files, 'file')} in {self.seconds:.1f} s: "
                f"{count(self.rows_indexed, 'row')}, {megabytes(self.bytes_indexed)}."
            )
        facts = [
            (name, listed(map(plain_constants, getattr(self, name))))
            for name in ("columns", "expressions", "features")
        ]
        return View(done, tuple(facts))


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
    stored = stamp(runtime.store(files.root))
    if rebuild:
        with suppress(SkipstoneError):  # of what cannot be read, the layouts are not known any more
            runtime.refresh(files.root)
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
        with (
            Steps(progress, len(todo), {"indexing": 1}) as steps,
            watch(spark, steps.step("indexing"), "indexing blocks", scans_of(kept), len(todo)),
        ):
            blocks = compute(spark, files, todo, kept, wanted, _known_values(catalog))
        found = _segment(spark, runtime, files, todo, kept, blocks, started.isoformat())
        parts = by_layout(found, catalog)
        store = runtime.store(files.root)
        if rebuild:
            alive = files.files.paths
            replace_segments(store, stored, compact(catalog, parts, alive, found.created))
        elif any(part.layout for part in parts):
            replace_segments(store, catalog.names, compact(catalog, parts, None, found.created))
        else:
            _add(store, files, catalog, found)
        runtime.refresh(files.root)
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
    found = _segment(spark, runtime, files, places, kept, blocks, created)
    _add(runtime.store(files.root), files, catalog, replace(found, layout=layout))
    runtime.refresh(files.root)


def _segment(
    spark: SparkSession,
    runtime: Runtime,
    files: TableFiles,
    places: Counts,
    kept: Sequence[Kept],
    blocks: BlockSet,
    created: str,
) -> Segment:
    texts: dict[Expr, str] = {item.expr: item.sql for item in kept if not isinstance(item.expr, Column)}
    settings = settings_of(spark, runtime, files, blocks)
    return Segment(_some(files.files, places), blocks, settings, created, texts)


def _add(store: FileStore, files: TableFiles, catalog: Catalog, found: Segment) -> None:
    """Publish what was found; once many segments have gathered, few take the place of all.

    ``catalog`` is as it was read before: whatever others have published since is left alone.
    """
    if len(catalog.names) >= _MOST_SEGMENTS:
        few = compact(catalog, [found], files.files.paths, found.created)
        if 2 * len(few) <= len(catalog.names):
            replace_segments(store, catalog.names, few)
            return
    publish(store, found)


def _known_values(catalog: Catalog) -> dict[Expr, tuple[Value, ...]]:
    """What the value sets of earlier entries have: new files may show few of a column's values."""
    sets = ((expr, statistics.values) for expr, statistics in catalog.blocks.statistics.items())
    return {
        expr: values.dictionary
        for expr, values in sets
        if values is not None and len(values.dictionary) <= MOST_VALUES
    }


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
    kept = {item.expr: item for item in columns_to_keep(files.schema)}
    for item in expressions_to_keep(spark, frame, files.schema, tuple(dict.fromkeys(expressions))):
        kept.setdefault(item.expr, item)
    wanted = list(features_to_keep(spark, frame, files.schema, tuple(dict.fromkeys(features))))
    if not rebuild:
        asked = _still_asked(catalog, set(files.files.paths))
        texts = _others((text for segment in asked for text in segment.texts.values()), expressions)
        others = _others((f.text for segment in asked for f in segment.blocks.features), features)
        items, more = still_to_keep(spark, frame, files.schema, texts, others)
        for item in items:
            kept.setdefault(item.expr, item)
        wanted += more
    return tuple(kept.values()), tuple({feature.predicate: feature for feature in wanted}.values())


def _still_asked(catalog: Catalog, alive: set[str]) -> list[Segment]:
    """The segments by which earlier runs were asked for something, without layouts that have no file left."""
    used = {
        catalog.segments[place].layout
        for path, place in zip(catalog.files.paths, catalog.segment_of, strict=True)
        if path in alive
    }
    return [segment for segment in catalog.segments if not segment.layout or segment.layout in used]


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
