"""Workloads that were uploaded or generated: files of the server's own, read by the readers of query files.

What is on disk has a name of the server's own making; what clients call it is only shown.
"""

from __future__ import annotations

import io
import re
import threading
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from skipstone.errors import SkipstoneError
from skipstone.server.job import moment
from skipstone.server.problems import ConflictError, MissingError, TooManyError
from skipstone.server.settings import Limits
from skipstone.server.store import Store
from skipstone.workload.queries import BrokenQuery, LeftOut, Workload
from skipstone.workload.query_files import FORMATS
from skipstone.workload.readers import read_queries

__all__ = ["StoredWorkload", "Upload", "Workloads"]

_MOST_NAME = 200
_MOST_TIMES_LARGER = 20
"""So many times as large as an upload may be, what it holds may be."""
_MOST_ROWS = 1_000_000
_CHUNK = 1 << 20
_MOST_JUDGED = 1_000


@dataclass(frozen=True, slots=True)
class Upload:
    """What a client says about a file that it sends."""

    name: str
    dialect: str = "spark"
    format: str | None = None
    column: str | None = None
    origin: str = "upload"
    table: str | None = None


@dataclass(frozen=True, slots=True)
class StoredWorkload:
    """A workload as clients see it; ``file`` is its name on disk."""

    id: str
    name: str
    origin: str
    created_at: str
    bytes: int
    queries: int
    broken: int
    left_out: int
    dialect: str
    format: str
    file: str
    column: str | None = None
    table: str | None = None

    def to_dict(self) -> dict[str, object]:
        """For JSON, without where it lies."""
        return {name: value for name, value in asdict(self).items() if name != "file"}


