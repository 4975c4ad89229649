"""The records of a query log in each format: a statement, when and how often it ran, for whom, how it ended.

A record that cannot be read has a ``problem`` and costs no other record.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import SupportsFloat

from skipstone.errors import SkipstoneError
from skipstone.workload.query_files import QueryFile

__all__ = ["UNREADABLE", "Record", "records_of"]

UNREADABLE = re.compile("[\ud800-\udfff]")
"""What stands in text for bytes that are not UTF-8."""

_TIMESTAMP = ("timestamp", "start_time", "start_timestamp", "query_start_time_ms")
_COUNT = ("count", "execution_count")
_USER = ("user", "user_name", "executed_by")
_STATUS = ("status", "execution_status", "query_status", "state")
_LISTS = ("res", "results", "queries")
_FAILED = re.compile(r"(?i)fail|cancel|abort|error|kill|reject|incident|time[ds]?[ _-]?out")
_MILLISECONDS_FROM = 10**11


@dataclass(frozen=True, slots=True)
class Record:
    """One record before its text is split into statements; ``failed`` is how it ended, if not well."""

    text: str
    line: int | None = None
    timestamp: datetime | None = None
    count: int = 1
    user: str | None = None
    problem: str = ""
    failed: str = ""


def records_of(file: QueryFile, columns: Sequence[str]) -> Iterator[Record]:
    """The records of a file; its statements are in the first of ``columns`` that it has."""
    return _READERS[file.format](file, columns)


def _read_sql(file: QueryFile, _columns: Sequence[str]) -> Iterator[Record]:
    yield Record(_text(file), 1)


def _read_jsonl(file: QueryFile, columns: Sequence[str]) -> Iterator[Record]:
    for number, line in enumerate(_text(file).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            content = json.loads(line)
        except ValueError as error:
            yield Record(line, number, problem=f"it is not valid JSON: {error}")
            continue
        yield _from_json(content, columns, number)


def _read_json(file: QueryFile, columns: Sequence[str]) -> Iterator[Record]:
    try:
        content = json.loads(_text(file))
    except ValueError as error:
        raise SkipstoneError(f"{file.name} is not valid JSON: {error}.") from error
    found = list(_objects(content, columns))
    if found and not any(isinstance(each, dict) and _column(each, columns) for each in found):
        raise SkipstoneError(
            f"{file.name} has no statements: they are looked for in {', '.join(columns)} of the objects of "
            f"an array, which may be in {', '.join(_LISTS)} of an object."
        )
    for each in found:
        yield _from_json(each, columns, None)


def _objects(content: object, columns: Sequence[str]) -> Iterator[object]:
    """The records of an array, of an answer of Databricks' query history, or of several such answers."""
    if isinstance(content, list):
        for each in content:
            yield from _objects(each, columns)
        return
    held = None
    if isinstance(content, dict) and _column(content, columns) is None:
        held = next((content[name] for name in _LISTS if isinstance(content.get(name), list)), None)
    yield from [content] if held is None else held


def _from_json(content: object, columns: Sequence[str], line: int | None) -> Record:
    if not isinstance(content, dict) or (column := _column(content, columns)) is None:
        text = json.dumps(content, ensure_ascii=False)[:1000]
        return Record(text, line, problem=f"it is not a JSON object with {' or '.join(columns)}")
    return _record(content, column, line)


def _read_csv(file: QueryFile, columns: Sequence[str]) -> Iterator[Record]:
    rows = _csv_rows(list(io.StringIO(_text(file), newline="")))
    _, header, problem = next(rows, (1, [], ""))
    column = _column(dict.fromkeys(header), columns)
    if problem or column is None:
        why = problem or f"it has no statement column; one of {', '.join(columns)} is needed"
        raise SkipstoneError(f"{file.name} cannot be used as CSV: {why}.")
    for line, row, problem in rows:
        if problem or len(row) > len(header):
            why = problem or f"it has {len(row)} fields, and the header has {len(header)}"
            yield Record(",".join(row), line, problem=why)
        else:
            yield _record({**dict.fromkeys(header), **dict(zip(header, row, strict=False))}, column, line)


def _csv_rows(lines: list[str]) -> Iterator[tuple[int, list[str], str]]:
    """Each row with the number of its first line; or what is wrong there.

    A quote that is never closed takes the rest of the file along; so the line that opened it is given up,
    and reading goes on behind that line.
    """
    # Statements can be longer than the csv module's default of 128 KB.
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    start = 0
    while start < len(lines):
        reader = csv.reader(islice(lines, start, None), strict=True)
        begin, start = start, len(lines)
        while True:
            line = begin + reader.line_num + 1
            try:
                row = next(reader, None)
            except csv.Error as error:
                yield line, [lines[line - 1].rstrip("\n")], f"it is not valid CSV: {error}"
                if "end of data" not in str(error):
                    continue
                start = line
                break
            if row is None:
                break
            if row:
                yield line, row, ""


