"""Few segments in the place of many, which say the same: one for each layout and reader settings.

The layouts stay in the order in which they were last applied, also when files of an older one are indexed
anew: those entries take their place among the layouts, not the newest.

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
_Group = tuple[str, tuple[tuple[str, str], ...]]


def by_layout(segment: Segment, catalog: Catalog) -> list[Segment]:
    """A segment in parts, one for each layout that wrote its files as the catalog knows them."""
    paths: dict[str, set[str]] = {}
    for path, entry in zip(segment.files.paths, segment.files.places_in(catalog.files), strict=True):
        layout = catalog.segments[catalog.segment_of[entry]].layout if entry >= 0 else ""
        paths.setdefault(layout, set()).add(path)
    parts = {layout: merge([segment], only=mine) for layout, mine in paths.items()}
    return [replace(segment, files=p.files, blocks=p.blocks, layout=layout) for layout, p in parts.items()]


def compact(
    catalog: Catalog, newer: Sequence[Segment], alive: Collection[str] | None, now: str
) -> list[Segment]:
    """What the catalog and newer segments say, or just what they say about the files that are ``alive``."""
    whole = merge(_in_order(catalog, newer))
    order = list(dict.fromkeys(_group(segment) for segment in reversed(whole.segments)))[::-1]
    groups: dict[_Group, set[str]] = {group: set() for group in order}
    for path, place in zip(whole.files.paths, whole.segment_of, strict=True):
        groups[_group(whole.segments[place])].add(path)
    compacted = []
    for group, paths in groups.items():
        mine = [segment for segment in whole.segments if _group(segment) == group]
        if alive is not None and not (paths.isdisjoint(alive) and _may_be_committed(mine[-1], now)):
            paths &= set(alive)
        if paths:
            part = merge(whole.segments, only=paths)
            texts = {expr: text for segment in mine for expr, text in segment.texts.items()}
            compacted.append(replace(mine[-1], files=part.files, blocks=part.blocks, texts=texts))
    return compacted


def _in_order(catalog: Catalog, newer: Sequence[Segment]) -> list[Segment]:
    """Newer segments right behind the others of their layout, and at the end those of none."""
    last = {segment.layout: place for place, segment in enumerate(catalog.segments) if segment.layout}
    end = len(catalog.segments)
    placed = [*enumerate(catalog.segments), *((last.get(s.layout, end), s) for s in newer)]
    return [segment for _, segment in sorted(placed, key=itemgetter(0))]


def _group(segment: Segment) -> _Group:
    return segment.layout, tuple(sorted(segment.settings.items()))


def _may_be_committed(segment: Segment, now: str) -> bool:
    age = datetime.fromisoformat(now) - datetime.fromisoformat(segment.created)
    return bool(segment.layout) and age < _LONGEST_REWRITE
