"""How column groups are written in the record of a horizontal partition, and read again.

The statistics of each group's blocks are a segment of its own, ``group-DIGEST.parquet``, beside its files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from skipstone.catalog.column_groups import StoredGroup, block_name
from skipstone.catalog.files import Files
from skipstone.catalog.segment import decode, encode
from skipstone.catalog.store import FileStore, digest_of
from skipstone.errors import SkipstoneError
from skipstone.json_types import JsonObject, json_int, json_list, json_object, json_text
from skipstone.pruning.blocks import Counts

__all__ = ["read_groups", "write_groups"]


def write_groups(store: FileStore, folder: str, groups: Sequence[StoredGroup]) -> list[dict[str, object]]:
    """Write the statistics of some groups; what the record says of the groups."""
    described: list[dict[str, object]] = []
    for group in groups:
        data = encode(group.blocks)
        name = f"group-{digest_of(data)}.parquet"
        store.write(f"{folder}/{name}", data)
        described.append(
            {
                "columns": group.columns,
                "blocks": name,
                "paths": group.files.paths,
                "sizes": group.files.sizes.tolist(),
                "times": group.files.times.tolist(),
                "file_of": group.file_of.tolist(),
                "starts": group.starts.tolist(),
                "column_bytes": dict(group.column_bytes),
                "row_hash": str(group.row_hash),
            }
        )
    return described


def read_groups(store: FileStore, folder: str, stored: Sequence[object]) -> tuple[StoredGroup, ...]:
    """The groups that a record describes."""
    groups = tuple(_group(store, folder, json_object(each)) for each in stored)
    columns = [column for group in groups for column in group.columns]
    if len(set(columns)) != len(columns):
        raise SkipstoneError("a column is in two groups")
    return groups


def _group(store: FileStore, folder: str, stored: JsonObject) -> StoredGroup:
    name = json_text(stored["blocks"])
    data = store.read(f"{folder}/{name}")
    if name != f"group-{digest_of(data)}.parquet":
        raise SkipstoneError(f"the bytes of {name} do not fit its name")
    group = StoredGroup(
        columns=tuple(map(json_text, json_list(stored["columns"]))),
        files=Files(
            tuple(map(json_text, json_list(stored["paths"]))),
            _numbers(stored, "sizes"),
            _numbers(stored, "times"),
        ),
        blocks=decode(data, f"{folder}/{name}"),
        file_of=_numbers(stored, "file_of"),
        starts=_numbers(stored, "starts"),
        column_bytes={key: json_int(size) for key, size in json_object(stored["column_bytes"]).items()},
        row_hash=int(json_text(stored["row_hash"])),
    )
    _check(group)
    return group


def _check(group: StoredGroup) -> None:
    """Refuse blocks that lie nowhere: a range that is not a block's would lose its rows."""
    files, sizes = group.files, group.blocks.files.sizes
    if not len(group) == len(group.starts) == len(sizes) or not len(group) or not group.columns:
        raise SkipstoneError("a column group has no blocks, or lists of different lengths")
    if not len(files) == len(files.sizes) == len(files.times):
        raise SkipstoneError("the lists of a column group's files have different lengths")
    if group.file_of.min() < 0 or group.file_of.max() >= len(files):
        raise SkipstoneError("a block is in no file")
    if (group.starts < 0).any() or (group.starts + sizes > files.sizes[group.file_of]).any():
        raise SkipstoneError("a block ends behind its file")
    wanted = _names(group.file_of, files.paths)
    if wanted != group.blocks.files.paths:
        raise SkipstoneError("the blocks of a column group have other names")


def _names(file_of: Counts, paths: Sequence[str]) -> tuple[str, ...]:
    seen: dict[int, int] = {}
    names = []
    for file in file_of.tolist():
        seen[file] = seen.get(file, -1) + 1
        names.append(block_name(paths[file], seen[file]))
    return tuple(names)


def _numbers(stored: Mapping[str, object], key: str) -> Counts:
    return np.array([json_int(number) for number in json_list(stored[key])], np.int64)
