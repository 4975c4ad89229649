"""Where replicas are kept: ``TABLE/_skipstone/replicas/``.

A horizontal partition has a folder of its own, ``REPLICA/PARTITION/``, with its data files and, in
``blocks-DIGEST.parquet``, their statistics as a segment (:mod:`~skipstone.catalog.segment`). The record
``REPLICA.PARTITION-DIGEST.json`` is written last. Without it nothing in the folder counts, so a crash leaves
files that nobody reads and that a later refresh deletes; with it all is there. Both names hold a digest of
the bytes, and neither file is ever changed. The layout is stored as any other, under the id of the replica.

A replica that is refreshed while the table has no rows has no partition; ``empty-REPLICA-DIGEST.json`` then
stands for it. A partition that counts no longer has a file ``retired`` in its folder, whose time says since
when: a query that was planned before may read it for a day.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from skipstone.catalog.files import Files
from skipstone.catalog.group_store import read_groups, write_groups
from skipstone.catalog.replicas import (
    EmptyReplica,
    HorizontalPartition,
    Replicas,
    concatenated,
    replicas_of,
)
from skipstone.catalog.segment import decode, encode
from skipstone.catalog.store import FOLDER, FileStore, digest_of
from skipstone.errors import SkipstoneError
from skipstone.json_types import JsonObject, json_int, json_list, json_object, json_text

__all__ = [
    "REPLICAS",
    "FolderStore",
    "delete_partition",
    "delete_replica",
    "forget_damage",
    "forget_empty",
    "load_replicas",
    "mark_damaged",
    "move_partition",
    "partition_folder",
    "replica_stamp",
    "save_empty",
    "save_partition",
    "sweep_partitions",
]

FORMAT = 1
WITH_GROUPS = 2
"""The format of a partition that is stored by column groups."""
REPLICAS = f"{FOLDER}/replicas"
_DAY_MILLIS = 24 * 3_600_000
_RETIRED = "retired"
_EMPTY = re.compile(r"empty-(?P<replica>[0-9a-z]+)-(?P<digest>[0-9a-f]{12})\.json")
_DAMAGED = re.compile(r"damaged-[0-9a-f]{12}\.json")
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
    """A fingerprint of the replicas' state; empty when there are none."""
    names = store.names(REPLICAS)
    kinds = (_NAME, _DAMAGED, _EMPTY)
    return tuple(name for name in names if any(kind.fullmatch(name) for kind in kinds))


def save_partition(store: FileStore, part: HorizontalPartition) -> None:
    """Make a partition count whose data files are written; its record is written last."""
    blocks = encode(part.segment)
    segment = f"blocks-{digest_of(blocks)}.parquet"
    store.write(f"{partition_folder(part.replica, part.id)}/{segment}", blocks)
    record: dict[str, object] = {
        "format": WITH_GROUPS if part.groups else FORMAT,
        "replica": part.replica,
        "id": part.id,
        "created": part.created,
        "table_version": part.table_version,
        "schema": part.schema,
        "covered": _files_json(part.covered),
        "rows": part.rows,
        "row_hash": str(part.row_hash),
        "blocks": segment,
        "partition_values": part.partition_values,
    }
    if part.groups:
        record["groups"] = write_groups(store, partition_folder(part.replica, part.id), part.groups)
    data = json.dumps(record).encode()
    store.write(f"{REPLICAS}/{part.name}-{digest_of(data)}.json", data)


def save_empty(store: FileStore, replica: str, created: str) -> None:
    """Let a replica count that has no partition, for the table has no rows."""
    data = json.dumps({"format": FORMAT, "replica": replica, "created": created}).encode()
    store.write(f"{REPLICAS}/empty-{replica}-{digest_of(data)}.json", data)


def forget_empty(store: FileStore, replica: str) -> None:
    """The replica has partitions again."""
    for each in replica_stamp(store):
        if each.startswith(f"empty-{replica}-"):
            store.delete(f"{REPLICAS}/{each}")


def move_partition(store: FileStore, part: HorizontalPartition, covered: Files) -> None:
    """Let a partition cover other base files, which hold the same rows."""
    before = [name for name in replica_stamp(store) if name.startswith(f"{part.name}-")]
    save_partition(store, replace(part, covered=covered))
    after = [name for name in replica_stamp(store) if name.startswith(f"{part.name}-")]
    for name in before:
        if len(after) > len(before):
            store.delete(f"{REPLICAS}/{name}")


def mark_damaged(store: FileStore, files: Files, partitions: Sequence[str] = ()) -> None:
    """Remember base files and partitions whose rows are not what they were, so that nobody reads them."""
    data = json.dumps({"format": FORMAT, "partitions": partitions, **_files_json(files)}).encode()
    store.write(f"{REPLICAS}/damaged-{digest_of(data)}.json", data)


def forget_damage(store: FileStore, partitions: Sequence[str] = ()) -> None:
    """Forget what was damaged once it is rebuilt: base files that are gone, and partitions, which go now."""
    for name in partitions:
        delete_partition(store, name)
    for name in store.names(REPLICAS):
        if _DAMAGED.fullmatch(name):
            store.delete(f"{REPLICAS}/{name}")


