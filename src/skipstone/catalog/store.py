"""Where segments are kept: ``TABLE/_skipstone/blocks/``, on whatever file system the table is on.

A segment is written under a hidden name and renamed, so it is there whole or not at all. Segments are
never changed: an index run adds one, or puts a few in the place of all (written first, the others deleted
after them). A reader that sees both during that moment sees the same entries twice, which is harmless. The
name holds a digest of the bytes: a damaged statistic could skip a block that is needed, so one wrong bit
makes the catalog unusable.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from typing import Protocol

from skipstone.catalog.merge import Catalog, merge
from skipstone.catalog.segment import Segment, decode, encode
from skipstone.errors import SkipstoneError

__all__ = ["FOLDER", "FileStore", "load", "publish", "replace_all", "stamp"]

FOLDER = "_skipstone"
_BLOCKS = f"{FOLDER}/blocks"
_NAME = re.compile(r"(\d{8})-[0-9a-f]{12}\.parquet")


class FileStore(Protocol):
    """The few things asked of a file system. Paths are relative to the table's root."""

    def names(self, folder: str) -> list[str]:
        """Names of the files in a folder, sorted; none if it is absent."""

    def read(self, path: str) -> bytes:
        """A whole file."""

    def write(self, path: str, data: bytes) -> None:
        """A new file, whole or not at all."""

    def delete(self, path: str) -> None:
        """Remove a file, if it is there."""


def _segments(store: FileStore) -> list[str]:
    return [name for name in store.names(_BLOCKS) if _NAME.fullmatch(name)]


def stamp(store: FileStore) -> tuple[str, ...]:
    """What tells one state of the stored catalog from another; empty when there is none."""
    return tuple(_segments(store))


def load(store: FileStore, root: str) -> Catalog:
    """Read all segments; a damaged or newer one is an error that names it."""
    return merge([_read(store, root, name) for name in _segments(store)])


def _read(store: FileStore, root: str, name: str) -> Segment:
    data = store.read(f"{_BLOCKS}/{name}")
    segment = decode(data, f"{root}/{_BLOCKS}/{name}")
    if name != _name(name.partition("-")[0], data):
        raise SkipstoneError(
            f"{root}/{_BLOCKS}/{name} is damaged (its bytes do not fit its name); delete it and index again."
        )
    return segment


def _name(number: str, data: bytes) -> str:
    return f"{number}-{hashlib.blake2b(data, digest_size=6).hexdigest()}.parquet"


def publish(store: FileStore, segment: Segment, replace: bool = False) -> str:
    """Add a segment; with ``replace`` it then is the only one."""
    if replace:
        return replace_all(store, [segment])[0]
    return _add(store, [segment])[0]


def replace_all(store: FileStore, segments: Sequence[Segment]) -> list[str]:
    """Put these segments in the place of all."""
    before = _segments(store)
    names = _add(store, segments)
    for old in before:
        store.delete(f"{_BLOCKS}/{old}")
    return names


def _add(store: FileStore, segments: Sequence[Segment]) -> list[str]:
    number = max((int(name.partition("-")[0]) for name in _segments(store)), default=0)
    names = []
    for place, segment in enumerate(segments, number + 1):
        data = encode(segment)
        names.append(_name(f"{place:08d}", data))
        store.write(f"{_BLOCKS}/{names[-1]}", data)
    return names
