"""Horizontal partitions by column groups whose blocks are known by one feature bit each, without any file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from tests.catalog.replica_parts import part
from tests.catalog.segments import SETTINGS

from skipstone.catalog.column_groups import StoredGroup, block_name
from skipstone.catalog.files import Files
from skipstone.catalog.replicas import HorizontalPartition
from skipstone.catalog.segment import Segment
from skipstone.layout.pack import pack
from skipstone.pruning.blocks import BlockSet, Counts, Feature

BLOCK_BYTES = 1000


def group(
    name: str,
    columns: Sequence[str],
    rows: Sequence[int],
    unions: Mapping[Feature, Sequence[bool]] | None = None,
    column_bytes: int = 100_000,
) -> StoredGroup:
    """A group of one file; ``unions`` has the bit of each block for the features that it was blocked by."""
    bits = unions or {}
    table = np.array([list(column) for column in bits.values()], np.bool_).T.reshape(len(rows), len(bits))
    blocks = BlockSet(np.array(rows, np.int64), {}, tuple(bits), pack(table), pack(np.ones_like(table)))
    count = len(rows)
    files = Files((name,), np.array([BLOCK_BYTES * count]), np.array([1]))
    entries = Files(
        tuple(block_name(name, number) for number in range(count)),
        np.full(count, BLOCK_BYTES),
        np.full(count, 1),
    )
    return StoredGroup(
        columns=tuple(columns),
        files=files,
        blocks=Segment(entries, blocks, SETTINGS, "2026-01-01T00:00:00+00:00"),
        file_of=np.zeros(count, np.int64),
        starts=np.arange(count, dtype=np.int64) * BLOCK_BYTES,
        column_bytes=dict.fromkeys(columns, column_bytes),
        row_hash=0,
    )


def grouped(name: str, covered: Files, *groups: StoredGroup) -> HorizontalPartition:
    """A partition with these groups."""
    sizes = [int(each.files.sizes[0]) for each in groups]
    found = part(name, covered, sizes)
    files = Files(
        tuple(each.files.paths[0] for each in groups), np.array(sizes), np.ones(len(groups), np.int64)
    )
    rows = int(groups[0].blocks.blocks.rows.sum())
    segment = replace(found.segment, files=files)
    return replace(found, segment=segment, rows=rows, groups=groups)


def rows_of(parts: Sequence[HorizontalPartition]) -> Counts:
    """The rows of each covered base file, if they are all alike."""
    return np.concatenate([np.full(len(each.covered), each.rows // len(each.covered)) for each in parts])
