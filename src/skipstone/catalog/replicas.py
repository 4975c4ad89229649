"""Replicas: further copies of a table's rows in other designs, made in horizontal partitions.

The table stays the one source of truth. A horizontal partition of a replica records the immutable base files
whose live rows it holds: path, size, time and deletion vector of each. It may answer for these files, and for
no others, in every snapshot that has exactly them, unchanged. So appends, updates, time travel and other
writers never make an answer wrong; they only make it cost what it costs without the replica.

Several partitions of a replica may cover the same file, as when two sessions refresh it at once; a query
reads at most one of them (:mod:`~skipstone.catalog.choose_copies`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from skipstone.catalog.column_groups import GroupedBlocks, StoredGroup, grouped_blocks
from skipstone.catalog.files import Files
from skipstone.catalog.merge import Catalog, merge
from skipstone.catalog.segment import Segment
from skipstone.catalog.types_json import PHYSICAL_NAME
from skipstone.pruning.blocks import Counts

__all__ = [
    "NO_REPLICAS",
    "EmptyReplica",
    "HorizontalPartition",
    "Replicas",
    "concatenated",
    "holds_columns",
    "replicas_of",
]

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class HorizontalPartition:
    """The live rows of the ``covered`` base files, in blocks of another design.

    ``replica`` is the id of the layout that it belongs to. ``segment`` has its own files and their
    statistics, ``partition_values`` a text for each of them, empty where the table has no partitions.
    ``row_hash`` does not depend on the order of rows; ``schema`` is that of the table when it was made.

    With ``groups`` its files hold one column group each, ``segment`` says nothing about their blocks, and
    ``row_hash`` is over the columns in the groups only, in their order.
    """

    id: str
    replica: str
    created: str
    table_version: int
    schema: str
    covered: Files
    rows: int
    row_hash: int
    segment: Segment
    partition_values: tuple[str, ...]
    groups: tuple[StoredGroup, ...] = ()

    @property
    def name(self) -> str:
        """What it is called among all partitions of all replicas."""
        return f"{self.replica}.{self.id}"

    @property
    def files(self) -> Files:
        """Its own files."""
        return self.segment.files

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns in its groups, by their stored names; none if it holds whole rows."""
        return tuple(chain.from_iterable(group.columns for group in self.groups))


@dataclass(frozen=True, slots=True)
class EmptyReplica:
    """A replica of a table that had no rows when it was refreshed."""

    id: str
    created: str


@dataclass(frozen=True, slots=True, eq=False)
class Replicas:
    """All horizontal partitions of a table's replicas, with one catalog of their blocks.

    ``part_of`` holds the partition of each block, by its number. The base files that are covered are
    numbered: ``covered`` has each once for every partition that covers it, ``covered_by`` that partition, and
    ``covered_number`` the same number for the same file. ``damaged_files`` says which of the covered files
    are known to be damaged, ``damaged`` which partitions cover one. ``empty`` are replicas that have no
    partition because the table had no rows when they were refreshed. ``names`` are all stored records,
    ``record_names`` those of ``parts``, and ``problems`` says why others cannot be used. ``lost`` are the
    names of damaged partitions. ``grouped`` has the blocks of partitions that are stored by column groups.
    """

    parts: tuple[HorizontalPartition, ...]
    catalog: Catalog
    part_of: Counts
    covered: Files
    covered_by: Counts
    covered_number: Counts
    damaged: Flags
    damaged_files: Flags
    grouped: GroupedBlocks
    empty: tuple[EmptyReplica, ...] = ()
    names: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    record_names: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.parts)

    def ids(self) -> tuple[str, ...]:
        """The replicas, oldest first."""
        every = [(part.created, part.replica) for part in self.parts]
        every += [(replica.created, replica.id) for replica in self.empty]
        return tuple(dict.fromkeys(id_ for _, id_ in sorted(every, key=lambda each: each[0])))

    def created(self, replica: str) -> str:
        """When a replica was made."""
        times = [part.created for part in self.parts if part.replica == replica]
        return min(times + [each.created for each in self.empty if each.id == replica])

    def valid_in(self, files: Files) -> Flags:
        """Which partitions hold exactly the rows of files that are there."""
        found = self.covered.indices_in(files, same_rows=True) >= 0
        lost = np.bincount(self.covered_by[~found], minlength=len(self))
        return np.asarray(lost == 0, np.bool_)

    @property
    def partition_values(self) -> tuple[str, ...]:
        """The text of each block, in the order of the catalog."""
        return tuple(chain.from_iterable(part.partition_values for part in self.parts))


def replicas_of(parts: Sequence[HorizontalPartition], damaged: Files | None = None) -> Replicas:
    """Partitions put together; ``damaged`` are base files that must not be read."""
    covered = concatenated([part.covered for part in parts])
    covered_by = _repeated([len(part.covered) for part in parts])
    bad_files = np.zeros(len(covered), np.bool_)
    if damaged is not None:
        bad_files = covered.indices_in(damaged, same_rows=True) >= 0
    bad = np.zeros(len(parts), np.bool_)
    bad[covered_by[bad_files]] = True
    numbers: dict[object, int] = {}
    identities = zip(
        covered.paths,
        covered.sizes.tolist(),
        covered.times.tolist(),
        covered.vectors or ("",) * len(covered),
        strict=True,
    )
    return Replicas(
        parts=tuple(parts),
        catalog=merge([part.segment for part in parts]),
        part_of=_repeated([len(part.files) for part in parts]),
        covered=covered,
        covered_by=covered_by,
        covered_number=np.array(
            [numbers.setdefault(identity, len(numbers)) for identity in identities], np.int64
        ),
        damaged=bad,
        damaged_files=bad_files,
        grouped=grouped_blocks([part.groups for part in parts]),
    )


def _repeated(lengths: Sequence[int]) -> Counts:
    return np.repeat(np.arange(len(lengths)), np.array(lengths, np.int64)).astype(np.int64)


def concatenated(some: Sequence[Files]) -> Files:
    """Files one after the other."""
    none = np.zeros(0, np.int64)
    return Files(
        tuple(chain.from_iterable(files.paths for files in some)),
        np.concatenate([none, *(files.sizes for files in some)]),
        np.concatenate([none, *(files.times for files in some)]),
        tuple(chain.from_iterable(files.vectors or ("",) * len(files) for files in some)),
    )


NO_REPLICAS = replicas_of(())


@lru_cache(maxsize=256)
def holds_columns(stored: str, asked: str) -> bool:
    """Whether files written under one schema have all columns of another, of the same types.

    A column that the files lack may have been there, and dropped, before they were written: base files that
    they cover may still hold its values, which a query on an earlier version wants.
    """
    return stored == asked or _holds(json.loads(stored), json.loads(asked))


def _holds(stored: object, asked: object) -> bool:
    """Whether values of one type can be read as another, of which they have all parts, by physical names."""
    if not isinstance(stored, dict) or not isinstance(asked, dict):
        return stored == asked
    if stored.get("type") != asked.get("type"):
        return False
    if asked["type"] == "struct":
        here, there = (
            {_physical(field): field["type"] for field in each["fields"]} for each in (stored, asked)
        )
        return all(name in here and _holds(here[name], type_) for name, type_ in there.items())
    parts = [key for key in asked if key in ("elementType", "keyType", "valueType")]
    return bool(parts) and all(_holds(stored[key], asked[key]) for key in parts)


def _physical(field: Mapping[str, Any]) -> str:
    return str(field.get("metadata", {}).get(PHYSICAL_NAME, field["name"]))
