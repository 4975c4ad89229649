"""Indexing: statistics for the files that have none, published as a new segment.

Steps: find what to track and the files without an entry (or without what is asked for now), scan them once,
publish. A file that was overwritten is another file (:mod:`~skipstone.catalog.files`), so it is new.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from skipstone.actions.context import Context
from skipstone.catalog import Catalog, Segment, publish, stamp
from skipstone.catalog.compact import by_layout, compact
from skipstone.catalog.store import replace_segments
from skipstone.catalog.tracked import TrackedSet
from skipstone.errors import SkipstoneError
from skipstone.predicate.expr import Column, Expr, Value
from skipstone.predicate.readable import plain_constants
from skipstone.predicate.render import to_sql
from skipstone.pruning.blocks import MOST_VALUES, BlockSet, Counts
from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.engine.reader_settings import settings_of
from skipstone.spark.engine.resolve_tracked import (
    still_tracked,
    tracked_columns,
    tracked_set,
)
from skipstone.spark.engine.statistics import compute, scans_of
from skipstone.view import View, Viewed, count, listed, megabytes

__all__ = ["Index", "IndexReport", "index_laid_out"]

_MOST_SEGMENTS = 16
_STEPS = {"scanning": 20, "publishing": 1}
"""The share that each step has in the work, about."""


@dataclass(frozen=True, slots=True, repr=False)
class IndexReport(Viewed):
    """What an index run did; ``files`` are all files of the table, ``files_indexed`` those of this run.

    ``columns``, ``expressions`` and ``features`` are the SQL of everything that is tracked.
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
        values = [
            (name, listed(map(plain_constants, getattr(self, name))))
            for name in ("columns", "expressions", "features")
        ]
        return View(done, tuple(values))


@dataclass(frozen=True, slots=True)
class Index:
    """Compute statistics for the files that have none; no data is changed.

    ``expressions`` are SQL expressions to keep minimum, maximum and value sets of; ``features`` are SQL
    conditions to keep one bit of per block. ``rebuild`` does all files anew, with only what is asked for now.
    """

    name: ClassVar[str] = "index"

    expressions: Sequence[str] = ()
    features: Sequence[str] = ()
    rebuild: bool = False

    def validate(self, context: Context) -> None:
        """What is asked for is read against the table at the start of ``run``, before anything is written."""

    def run(self, context: Context) -> IndexReport:
        """Find what to do, scan, publish."""
        table, started = context.table, context.clock()
        context.report("finding what to track", 0, len(table.files))
        stored = stamp(table.store)
        try:
            table.refresh()
        except SkipstoneError:
            if not self.rebuild:  # which replaces an unreadable catalog
                raise
        # Another action may read a newer catalog meanwhile; this run goes by the one that it began with.
        catalog = table.catalog
        tracked = _what_to_track(table, catalog, self)
        todo = table.file_indices if self.rebuild else _missing(table, catalog, tracked)
        rows = 0
        if len(todo):
            with context.steps(len(todo), _STEPS) as steps:
                scans = scans_of(tracked.expressions)
                progress = steps.step("scanning")
                with context.engine.watch(progress, "indexing blocks", scans, len(todo)):
                    blocks = compute(table, todo, tracked, _known_values(catalog))
                rows = int(blocks.rows.sum())
                found = _segment(table, todo, tracked, blocks, started.isoformat())
                steps.begin("publishing", "publishing statistics")
                self._publish(table, catalog, found, stored)
        else:
            context.report("finding what to track", len(table.files), len(table.files))
        return IndexReport(
            root=table.root,
            files=len(table.files),
            files_indexed=len(todo),
            rows_indexed=rows,
            bytes_indexed=table.snapshot.bytes_of(todo),
            columns=tuple(to_sql(item.expr) for item in tracked.expressions if isinstance(item.expr, Column)),
            expressions=tuple(tracked.texts.values()),
            features=tuple(feature.text for feature in tracked.features),
            seconds=(context.clock() - started).total_seconds(),
        )

    def _publish(self, table: OpenTable, catalog: Catalog, found: Segment, stored: Sequence[str]) -> None:
        """Add what was found to what was ``stored`` when the run began, or replace that."""
        parts = by_layout(found, catalog)
        if self.rebuild:
            replace_segments(table.store, stored, compact(catalog, parts, table.files.paths, found.created))
        elif any(part.layout for part in parts):
            replace_segments(table.store, catalog.names, compact(catalog, parts, None, found.created))
        else:
            _add(table, catalog, found)
        table.refresh()