def delete_partition(store: FileStore, name: str) -> None:
    """Let a partition count no more; its files stay for queries that are running."""
    replica, _, id_ = name.partition(".")
    # Before it is found to be without a record, so that nobody takes it for what a crash left long ago.
    store.write(f"{partition_folder(replica, id_)}/{_RETIRED}", b"")
    for each in replica_stamp(store):
        if each.startswith(f"{name}-"):
            store.delete(f"{REPLICAS}/{each}")


def delete_replica(store: FolderStore, replica: str, now: bool = False) -> None:
    """Let a replica count no more; its files go a day later, or now, whatever is reading them."""
    found = (_NAME.fullmatch(each) for each in replica_stamp(store))
    for id_ in dict.fromkeys(each["id"] for each in found if each and each["replica"] == replica):
        delete_partition(store, f"{replica}.{id_}")
    forget_empty(store, replica)
    if now:
        store.delete_folder(f"{REPLICAS}/{replica}")


def sweep_partitions(store: FolderStore) -> None:
    """Delete folders that no record speaks of and that have not changed for a day.

    They were left by a crash, or their partition was retired and no query reads it any more.
    """
    counting = {name.partition("-")[0] for name in replica_stamp(store)}  # REPLICA.PARTITION
    for replica in store.names(REPLICAS):
        if _ID.fullmatch(replica):
            for part in store.names(f"{REPLICAS}/{replica}"):
                if f"{replica}.{part}" not in counting:
                    store.delete_folder(partition_folder(replica, part), _DAY_MILLIS)
            if not store.names(f"{REPLICAS}/{replica}"):
                store.delete_folder(f"{REPLICAS}/{replica}", _DAY_MILLIS)


def load_replicas(store: FileStore, root: str, before: Replicas | None = None) -> Replicas:
    """Read all records; one that is damaged or newer is left out, and the problem is reported.

    What ``before`` has is not read again: records never change.
    """
    names = replica_stamp(store)
    known = {} if before is None else dict(zip(before.record_names, before.parts, strict=True))
    parts: dict[str, HorizontalPartition] = {}
    damaged: list[Files] = []
    lost: list[str] = []
    empty: list[EmptyReplica] = []
    problems: list[str] = []
    for name in names:
        try:
            if _DAMAGED.fullmatch(name):
                stored = _stored(store, name)
                damaged.append(_files(stored))
                lost += map(json_text, json_list(stored["partitions"]))
            elif _EMPTY.fullmatch(name):
                stored = _stored(store, name)
                empty.append(EmptyReplica(json_text(stored["replica"]), json_text(stored["created"])))
            else:
                part = known[name] if name in known else _partition(store, _stored(store, name), name)
                # While a partition is moved to other base files, it has two records.
                if part.name not in {other.name for other in parts.values()}:
                    parts[name] = part
        # One bad copy is no reason not to use the others.
        except Exception as problem:  # noqa: BLE001
            reason = " ".join(str(problem).split()).rstrip(".") or type(problem).__name__
            problems.append(f"{root}/{REPLICAS}/{name} cannot be used ({reason}).")
    whole = {name: part for name, part in parts.items() if part.name not in lost}
    found = replicas_of(tuple(whole.values()), concatenated(damaged))
    return replace(
        found,
        names=names,
        problems=tuple(problems),
        record_names=tuple(whole),
        lost=tuple(dict.fromkeys(lost)),
        empty=tuple(empty),
    )


def _stored(store: FileStore, name: str) -> JsonObject:
    data = store.read(f"{REPLICAS}/{name}")
    if not name.endswith(f"-{digest_of(data)}.json"):
        raise SkipstoneError("its bytes do not fit its name")
    stored = json_object(json.loads(data))
    version = json_int(stored["format"])
    if version > WITH_GROUPS:
        raise SkipstoneError(f"it was written by a newer skipstone, in format {version}")
    return stored


def _partition(store: FileStore, stored: JsonObject, name: str) -> HorizontalPartition:
    replica, id_ = json_text(stored["replica"]), json_text(stored["id"])
    if not name.startswith(f"{replica}.{id_}-"):
        raise SkipstoneError(f"it describes {replica}.{id_}")
    blocks = json_text(stored["blocks"])
    path = f"{partition_folder(replica, id_)}/{blocks}"
    bytes_ = store.read(path)
    if blocks != f"blocks-{digest_of(bytes_)}.parquet":
        raise SkipstoneError(f"the bytes of {blocks} do not fit its name")
    segment = decode(bytes_, path)
    groups = read_groups(store, partition_folder(replica, id_), json_list(stored.get("groups", [])))
    values = tuple(map(json_text, json_list(stored["partition_values"])))
    covered = _files(json_object(stored["covered"]))
    if len(values) != len(segment.files) or not len(segment.files) or not len(covered):
        raise SkipstoneError("it has no files, or too few partition values")
    if groups and {path for group in groups for path in group.files.paths} != set(segment.files.paths):
        raise SkipstoneError("its column groups have other files")
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
        groups=groups,
    )


def _files_json(files: Files) -> dict[str, object]:
    return {
        "paths": files.paths,
        "sizes": files.sizes.tolist(),
        "times": files.times.tolist(),
        "vectors": files.vectors,
    }


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
