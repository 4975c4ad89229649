"""Where segments are kept: ``TABLE/_skipstone/blocks/``, on whatever file system the table is on.

Segments are never changed: an index run adds one, or replaces those that it has read by a few
(written first, the others deleted after them). A reader that sees both during that moment sees the same
entries twice, which is harmless, and one that finds a segment deleted lists them anew. The name holds a
digest of the bytes: a damaged statistic could skip a block that is needed, so one wrong bit makes the
catalog unusable.

Nothing here needs a rename to be atomic. A store shows a new file whole or not at all where its file system
can do so; where it cannot, a reader sees bytes that do not fit the name, uses nothing and looks again.
Nobody writes to a name that is taken, unless by the same bytes (``docs/adr/0010``).
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
import time
from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from skipstone.catalog.merge import Catalog, merge
from skipstone.catalog.segment import Segment, decode, encode
from skipstone.errors import DamagedFileError, SkipstoneError

__all__ = ["FOLDER", "FileStore", "digest_of", "load", "publish", "replace_segments", "stamp"]

FOLDER = "_skipstone"
_BLOCKS = f"{FOLDER}/blocks"
_NAME = re.compile(r"(\d{8})-[0-9a-f]{12}\.parquet")
_PAUSE_SECONDS = 0.2


def digest_of(data: bytes) -> str:
    """The digest in the names of the catalog's files: twelve hexadecimal digits that a wrong bit changes.

    >>> digest_of(b"block"), digest_of(b"blocj")
    ('87174d45f782', '5c3fe2046ff2')
    """
    return hashlib.blake2b(data, digest_size=6).hexdigest()


class _UnfitError(SkipstoneError):
    """The bytes of a segment do not fit its name; those of one that is being written may do so soon."""


class FileStore(Protocol):
    """The few things asked of a file system. Paths are relative to the table's root."""

    def names(self, folder: str) -> list[str]:
        """Names of the files in a folder, sorted; none if it is absent."""

    def read(self, path: str) -> bytes:
        """A whole file."""

    def write(self, path: str, data: bytes) -> None:
        """A new file: at once whole, or growing where the file system knows no better."""

    def delete(self, path: str) -> None:
        """Remove a file, if it is there."""


def stamp(store: FileStore) -> tuple[str, ...]:
    """A text that changes with the stored catalog; empty when there is none."""
    return tuple(name for name in store.names(_BLOCKS) if _NAME.fullmatch(name))


def load(
    store: FileStore, root: str, patience: float = 0.0, pause: Callable[[float], None] = time.sleep
) -> Catalog:
    """Read all segments; a damaged or newer one is an error that names it.

    For a segment whose bytes do not fit its name, so many seconds are waited: it may be about to be written.
    """
    read: dict[str, Segment] = {}
    listings, pauses = 3, round(patience / _PAUSE_SECONDS)
    while True:
        names = stamp(store)
        try:
            for name in names:
                if name not in read:
                    read[name] = _read(store, root, name)
        except Exception as problem:
            # Somebody may have replaced it since it was listed.
            if name not in stamp(store) and listings > 1:
                listings -= 1
                continue
            if isinstance(problem, _UnfitError) and pauses:
                pauses -= 1
                pause(_PAUSE_SECONDS)
                continue
            raise
        return dataclasses.replace(merge([read[name] for name in names]), names=names)


def _read(store: FileStore, root: str, name: str) -> Segment:
    try:
        data = store.read(f"{_BLOCKS}/{name}")
    except DamagedFileError as problem:
        raise SkipstoneError(f"{str(problem).rstrip('.')}; delete it and index again.") from problem
    if name != _name(name.partition("-")[0], data):
        raise _UnfitError(
            f"{root}/{_BLOCKS}/{name} is damaged or not written to its end (its bytes do not fit its name); "
            "delete it and index again if it stays so."
        )
    return decode(data, f"{root}/{_BLOCKS}/{name}")


def _name(number: str, data: bytes) -> str:
    return f"{number}-{digest_of(data)}.parquet"


def publish(store: FileStore, segment: Segment, replace: bool = False) -> str:
    """Add a segment, as the newest; with ``replace`` it then is the only one."""
    if replace:
        return replace_segments(store, stamp(store), [segment])[0]
    return _write(store, _newest(store) + 1, segment)


def replace_segments(store: FileStore, old: Collection[str], new: Sequence[Segment]) -> list[str]:
    """Replace stored segments by these, oldest first; those that others added meanwhile stay.

    They take over the last numbers of the old ones, for what others added is to stay the newest.
    """
    numbers = sorted({_number(name) for name in old})[-len(new) :]
    if len(numbers) < len(new):
        first = _newest(store) + 1
        numbers = list(range(first, first + len(new)))
    names = [_write(store, number, segment) for number, segment in zip(numbers, new, strict=True)]
    for name in old:
        if name not in names:
            store.delete(f"{_BLOCKS}/{name}")
    return names


def _write(store: FileStore, number: int, segment: Segment) -> str:
    data = encode(segment)
    name = _name(f"{number:08d}", data)
    store.write(f"{_BLOCKS}/{name}", data)
    return name


def _newest(store: FileStore) -> int:
    return max(map(_number, stamp(store)), default=0)


def _number(name: str) -> int:
    return int(name.partition("-")[0])
