"""Where segments are kept: ``TABLE/_skipstone/blocks/``, on whatever file system the table is on.

A segment is written under a hidden name and renamed, so it is there whole or not at all. Segments are
never changed: an index run adds one, or puts one in the place of all (written first, the others deleted
after it). A reader that sees both during that moment sees the same entries twice, which is harmless.
"""

from __future__ import annotations

import re
import uuid
from typing import Protocol

from skipstone.catalog.merge import Catalog, merge
from skipstone.catalog.segment import Segment, decode, encode

__all__ = ["FOLDER", "FileStore", "load", "publish", "stamp"]

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
    segments = [
        decode(store.read(f"{_BLOCKS}/{name}"), f"{root}/{_BLOCKS}/{name}") for name in _segments(store)
    ]
    return merge(segments)


def publish(store: FileStore, segment: Segment, replace: bool = False) -> str:
    """Add a segment; with ``replace`` it then is the only one."""
    before = _segments(store)
    number = 1 + max((int(name.partition("-")[0]) for name in before), default=0)
    name = f"{number:08d}-{uuid.uuid4().hex[:12]}.parquet"
    store.write(f"{_BLOCKS}/{name}", encode(segment))
    for old in before if replace else ():
        store.delete(f"{_BLOCKS}/{old}")
    return name
