"""Compaction: few segments that say the same as many: one for each layout, column group and settings.

The layouts stay in the order in which they were last applied, also when files of an older one are indexed
anew: those entries are ordered among the layouts, and are not the newest.

A rewrite publishes what it knows about its files just before they become part of the table. So of a layout
without any file in the table nothing is left out while it is young.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from operator import itemgetter

from skipstone.catalog.merge import Catalog, merge
from skipstone.catalog.segment import Segment

__all__ = ["by_layout", "compact"]

_LONGEST_REWRITE = timedelta(days=1)
_Written = tuple[str, int | None]
"""A layout, and the column group of it."""
_Key = tuple[_Written, tuple[tuple[str, str], ...]]


def by_layout(segment: Segment, catalog: Catalog) -> list[Segment]:
    """A segment in parts, one for each layout and group that its files are of as the catalog knows them."""
    paths: dict[_Written, set[str]] = {}
    for path, entry in zip(segment.files.paths, segment.files.indices_in(catalog.files), strict=True):
        written = _written(catalog.segments[catalog.segment_of[entry]]) if entry >= 0 else ("", None)
        paths.setdefault(written, set()).add(path)
    parts = {written: merge([segment], only=mine) for written, mine in paths.items()}
    return [
        replace(segment, files=part.files, blocks=part.blocks, layout=layout, group=group)
        for (layout, group), part in parts.items()
    ]


def compact(
    catalog: Catalog, newer: Sequence[Segment], alive: Collection[str] | None, now: str
) -> list[Segment]:
    """What the catalog and newer segments say, or just what they say about the files that are ``alive``."""
    whole = merge(_in_order(catalog, newer))
    order = list(dict.fromkeys(_key(segment) for segment in reversed(whole.segments)))[::-1]
    paths_of: dict[_Key, set[str]] = {key: set() for key in order}
    for path, index in zip(whole.files.paths, whole.segment_of, strict=True):
        paths_of[_key(whole.segments[index])].add(path)
    compacted = []
    for key, paths in paths_of.items():
        mine = [segment for segment in whole.segments if _key(segment) == key]
        if alive is not None and not (paths.isdisjoint(alive) and _may_be_committed(mine[-1], now)):
            paths &= set(alive)
        if paths:
            part = merge(whole.segments, only=paths)
            texts = {expr: text for segment in mine for expr, text in segment.texts.items()}
            compacted.append(replace(mine[-1], files=part.files, blocks=part.blocks, texts=texts))
    return compacted


def _in_order(catalog: Catalog, newer: Sequence[Segment]) -> list[Segment]:
    """Newer segments right behind the others of their layout, and at the end those of none."""
    last = {segment.layout: index for index, segment in enumerate(catalog.segments) if segment.layout}
    end = len(catalog.segments)
    placed = [*enumerate(catalog.segments), *((last.get(s.layout, end), s) for s in newer)]
    return [segment for _, segment in sorted(placed, key=itemgetter(0))]


def _written(segment: Segment) -> _Written:
    return segment.layout, segment.group


def _key(segment: Segment) -> _Key:
    return _written(segment), tuple(sorted(segment.settings.items()))


def _may_be_committed(segment: Segment, now: str) -> bool:
    age = datetime.fromisoformat(now) - datetime.fromisoformat(segment.created)
    return bool(segment.layout) and age < _LONGEST_REWRITE