class Workloads:
    """The workloads of a server."""

    def __init__(
        self,
        directory: Path,
        store: Store,
        limits: Limits,
        unparsed: Callable[[str], str] = lambda _: "",
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        """Know those of earlier servers; ``unparsed`` says why a statement is none of Spark's."""
        self._unparsed = unparsed
        self._changed = changed
        self._directory = directory
        self._store = store
        self._limits = limits
        self._lock = threading.Lock()
        self._read: dict[str, Workload] = {}
        self._coming: set[str] = set()
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        values = store.values("workloads")
        self._known = {key: StoredWorkload(**value) for key, value in values.items()}  # type: ignore[arg-type]

    def list(self) -> list[StoredWorkload]:
        """All, oldest first."""
        return list(self._known.values())

    def get(self, key: str) -> StoredWorkload:
        """One of them."""
        if key not in self._known:
            raise MissingError(f"There is no workload {key[:_MOST_NAME]}.")
        return self._known[key]

    def read(self, key: str) -> Workload:
        """Its queries."""
        stored = self.get(key)
        with self._lock:
            if key not in self._read:
                path = self._directory / stored.file
                if not path.exists():
                    raise ConflictError(f"The file of the workload {stored.name} is gone; upload it again.")
                self._read = {key: _read(path, stored)}
            return self._read[key]

    def add(self, upload: Upload, data: bytes) -> StoredWorkload:
        """Keep a file, if its queries can be read."""
        name = _shown_name(upload.name)
        format_, packed = _format(name, upload.format)
        _check_size(data, format_, packed, self._limits.upload_bytes * _MOST_TIMES_LARGER)
        with self._lock:
            if len(self._known) + len(self._coming) >= self._limits.workloads:
                raise TooManyError(f"There are {len(self._known)} workloads already; delete some.")
            key = self._new_key(name)
            self._coming.add(key)
        try:
            return self._keep(key, upload, (name, format_, packed), data)
        finally:
            with self._lock:
                self._coming.discard(key)

    def _keep(self, key: str, upload: Upload, shown: tuple[str, str, bool], data: bytes) -> StoredWorkload:
        name, format_, packed = shown
        file = f"{key}.{format_}{'.gz' if packed else ''}"
        path = self._directory / file
        plain = StoredWorkload(
            key,
            name,
            upload.origin,
            moment(),
            len(data),
            0,
            0,
            0,
            upload.dialect,
            format_,
            file,
            upload.column,
            upload.table,
        )
        try:
            path.write_bytes(data)
            found = _read(path, plain)
            left_out = sum(isinstance(each, LeftOut) for each in found.broken)
            if not found.queries:
                raise SkipstoneError(_nothing(name, upload.dialect, found))
            self._refuse_nonsense(name, found)
            counts = {"queries": len(found.queries), "broken": len(found.broken) - left_out}
            stored = StoredWorkload(**{**asdict(plain), **counts, "left_out": left_out})
            self._store.put("workloads", key, asdict(stored))
        except OSError as problem:
            path.unlink(missing_ok=True)
            raise SkipstoneError(f"The upload cannot be kept: {problem.strerror}.") from problem
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        with self._lock:
            self._known[key] = stored
        self._changed()
        return stored

    def _refuse_nonsense(self, name: str, found: Workload) -> None:
        """Raise if Spark's parser makes nothing of any statement; one that it knows is enough."""
        first = ""
        for query in found.queries[:_MOST_JUDGED]:
            problem = self._unparsed(query.sql)
            if not problem:
                return
            first = first or f"{BrokenQuery(query.sql, problem, query.position, query.line)}"
        raise SkipstoneError(
            f"No statement of {name} can be read as Spark's SQL, so give its dialect if it is another; "
            f"{first}."
        )

    def forget(self, key: str) -> None:
        """Delete a workload."""
        stored = self.get(key)
        self._store.forget("workloads", key)
        with self._lock:
            self._known.pop(key, None)
            self._read.pop(key, None)
        self._changed()
        (self._directory / stored.file).unlink(missing_ok=True)

    def _new_key(self, name: str) -> str:
        base = re.sub(r"[^a-z0-9]+", "-", name.lower().partition(".")[0]).strip("-")[:40] or "workload"
        taken = {
            *self._known,
            *self._coming,
            *(path.name.partition(".")[0] for path in self._directory.iterdir()),
        }
        return next(key for key in (base, *(f"{base}-{n}" for n in range(2, 10_000))) if key not in taken)


def _read(path: Path, stored: StoredWorkload) -> Workload:
    try:
        return read_queries(path, stored.dialect, stored.column, stored.format)
    except SkipstoneError as problem:
        raise SkipstoneError(str(problem).replace(str(path), stored.name)) from problem


def _nothing(name: str, dialect: str, found: Workload) -> str:
    if not found.broken:
        return f"{name} has no statements."
    return f"No statement of {name} can be used in the dialect {dialect}; {found.broken[0]}."


def _shown_name(name: str) -> str:
    plain = "".join(char for char in name if char.isprintable()).strip()
    return plain[:_MOST_NAME] or "workload.sql"


def _format(name: str, given: str | None) -> tuple[str, bool]:
    """The format, and whether the file is said to be compressed."""
    lower = name.lower()
    packed = lower.endswith(".gz")
    ending = lower.removesuffix(".gz").rpartition(".")[2]
    found = given or ending
    if found not in FORMATS:
        endings = ", ".join(f".{format_}" for format_ in FORMATS)
        raise SkipstoneError(
            f"The name {name} must end in one of {endings}, with or without .gz, unless its format is given."
        )
    return found, packed


def _check_size(data: bytes, format_: str, packed: bool, most: int) -> None:
    """Refuse a small file that would become a huge one."""
    if packed or data.startswith(b"\x1f\x8b"):
        _check_unpacked(data, most)
    if format_ == "parquet" and not packed:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            metadata = pq.ParquetFile(io.BytesIO(data)).metadata
        except (pa.ArrowException, OSError) as problem:
            raise SkipstoneError(f"The upload is not a Parquet file: {problem}.") from problem
        size = sum(metadata.row_group(index).total_byte_size for index in range(metadata.num_row_groups))
        if size > most or metadata.num_rows > _MOST_ROWS:
            raise SkipstoneError(f"The upload holds more than {_MOST_ROWS:,} rows or {most:,} bytes.")


def _check_unpacked(data: bytes, most: int) -> None:
    """Unpack without keeping anything; a gzip file may be several in one."""
    seen, rest = 0, data
    try:
        while rest:
            member = zlib.decompressobj(wbits=31)
            while rest and not member.eof:
                seen += len(member.decompress(rest, _CHUNK))
                rest = member.unconsumed_tail
                if seen > most:
                    raise SkipstoneError(f"The upload holds more than {most:,} bytes.")
            rest = member.unused_data
    except zlib.error as problem:
        raise SkipstoneError(f"The upload is not a gzip file that can be read: {problem}.") from problem
