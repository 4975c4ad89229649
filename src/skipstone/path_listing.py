"""What is at a path, checked before Spark is asked to read it as a table.

Spark's own messages about a path without Parquet files speak of schemas and options. Here the path is listed
once, through the Hadoop file system API, and what was found there is named.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

__all__ = ["PathListing", "problem_of", "read_listing", "split_source"]

_NEEDS = "skipstone needs a Delta table or a directory of Parquet files"
_READERS = {
    "csv": "csv",
    "tsv": "csv",
    "json": "json",
    "jsonl": "json",
    "ndjson": "json",
    "orc": "orc",
    "avro": "format('avro').load",
    "txt": "text",
    "xml": "xml",
}
_PACKED = ("gz", "bz2", "zst", "snappy", "lz4", "deflate")
_MOST_LOOKED_INTO = 20


_NAMED = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)=(.+)")


def split_source(source: str) -> tuple[str | None, str]:
    """The name and the path of ``name=path``; no name for anything else. A name may have several parts.

    >>> split_source("o=/data/orders"), split_source("main.air.flights=/f"), split_source("/data/orders")
    (('o', '/data/orders'), ('main.air.flights', '/f'), (None, '/data/orders'))
    """
    match = _NAMED.fullmatch(source)
    return (None, source) if match is None else (match[1], match[2])


@dataclass(frozen=True, slots=True)
class PathListing:
    """What a path is: nothing, a file, or a directory of some names, with whether each is a directory."""

    exists: bool = True
    is_file: bool = False
    names: Mapping[str, bool] = field(default_factory=dict)

    def files(self) -> list[str]:
        """The files that Spark looks at."""
        return [name for name, folder in self.names.items() if not folder and name[0] not in "_."]

    def folders(self) -> list[str]:
        """The directories that Spark looks at."""
        return [name for name, folder in self.names.items() if folder and name[0] not in "_."]

    def is_table(self) -> bool:
        """Whether it has a Delta log, or files that may be Parquet."""
        return "_delta_log" in self.names or any(_kind(name) == "" for name in self.files())


def read_listing(text: str | None) -> PathListing:
    r"""Read what the shim says.

    >>> read_listing("f"), read_listing(None).exists
    (PathListing(exists=True, is_file=True, names={}), False)
    >>> read_listing("d\0da=1\0fx.parquet").names
    {'a=1': True, 'x.parquet': False}
    """
    if text is None:
        return PathListing(exists=False)
    kind, *names = text.split("\0")
    return PathListing(is_file=kind == "f", names={name[1:]: name[0] == "d" for name in names})


def problem_of(path: str, found: PathListing, look: Callable[[str], PathListing]) -> str:
    """Why a path is no table, in one sentence; nothing if it may be one. ``look`` lists a directory in it."""
    if not found.exists:
        return f"{path} does not exist."
    if found.is_file:
        parent = path.rstrip("/").rpartition("/")[0]
        if _kind(path) == "":
            return f"{path} is a file, and a table is a directory; give the one that it lies in ({parent})."
        return f"{path} is a file; {_NEEDS}."
    if found.is_table():
        return ""
    if ".hoodie" in found.names:
        return f"{path} is a Hudi table; {_NEEDS}."
    if any(name.endswith(".metadata.json") for name in _inside(found, "metadata", look)):
        return f"{path} is an Iceberg table; {_NEEDS}."
    if files := found.files():
        return _other_files(path, files)
    return _folders_problem(path, found.folders(), look)


def _folders_problem(path: str, folders: list[str], look: Callable[[str], PathListing]) -> str:
    """The same for a directory of nothing but directories."""
    if any("=" in name for name in folders):
        return ""
    tables = [name for name in folders[:_MOST_LOOKED_INTO] if look(name).is_table()]
    if tables:
        names = ", ".join(f"{name}/" for name in tables)
        have = f"these directories in it have: {names}; give one of them"
        return f"{path} has no Parquet files itself, but {have}."
    if folders:
        return f"{path} holds only directories, and no Parquet files in them; {_NEEDS}."
    return f"{path} is empty; {_NEEDS}."


def _inside(found: PathListing, name: str, look: Callable[[str], PathListing]) -> list[str]:
    return list(look(name).names) if found.names.get(name) else []


def _other_files(path: str, files: list[str]) -> str:
    kind, _ = Counter(map(_kind, files)).most_common(1)[0]
    reader = _READERS[kind]
    count = f"{len(files):,} {kind.upper()} file{'' if len(files) == 1 else 's'}"
    if len(set(map(_kind, files))) > 1:
        count = f"{len(files):,} files of other kinds, most of them {kind.upper()}"
    convert = f"convert with spark.read.{reader}(...).write.format('delta').save(...)"
    return f"{path} holds {count}; {_NEEDS} ({convert})."


def _kind(name: str) -> str:
    """The ending of a file that cannot be Parquet; nothing for all others, which may have any name.

    >>> _kind("a.csv.gz"), _kind("part-0.snappy.parquet"), _kind("000000_0")
    ('csv', '', '')
    """
    parts = name.rpartition("/")[2].lower().split(".")[1:]
    while parts and parts[-1] in _PACKED:
        parts.pop()
    return parts[-1] if parts and parts[-1] in _READERS else ""