def index_laid_out(context: Context, indices: Counts, layout: str, created: str) -> None:
    """Index files that were written by a layout of this table: with all that was ever asked for."""
    table, catalog = context.table, context.catalog
    tracked = _what_to_track(table, catalog, Index())
    blocks = compute(table, indices, tracked, _known_values(catalog))
    found = _segment(table, indices, tracked, blocks, created)
    context.cancel.check()
    _add(table, catalog, replace(found, layout=layout))
    table.refresh()


def _segment(
    table: OpenTable, indices: Counts, tracked: TrackedSet, blocks: BlockSet, created: str
) -> Segment:
    settings = settings_of(table, blocks)
    return Segment(table.files.some(indices), blocks, settings, created, tracked.texts)


def _add(table: OpenTable, catalog: Catalog, found: Segment) -> None:
    """Publish what was found; once many segments have gathered, few replace all.

    ``catalog`` is as it was read before: whatever others have published since is left alone.
    """
    if len(catalog.names) >= _MOST_SEGMENTS:
        few = compact(catalog, [found], table.files.paths, found.created)
        if 2 * len(few) <= len(catalog.names):
            replace_segments(table.store, catalog.names, few)
            return
    publish(table.store, found)


def _known_values(catalog: Catalog) -> dict[Expr, tuple[Value, ...]]:
    """What the value sets of earlier entries have: new files may show few of a column's values."""
    sets = ((expr, statistics.values) for expr, statistics in catalog.blocks.statistics.items())
    return {
        expr: values.dictionary
        for expr, values in sets
        if values is not None and len(values.dictionary) <= MOST_VALUES
    }


def _what_to_track(table: OpenTable, catalog: Catalog, asked: Index) -> TrackedSet:
    """The columns, what is asked for now, and what earlier runs were asked for."""
    expressions, features = (tuple(dict.fromkeys(texts)) for texts in (asked.expressions, asked.features))
    tracked = TrackedSet(tracked_columns(table.snapshot.schema)).with_more(
        tracked_set(table, expressions, features)
    )
    if asked.rebuild:
        return tracked
    before = _still_asked(catalog, set(table.files.paths))
    texts = _others((text for segment in before for text in segment.expression_texts), expressions)
    conditions = [f for segment in before for f in segment.blocks.features if f.text not in features]
    columns = [column for segment in before for column in segment.joined_columns]
    earlier = still_tracked(table, texts, conditions, columns)
    # Of two texts of one feature the earlier stays: entries that have it lack nothing.
    every = {feature.predicate: feature for feature in (*tracked.features, *earlier.features)}
    return replace(tracked.with_more(earlier), features=tuple(every.values()))


def _still_asked(catalog: Catalog, alive: set[str]) -> list[Segment]:
    """The segments by which earlier runs were asked for something, without layouts that have no file left."""
    used = {
        catalog.segments[index].layout
        for path, index in zip(catalog.files.paths, catalog.segment_of, strict=True)
        if path in alive
    }
    return [segment for segment in catalog.segments if not segment.layout or segment.layout in used]


def _others(texts: Iterable[str], asked: Sequence[str]) -> list[str]:
    return [text for text in dict.fromkeys(texts) if text not in asked]


def _missing(table: OpenTable, catalog: Catalog, tracked: TrackedSet) -> Counts:
    """The indices of the files with no entry that counts now, or with one that lacks what is asked for."""
    asked, wanted = set(tracked.texts), set(tracked.features)
    complete = np.array(
        [
            asked <= set(segment.blocks.statistics) and wanted <= set(segment.blocks.features)
            for segment in catalog.segments
        ],
        np.bool_,
    )
    counts = ~catalog.foreign(table.engine.reader_settings())
    if len(complete):
        counts &= complete[catalog.segment_of]
    # A file without an entry has the index -1, which is that of a last entry that does not count.
    return np.flatnonzero(~np.append(counts, False)[table.files.indices_in(catalog.files)])