def _read_parquet(file: QueryFile, columns: Sequence[str]) -> Iterator[Record]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(file.path if file.data is None else pa.BufferReader(file.data))
    except (pa.ArrowException, OSError) as error:
        first = str(error).splitlines()[0]
        raise SkipstoneError(f"{file.name} is not a Parquet file that can be read: {first}.") from error
    column = _column(dict.fromkeys(table.column_names), columns)
    if column is None:
        raise SkipstoneError(f"{file.name} has no statement column; one of {', '.join(columns)} is needed.")
    for row in table.to_pylist():
        yield _record(row, column, None)


def _text(file: QueryFile) -> str:
    """The file as text, in which single bytes that are not UTF-8 stay recognisable."""
    data = file.data or b""
    if b"\0" in data:
        raise SkipstoneError(f"{file.name} is not a UTF-8 text file (byte {data.index(0)}).")
    return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape").replace("\r\n", "\n")


def _column(record: Mapping[str, object], columns: Sequence[str]) -> str | None:
    """The statement column of a record; upper and lower case matter only where both are there."""
    by_lower = {str(name).strip().lower(): name for name in record}
    for wanted in columns:
        if wanted in record:
            return wanted
        if wanted.lower() in by_lower:
            return by_lower[wanted.lower()]
    return None


def _record(content: Mapping[str, object], column: str, line: int | None) -> Record:
    by_lower = {str(name).strip().lower(): value for name, value in content.items()}
    statement, user = content[column], _first(by_lower, _USER)
    if statement is not None and not isinstance(statement, str):
        return Record(repr(statement)[:1000], line, problem="its statement is not text")
    try:
        return Record(
            statement or "",
            line,
            _timestamp(_first(by_lower, _TIMESTAMP)),
            _count(_first(by_lower, _COUNT)),
            None if user is None else UNREADABLE.sub("\N{REPLACEMENT CHARACTER}", str(user)),
            failed=_failed(_first(by_lower, _STATUS)),
        )
    except ValueError as problem:
        return Record(statement or "", line, problem=str(problem))


def _first(record: Mapping[str, object], names: tuple[str, ...]) -> object:
    # A missing number is not a number in exports that know no NULL.
    held = (record[name] for name in names if record.get(name) not in (None, ""))
    return next((value for value in held if not _is_nan(value)), None)


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _failed(status: object) -> str:
    """How a statement ended if it failed; "" if it did not, or nobody knows.

    >>> _failed("FAILED"), _failed({"state": "canceled"}), _failed("FINISHED"), _failed(None)
    ('FAILED', 'canceled', '', '')
    """
    state = status.get("state") if isinstance(status, dict) else status
    return state if isinstance(state, str) and _FAILED.match(state.strip()) else ""


def _float(value: object) -> float:
    if not isinstance(value, str | SupportsFloat):
        raise TypeError("no number")
    return float(value)


def _count(value: object) -> int:
    try:
        count = 1.0 if value is None else _float(value)
    except (TypeError, ValueError):
        count = 0.0
    if count < 1 or not count.is_integer() or isinstance(value, bool):
        raise ValueError(f"its count is not a positive whole number: {value!r}")
    return int(count)


def _timestamp(value: object) -> datetime | None:
    """ISO text, a datetime, or seconds or milliseconds since 1970; without a zone it is UTC."""
    try:
        if value is None or isinstance(value, datetime):
            parsed = value
        elif isinstance(value, str) and not re.fullmatch(r"\d+(\.\d+)?", value.strip()):
            parsed = datetime.fromisoformat(value.strip())
        else:
            number = _float(value)
            parsed = datetime.fromtimestamp(number / 1000 if number >= _MILLISECONDS_FROM else number, UTC)
    except (TypeError, ValueError, OverflowError, OSError) as error:
        raise ValueError(f"its timestamp cannot be read: {value!r}") from error
    return parsed.replace(tzinfo=UTC) if parsed is not None and parsed.tzinfo is None else parsed


_READERS: Mapping[str, Callable[[QueryFile, Sequence[str]], Iterator[Record]]] = {
    "sql": _read_sql,
    "jsonl": _read_jsonl,
    "json": _read_json,
    "csv": _read_csv,
    "parquet": _read_parquet,
}
