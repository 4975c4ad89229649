"""Where replicas are kept: ``TABLE/_skipstone/replicas/``.

A horizontal partition has a folder of its own, ``REPLICA/PARTITION/``, with its data files and, in
``blocks-DIGEST.parquet``, their statistics as a segment (:mod:`~skipstone.catalog.segment`). The record
``REPLICA.PARTITION-DIGEST.json`` is written last. Without it nothing in the folder counts, so a crash leaves
files that nobody reads and that a later refresh deletes; with it all is there. Both names hold a digest of
the bytes, and neither file is ever changed. The layout is stored as any other, under the id of the replica.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Protocol

import numpy as np

from skipstone.catalog.files import Files
from skipstone.catalog.replicas import HorizontalPartition, Replicas, replicas_of
from skipstone.catalog.segment import decode, encode
from skipstone.catalog.store import FOLDER, FileStore, digest_of
from skipstone.errors import SkipstoneError
from skipstone.json_types import JsonObject, json_int, json_list, json_object, json_text

__all__ = [
    "REPLICAS",
    "FolderStore",
    "delete_partition",
    "delete_replica",
    "load_replicas",
    "partition_folder",
    "replica_stamp",
    "save_partition",
    "sweep_partitions",
]

FORMAT = 1
REPLICAS = f"{FOLDER}/replicas"
_DAY_MILLIS = 24 * 3_600_000
_ID = re.compile(r"[0-9a-z]+")
_NAME = re.compile(r"(?P<replica>[0-9a-z]+)\.(?P<id>[0-9a-z]+)-(?P<digest>[0-9a-f]{12})\.json")


class FolderStore(FileStore, Protocol):
    """A file store that can delete folders."""

    def delete_folder(self, folder: str, unless_younger_millis: int | None = None) -> None:
        """Remove a folder with all that is in it; with a limit only if all of it is older."""


def partition_folder(replica: str, partition: str) -> str:
    """Where the files of a horizontal partition lie, below the table's root."""
    return f"{REPLICAS}/{replica}/{partition}"


def replica_stamp(store: FileStore) -> tuple[str, ...]:
    """What tells one state of the replicas from another; empty when there are none."""
    return tuple(name for name in store.names(REPLICAS) if _NAME.fullmatch(name))


def save_partition(store: FileStore, part: HorizontalPartition) -> None:
    """Make a partition count whose data files are written; its record is written last."""
    blocks = encode(part.segment)
    segment = f"blocks-{digest_of(blocks)}.parquet"
    store.write(f"{partition_folder(part.replica, part.id)}/{segment}", blocks)
    record = {
        "format": FORMAT,
        "replica": part.replica,
        "id": part.id,
        "created": part.created,
        "table_version": part.table_version,
        "schema": part.schema,
        "covered": {
            "paths": part.covered.paths,
            "sizes": part.covered.sizes.tolist(),
            "times": part.covered.times.tolist(),
            "vectors": part.covered.vectors,
        },
        "rows": part.rows,
        "row_hash": str(part.row_hash),
        "blocks": segment,
        "partition_values": part.partition_values,
    }
    data = json.dumps(record).encode()
    store.write(f"{REPLICAS}/{part.name}-{digest_of(data)}.json", data)


def delete_partition(store: FileStore, name: str) -> None:
    """Let a partition count no more; its files stay for queries that are running."""
    for each in replica_stamp(store):
        if each.startswith(f"{name}-"):
            store.delete(f"{REPLICAS}/{each}")


def delete_replica(store: FolderStore, replica: str) -> None:
    """Let a replica count no more, and then delete all its files."""
    for each in replica_stamp(store):
        if each.startswith(f"{replica}."):
            store.delete(f"{REPLICAS}/{each}")
    store.delete_folder(f"{REPLICAS}/{replica}")


def sweep_partitions(store: FolderStore) -> None:
    """Delete folders that no record speaks of and that have not changed for a day.

    They were left by a crash, or their partition was retired and no query reads it any more.
    """
    counting = {name.partition("-")[0] for name in replica_stamp(store)}
    for replica in store.names(REPLICAS):
        if _ID.fullmatch(replica):
            for part in store.names(f"{REPLICAS}/{replica}"):
                if f"{replica}.{part}" not in counting:
                    store.delete_folder(partition_folder(replica, part), _DAY_MILLIS)


def load_replicas(store: FileStore, root: str, before: Replicas | None = None) -> Replicas:
    """Read all records; one that is damaged or newer is left out, and the problem is told.

    What ``before`` has is not read again: records never change.
    """
    names = replica_stamp(store)
    known = {} if before is None else dict(zip(before.record_names, before.parts, strict=True))
    parts: dict[str, HorizontalPartition] = {}
    problems: list[str] = []
    for name in names:
        try:
            parts[name] = known[name] if name in known else _read(store, name)
        # One bad copy is no reason not to use the others.
        except Exception as problem:  # noqa: BLE001
            reason = " ".join(str(problem).split()).rstrip(".") or type(problem).__name__
            problems.append(f"{root}/{REPLICAS}/{name} cannot be used ({reason}).")
    return replicas_of(tuple(parts.values()), names, tuple(problems), tuple(parts))


def _read(store: FileStore, name: str) -> HorizontalPartition:
    matched = _NAME.fullmatch(name)
    data = store.read(f"{REPLICAS}/{name}")
    if matched is None or matched["digest"] != digest_of(data):
        raise SkipstoneError("its bytes do not fit its name")
    stored = json_object(json.loads(data))
    version = json_int(stored["format"])
    if version > FORMAT:
        raise SkipstoneError(f"it was written by a newer skipstone, in format {version}")
    part = _partition(store, stored)
    if part.name != f"{matched['replica']}.{matched['id']}":
        raise SkipstoneError(f"it describes {part.name}")
    return part


def _partition(store: FileStore, stored: JsonObject) -> HorizontalPartition:
    replica, id_ = json_text(stored["replica"]), json_text(stored["id"])
    blocks = json_text(stored["blocks"])
    path = f"{partition_folder(replica, id_)}/{blocks}"
    bytes_ = store.read(path)
    if blocks != f"blocks-{digest_of(bytes_)}.parquet":
        raise SkipstoneError(f"the bytes of {blocks} do not fit its name")
    segment = decode(bytes_, path)
    values = tuple(map(json_text, json_list(stored["partition_values"])))
    covered = _files(json_object(stored["covered"]))
    if len(values) != len(segment.files) or not len(segment.files) or not len(covered):
        raise SkipstoneError("it has no files, or too few partition values")
    return HorizontalPartition(
        id=id_,
        replica=replica,
        created=json_text(stored["created"]),
        table_version=json_int(stored["table_version"]),
        schema=json_text(stored["schema"]),
        covered=covered,
        rows=json_int(stored["rows"]),
        row_hash=int(json_text(stored["row_hash"])),
        segment=segment,
        partition_values=values,
    )


def _files(stored: Mapping[str, object]) -> Files:
    paths, vectors = (tuple(map(json_text, json_list(stored[key]))) for key in ("paths", "vectors"))
    sizes, times = (
        np.array([json_int(number) for number in json_list(stored[key])], np.int64)
        for key in ("sizes", "times")
    )
    if not len(paths) == len(sizes) == len(times) or len(vectors) not in (0, len(paths)):
        raise SkipstoneError("the lists of covered files have different lengths")
    if len(set(paths)) != len(paths):
        raise SkipstoneError("a covered file occurs twice")
    return Files(paths, sizes, times, vectors)
