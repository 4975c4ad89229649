"""Where query logs come from: a file, a directory of files or standard input, compressed or not.

The format is what the caller says, else what the name's ending says, else, for standard input, what the
content looks like.
"""

from __future__ import annotations

import csv
import gzip
import json
import sys
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from skipstone.errors import SkipstoneError

__all__ = ["FORMATS", "STANDARD_INPUT", "STATEMENT_COLUMNS", "QueryFile", "is_standard_input", "query_files"]

FORMATS = ("sql", "jsonl", "json", "csv", "parquet")
STATEMENT_COLUMNS = ("statement_text", "query_text", "sql")
STANDARD_INPUT = "standard input"

_GZIP = b"\x1f\x8b"
_PARQUET = b"PAR1"
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class QueryFile:
    """One file of a log; ``name`` is for people.

    ``data`` is its uncompressed content; None for a directory that is one Parquet dataset, at ``path``.
    ``problem`` says why a file of a directory cannot be read, while the others are.
    """

    name: str
    format: str
    data: bytes | None = None
    path: Path | None = None
    problem: str = ""


def is_standard_input(path: str | Path) -> bool:
    """Whether ``-`` was given in place of a path."""
    return str(path) == "-"


def query_files(path: str | Path, columns: Sequence[str], format: str | None = None) -> Iterator[QueryFile]:
    """The files of a log; ``columns`` are what a CSV header may call its statements."""
    if format is not None and format not in FORMATS:
        raise SkipstoneError(f"There is no query file format {format}; choose one of {', '.join(FORMATS)}.")
    if is_standard_input(path):
        data = _uncompressed(sys.stdin.buffer.read(), STANDARD_INPUT)
        yield QueryFile(STANDARD_INPUT, format or _format_of_content(data, columns), data)
        return
    source = Path(path)
    if not source.exists():
        raise SkipstoneError(f"The query file {source} does not exist.")
    known = format or _format_of_name(source)
    if source.is_dir():
        yield from _directory(source, format, known)
        return
    if known is None:
        raise SkipstoneError(
            f"The name of the query file {source} must end in one of {_endings()}, with or without .gz, "
            "unless its format is given."
        )
    yield QueryFile(str(source), known, _content(source))


def _directory(source: Path, format: str | None, known: str | None) -> Iterator[QueryFile]:
    """The files of a directory by name, each in the format of its own name, else in the directory's."""
    if (source / "_delta_log").exists():
        raise SkipstoneError(
            f"{source} is a Delta table, of which some files may be outdated; export its queries to Parquet."
        )
    if known == "parquet":
        yield QueryFile(str(source), known, path=source)
        return
    found = sorted(file for file in source.rglob("*") if file.is_file() and not _is_hidden(file, source))
    if not found:
        raise SkipstoneError(f"The directory {source} has no query files.")
    for file in found:
        name = str(file.relative_to(source))
        its = format or _format_of_name(file) or known
        if its is None:
            yield QueryFile(name, "", problem=f"its name ends in none of {_endings()}")
            continue
        try:
            yield QueryFile(name, its, _content(file))
        except SkipstoneError as problem:
            yield QueryFile(name, its, problem=str(problem).rstrip("."))


def _is_hidden(file: Path, source: Path) -> bool:
    return any(part[0] in "._" for part in file.relative_to(source).parts)


def _endings() -> str:
    return ", ".join(f".{format}" for format in FORMATS)


def _format_of_name(path: Path) -> str | None:
    """The format that a name's ending says, compressed or not.

    >>> _format_of_name(Path("log.CSV.gz")), _format_of_name(Path("log.txt"))
    ('csv', None)
    """
    name = path.name.lower().removesuffix(".gz")
    ending = name.rpartition(".")[2] if "." in name else ""
    return ending if ending in FORMATS else None


def _format_of_content(data: bytes, columns: Sequence[str]) -> str:
    r"""The format that content looks like: SQL unless it is something else for certain.

    >>> [_format_of_content(text, ["sql"]) for text in (b"[]", b'{"a": 1}\n{}', b"sql,user\n", b"SELECT 1")]
    ['json', 'jsonl', 'csv', 'sql']
    """
    if data.startswith(_PARQUET):
        return "parquet"
    head = data.removeprefix(_BYTE_ORDER_MARK).lstrip()
    if head.startswith(b"["):
        return "json"
    if head.startswith(b"{"):
        return "json" if _is_json(head) else "jsonl"
    first = head.partition(b"\n")[0].decode("utf-8", "replace").strip()
    header = {name.strip().lower() for name in next(csv.reader([first]), [])}
    return "csv" if header & {column.lower() for column in columns} else "sql"


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except ValueError:
        return False
    return True


def _content(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SkipstoneError(f"{path} cannot be read: {error.strerror}.") from error
    if path.name.lower().endswith(".gz") and not data.startswith(_GZIP):
        raise SkipstoneError(f"{path} is not a gzip file.")
    return _uncompressed(data, str(path))


def _uncompressed(data: bytes, name: str) -> bytes:
    if not data.startswith(_GZIP):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise SkipstoneError(f"{name} is not a gzip file that can be read: {error}.") from error
