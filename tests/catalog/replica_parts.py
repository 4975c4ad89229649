"""Horizontal partitions of replicas, for tests of the catalog."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from tests.catalog.segments import SETTINGS, segment

from skipstone.catalog import Files
from skipstone.catalog.replica_store import partition_folder
from skipstone.catalog.replicas import HorizontalPartition

SCHEMA = (
    '{"type":"struct","fields":[{"name":"a","type":"integer","nullable":true,"metadata":{}},'
    '{"name":"s","type":"string","nullable":true,"metadata":{}}]}'
)


def files(*paths: str, size: int = 1000, time: int = 7, vectors: Mapping[str, str] | None = None) -> Files:
    """Files of one size and time; ``vectors`` names the deletion vectors of some."""
    found = vectors or {}
    return Files(
        paths,
        np.full(len(paths), size, np.int64),
        np.full(len(paths), time, np.int64),
        tuple(found.get(path, "") for path in paths) if found else (),
    )


def part(
    name: str, covered: Files, sizes: Sequence[int] = (900,), settings: Mapping[str, str] = SETTINGS
) -> HorizontalPartition:
    """The partition ``REPLICA.ID``, with a file of its own of each size."""
    replica, id_ = name.split(".")
    folder = partition_folder(replica, id_)
    own = segment([f"{folder}/part-{number}.parquet" for number in range(len(sizes))], settings=settings)
    return HorizontalPartition(
        id=id_,
        replica=replica,
        created="2026-05-01T12:00:00+00:00",
        table_version=3,
        schema=SCHEMA,
        covered=covered,
        rows=10 * len(sizes),
        row_hash=2**64 - 1,
        segment=replace(own, files=replace(own.files, sizes=np.array(sizes, np.int64)), layout=replica),
        partition_values=("",) * len(sizes),
    )
