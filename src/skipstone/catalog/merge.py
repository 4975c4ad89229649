"""Segments put together: one set of blocks, in which whatever a segment does not know is unknown.

When two segments have an entry for the same file, the newer segment's is used: both are true, and the
newer one has the statistics that were asked for last.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skipstone.catalog.files import Files
from skipstone.catalog.segment import Segment
from skipstone.predicate.expr import Expr, Value
from skipstone.pruning.blocks import BlockSet, Counts, Feature, Statistics, ValueSets, Words

__all__ = ["OPTIONAL_SETTINGS", "Catalog", "merge"]

OPTIONAL_SETTINGS = frozenset({"user.timezone"})
_MOST_VALUES = 256
_NAN = object()


@dataclass(frozen=True, slots=True, eq=False)
class Catalog:
    """All that is known about a table's files. ``segment_of`` is each block's index in ``segments``.

    ``names`` are all the stored segments that it was read from, those included that have no entry in it.
    """

    files: Files
    blocks: BlockSet
    segments: tuple[Segment, ...]
    segment_of: npt.NDArray[np.int32]
    names: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.files)

    @property
    def expression_texts(self) -> tuple[str, ...]:
        """The SQL of the tracked expressions, besides the columns."""
        return tuple(dict.fromkeys(text for segment in self.segments for text in segment.texts.values()))

    def foreign(self, settings: dict[str, str]) -> npt.NDArray[np.bool_]:
        """Blocks whose statistics were computed under other reader settings, hence not usable now."""
        other = np.array([_differ(segment.settings, settings) for segment in self.segments], np.bool_)
        return other[self.segment_of] if len(self.segments) else np.zeros(len(self), np.bool_)


def _differ(stored: Mapping[str, str], now: Mapping[str, str]) -> bool:
    """Whether a setting differs; of the optional ones, a segment has only those that it depends on."""
    needed = stored.keys() | (now.keys() - OPTIONAL_SETTINGS)
    return any(stored.get(key) != now.get(key) for key in needed)


def merge(segments: Sequence[Segment], only: Collection[str] | None = None) -> Catalog:
    """The catalog of a table from its segments, oldest first; ``only`` keeps just these paths."""
    kept = _keep_newest(segments, only)
    paths = tuple(segments[s].files.paths[i] for s, rows in kept for i in rows)
    take = [(segments[s], np.array(rows, np.int64)) for s, rows in kept]
    files = Files(
        paths,
        _concat([segment.files.sizes[rows] for segment, rows in take]),
        _concat([segment.files.times[rows] for segment, rows in take]),
    )
    segment_of = np.concatenate(
        [np.full(len(rows), index, np.int32) for index, (_, rows) in enumerate(take)]
        or [np.zeros(0, np.int32)]
    )
    return Catalog(files, _blocks(take), tuple(segment for segment, _ in take), segment_of)


def _keep_newest(segments: Sequence[Segment], only: Collection[str] | None) -> list[tuple[int, list[int]]]:
    seen: set[str] = set()
    kept: list[tuple[int, list[int]]] = []
    for index in range(len(segments) - 1, -1, -1):
        paths = segments[index].files.paths
        rows = [i for i, path in enumerate(paths) if path not in seen and (only is None or path in only)]
        seen.update(paths)
        if rows:
            kept.append((index, rows))
    return kept[::-1]


def _blocks(take: list[tuple[Segment, Counts]]) -> BlockSet:
    # A column that was given another type is another key: the type is part of it.
    keys = dict.fromkeys(expr for segment, _ in take for expr in segment.blocks.statistics)
    statistics = {expr: _merge_statistics(expr, take) for expr in keys}
    features = tuple(dict.fromkeys(f for segment, _ in take for f in segment.blocks.features))
    unions, known = _merge_features(features, take)
    rows = _concat([segment.blocks.rows[rows] for segment, rows in take])
    return BlockSet(rows, statistics, features, unions, known)


def _merge_statistics(expr: Expr, take: list[tuple[Segment, Counts]]) -> Statistics:
    parts = [(segment.blocks.statistics.get(expr), rows) for segment, rows in take]
    first = next(s for s, _ in parts if s is not None)

    def bounds(side: str) -> pa.Array:
        return pa.concat_arrays(
            pa.nulls(len(rows), first.low.type) if s is None else getattr(s, side).take(pa.array(rows))
            for s, rows in parts
        )

    def counts(side: str) -> Counts:
        return _concat([np.full(len(rows), -1) if s is None else getattr(s, side)[rows] for s, rows in parts])

    values = _merge_values([(None if s is None else s.values, rows) for s, rows in parts])
    return Statistics(first.type, bounds("low"), bounds("high"), counts("nulls"), counts("nans"), values)


def _merge_values(parts: list[tuple[ValueSets | None, Counts]]) -> ValueSets | None:
    dictionary: list[tuple[Value, Value]] = []
    indices: dict[object, int] = {}
    for values, _ in parts:
        for each in _ranges(values):
            if indices.setdefault(_key(each), len(dictionary)) == len(dictionary):
                dictionary.append(each)
    if not indices or len(indices) > _MOST_VALUES:
        return None
    width = (len(indices) + 63) // 64
    words, known = [], []
    for values, rows in parts:
        piece: Words = np.zeros((len(rows), width), np.uint64)
        if values is None:
            known.append(np.zeros(len(rows), np.bool_))
        else:
            known.append(values.known[rows])
            for old, each in enumerate(_ranges(values)):
                _move_bit(values.words[rows], old, piece, indices[_key(each)])
        words.append(piece)
    several = any(values is not None and values.last is not None for values, _ in parts)
    first, last = (tuple(each) for each in zip(*dictionary, strict=True))
    return ValueSets(first, np.concatenate(words), np.concatenate(known), last if several else None)


def _ranges(values: ValueSets | None) -> Iterator[tuple[Value, Value]]:
    """Each value of the dictionary with the last of its range, which may be itself."""
    if values is not None:
        yield from zip(values.dictionary, values.last or values.dictionary, strict=True)


def _key(ends: tuple[Value, Value]) -> object:
    """NaN is one value, though no NaN equals another; its key is no value of any type."""
    return tuple(_NAN if isinstance(end, float) and math.isnan(end) else end for end in ends)


def _move_bit(source: Words, old: int, target: Words, new: int) -> None:
    bit = (source[:, old // 64] >> np.uint64(old % 64)) & np.uint64(1)
    target[:, new // 64] |= bit << np.uint64(new % 64)


def _merge_features(features: tuple[Feature, ...], take: list[tuple[Segment, Counts]]) -> tuple[Words, Words]:
    width = (len(features) + 63) // 64
    indices = {feature: index for index, feature in enumerate(features)}
    unions, known = [], []
    for segment, rows in take:
        union: Words = np.zeros((len(rows), width), np.uint64)
        sure: Words = np.zeros((len(rows), width), np.uint64)
        for old, feature in enumerate(segment.blocks.features):
            _move_bit(segment.blocks.unions[rows], old, union, indices[feature])
            _move_bit(segment.blocks.union_known[rows], old, sure, indices[feature])
        unions.append(union)
        known.append(sure)
    if not unions:
        return np.zeros((0, width), np.uint64), np.zeros((0, width), np.uint64)
    return np.concatenate(unions), np.concatenate(known)


def _concat(parts: list[Counts]) -> Counts:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)
