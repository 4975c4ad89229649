"""Query logs from files: ``.sql``, ``.jsonl``, and ``.csv`` or ``.parquet`` exports.

A file that cannot be read as what its name says is an error in one sentence. A statement that is broken
is not: it is kept aside with its reason, and the rest is used. Statements in Spark's own dialect are not
parsed here; Catalyst does that later, against the tables' schemas. Other dialects are translated first.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from skipstone.errors import SkipstoneError
from skipstone.workload.queries import BrokenQuery, Query, Workload
from skipstone.workload.statements import split_statements

__all__ = ["read_queries"]

_STATEMENT = ("statement_text", "query_text", "sql")
_TIMESTAMP = ("timestamp", "start_time", "start_timestamp")
_COUNT = ("count", "execution_count")
_USER = ("user", "user_name", "executed_by")
_MILLISECONDS_FROM = 10**11


@dataclass(frozen=True, slots=True)
class _Entry:
    """One record of a log before its text is split and translated; ``where`` names it for people."""

    text: str
    where: str
    line: int
    timestamp: datetime | None = None
    count: int = 1
    user: str | None = None


def read_queries(path: str | Path, dialect: str = "spark") -> Workload:
    """Read the queries of a file; statements that are broken are kept aside with their reasons.

    ``path`` is a ``.sql`` file, a ``.jsonl`` file, or a ``.csv`` or ``.parquet`` export. ``dialect`` is the
    SQL dialect of the file, by any name that sqlglot knows.
    """
    source = Path(path)
    reader = _READERS.get(source.suffix.lower())
    if reader is None:
        known = ", ".join(_READERS)
        raise SkipstoneError(f"The name of the query file {source} must end in one of {known}.")
    if not source.exists():
        raise SkipstoneError(f"The query file {source} does not exist.")
    translate = _translator(dialect)
    backslash = _backslash_escapes(dialect)
    queries: list[Query] = []
    broken: list[BrokenQuery] = []
    position = 0
    for entry in reader(source):
        statements = split_statements(entry.text, backslash)
        for statement in statements:
            position += 1
            line = entry.line + statement.line - 1
            try:
                sql = statement.sql if statement.problem else translate(statement.sql)
            except ValueError as error:
                broken.append(BrokenQuery(statement.sql, str(error), position, line))
                continue
            if statement.problem:
                broken.append(BrokenQuery(statement.sql, statement.problem, position, line))
            else:
                queries.append(Query(sql, entry.timestamp, entry.count, entry.user, position, line))
        if not statements and source.suffix.lower() != ".sql":
            position += 1
            broken.append(BrokenQuery(entry.text, "the statement is empty", position, entry.line))
    return Workload(tuple(queries), tuple(broken))


def _translator(dialect: str) -> Callable[[str], str]:
    if dialect.lower() == "spark":
        return lambda sql: sql
    import sqlglot  # only other dialects pay for its import

    if dialect.lower() not in sqlglot.Dialect.classes:
        known = ", ".join(sorted(name for name in sqlglot.Dialect.classes if name))
        raise SkipstoneError(f"The SQL dialect {dialect} is not known; use one of {known}.")

    def translate(sql: str) -> str:
        try:
            return sqlglot.transpile(
                sql, read=dialect.lower(), write="spark", unsupported_level=sqlglot.ErrorLevel.IGNORE
            )[0]
        except sqlglot.errors.SqlglotError as error:
            first = str(error).splitlines()[0]
            raise ValueError(re.sub(r"\x1b\[\d+m", "", first).rstrip(". ")) from error

    return translate


def _backslash_escapes(dialect: str) -> bool:
    if dialect.lower() == "spark":
        return True
    import sqlglot

    return "\\" in sqlglot.Dialect.get_or_raise(dialect.lower()).tokenizer_class.STRING_ESCAPES


def _read_sql(path: Path) -> Iterator[_Entry]:
    for file in _parts(path):
        yield _Entry(_text(file), str(file), 1)


def _read_jsonl(path: Path) -> Iterator[_Entry]:
    for file in _parts(path):
        for number, line in enumerate(_text(file).split("\n"), start=1):
            if not line.strip():
                continue
            where = f"line {number} of {file}"
            try:
                record = json.loads(line)
            except ValueError as error:
                raise SkipstoneError(f"{where} is not valid JSON: {error}.") from error
            if not isinstance(record, dict) or not isinstance(record.get("sql"), str):
                raise SkipstoneError(f"{where} is not a JSON object with a text field named sql.")
            yield _entry(record, "sql", where, number)


def _read_csv(path: Path) -> Iterator[_Entry]:
    # Statements can be longer than the csv module's default of 128 KB.
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    for file in _parts(path):
        rows = csv.DictReader(_text(file).splitlines(keepends=True), strict=True)
        try:
            column = _statement_column(rows.fieldnames or (), file)
            for row in rows:
                where = f"the record that ends on line {rows.line_num} of {file}"
                yield _entry(row, column, where, rows.line_num)
        except csv.Error as error:
            problem = f"{error} on line {rows.line_num}"
            raise SkipstoneError(f"{file} is not a valid CSV file: {problem}.") from error


def _read_parquet(path: Path) -> Iterator[_Entry]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise SkipstoneError(f"{path} is not a Parquet file that can be read: {error}.") from error
    column = _statement_column(table.column_names, path)
    for number, row in enumerate(table.to_pylist(), start=1):
        yield _entry(row, column, f"row {number} of {path}", number)


def _parts(path: Path) -> list[Path]:
    """The file itself, or the part files of a directory as Spark writes it."""
    if path.is_file():
        return [path]
    return sorted(file for file in path.iterdir() if file.is_file() and file.name[0] not in "._")


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise SkipstoneError(f"{path} is not a UTF-8 text file (byte {error.start}).") from error
    except OSError as error:
        raise SkipstoneError(f"{path} cannot be read: {error.strerror}.") from error


def _statement_column(names: Any, path: Path) -> str:
    by_lower = {str(name).strip().lower(): name for name in names}
    for wanted in _STATEMENT:
        if wanted in by_lower:
            return str(by_lower[wanted])
    raise SkipstoneError(f"{path} has no statement column; one of {', '.join(_STATEMENT)} is needed.")


def _entry(record: Mapping[str, Any], column: str, where: str, line: int) -> _Entry:
    by_lower = {str(name).strip().lower(): value for name, value in record.items()}
    statement = record[column]
    if statement is not None and not isinstance(statement, str):
        raise SkipstoneError(f"{where} has a statement that is not text.")
    user = _first(by_lower, _USER)
    return _Entry(
        statement or "",
        where,
        line,
        _timestamp(_first(by_lower, _TIMESTAMP), where),
        _count(_first(by_lower, _COUNT), where),
        None if user is None else str(user),
    )


def _first(record: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((record[name] for name in names if record.get(name) not in (None, "")), None)


def _count(value: Any, where: str) -> int:
    try:
        count = 1 if value is None else int(value)
    except (TypeError, ValueError):
        count = 0
    if count < 1 or isinstance(value, bool):
        raise SkipstoneError(f"{where} has a count that is not a positive whole number: {value!r}.")
    return count


def _timestamp(value: Any, where: str) -> datetime | None:
    """ISO text, a datetime, or seconds or milliseconds since 1970; without a zone it is UTC."""
    try:
        if value is None or isinstance(value, datetime):
            parsed = value
        elif isinstance(value, str) and not re.fullmatch(r"\d+(\.\d+)?", value.strip()):
            parsed = datetime.fromisoformat(value.strip())
        else:
            number = float(value)
            parsed = datetime.fromtimestamp(number / 1000 if number >= _MILLISECONDS_FROM else number, UTC)
    except (TypeError, ValueError, OverflowError, OSError) as error:
        raise SkipstoneError(f"{where} has a timestamp that cannot be read: {value!r}.") from error
    return parsed.replace(tzinfo=UTC) if parsed is not None and parsed.tzinfo is None else parsed


_READERS: Mapping[str, Callable[[Path], Iterator[_Entry]]] = {
    ".sql": _read_sql,
    ".jsonl": _read_jsonl,
    ".csv": _read_csv,
    ".parquet": _read_parquet,
}
