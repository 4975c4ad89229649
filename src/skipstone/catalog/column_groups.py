"""Column groups of a replica, as they are stored: each horizontal partition has files of its own for each.

A row has the same *tuple id* in all groups of its horizontal partition, and may lie in another block in each.
Blocks are row groups, so many share a file. What is known about them is a segment like any other, in which a
block is called ``FILE#NUMBER``; features that a group was not blocked by are unknown there, which is what the
mask vectors of GSOP (VLDB 2016, section 6) say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from skipstone.catalog.files import Files
from skipstone.catalog.merge import Catalog, merge
from skipstone.catalog.segment import Segment
from skipstone.pruning.blocks import Counts

__all__ = ["TUPLE_ID", "GroupedBlocks", "StoredGroup", "block_name", "grouped_blocks"]

TUPLE_ID = "__skipstone_tuple"
"""The column of tuple ids in a group's files."""


@dataclass(frozen=True, slots=True, eq=False)
class StoredGroup:
    """The columns of one group, by their stored names, its files, and what is known about its blocks.

    ``blocks`` has an entry for each block, whose size is that of the block; block *n* lies in file
    ``file_of[n]``, from byte ``starts[n]`` on. ``column_bytes`` are those of each column and of the tuple
    ids. ``row_hash`` is over tuple ids and columns, and does not depend on the order of rows.
    """

    columns: tuple[str, ...]
    files: Files
    blocks: Segment
    file_of: Counts
    starts: Counts
    column_bytes: Mapping[str, int]
    row_hash: int

    def __len__(self) -> int:
        return len(self.file_of)


def block_name(path: str, number: int) -> str:
    """What a block of a file is called in the catalog."""
    return f"{path}#{number}"


@dataclass(frozen=True, slots=True, eq=False)
class GroupedBlocks:
    """The blocks of all column groups of all horizontal partitions, with one catalog.

    Groups are numbered throughout; ``group_of`` has the group of each block, ``groups`` the horizontal
    partition of each group and what is stored of it. ``first`` is the number of each group's first block.
    """

    catalog: Catalog
    group_of: Counts
    groups: tuple[tuple[int, StoredGroup], ...]
    first: Counts

    def __len__(self) -> int:
        return len(self.groups)


def grouped_blocks(stored: Sequence[Sequence[StoredGroup]]) -> GroupedBlocks:
    """The groups of each horizontal partition put together."""
    groups = tuple((part, group) for part, some in enumerate(stored) for group in some)
    lengths = np.array([len(group) for _, group in groups], np.int64)
    return GroupedBlocks(
        catalog=merge([group.blocks for _, group in groups]),
        group_of=np.repeat(np.arange(len(groups)), lengths).astype(np.int64),
        groups=groups,
        first=np.cumsum(lengths) - lengths,
    )
