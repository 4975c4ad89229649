"""Query logs from files: ``.sql``, ``.jsonl``, ``.json``, ``.csv`` and ``.parquet``, or ``.gz`` of them.

A file that cannot be read as what its name says is an error in one sentence. A record or a statement that is
broken is not: it is kept aside with its reason, and the rest is used. So are statements that failed in the
engine that they were logged by, for they are no load. Statements in Spark's own dialect are not parsed here;
Catalyst does that later, against the tables' schemas. Other dialects are translated first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from skipstone.errors import SkipstoneError
from skipstone.workload.queries import BrokenQuery, LeftOut, Query, Workload
from skipstone.workload.query_files import STATEMENT_COLUMNS, QueryFile, query_files
from skipstone.workload.query_records import UNREADABLE, Record, records_of
from skipstone.workload.statements import Statement, split_statements

__all__ = ["read_queries"]


def read_queries(
    path: str | Path, dialect: str = "spark", column: str | None = None, format: str | None = None
) -> Workload:
    """Read a query log from a file, from the files of a directory, or from standard input (``-``).

    A file is ``.sql``, ``.jsonl``, ``.json``, ``.csv`` or ``.parquet``, or ``.gz`` of one. Statements that
    are broken, or that failed in their engine, are kept aside with their reasons.
    ``dialect`` is any name that sqlglot knows, ``column`` the column or field of the statements if it has an
    unusual name, and ``format`` one of sql, jsonl, json, csv and parquet if the file's name does not say.
    """
    splitter = _Splitter(dialect)
    columns = STATEMENT_COLUMNS if column is None else (column,)
    found: list[Query | BrokenQuery] = []
    unread: list[BrokenQuery] = []
    in_directory = Path(path).is_dir()
    for file in query_files(path, columns, format):
        name = file.name if in_directory and file.path is None else None
        if file.problem:
            unread.append(BrokenQuery("", file.problem, file=name))
            continue
        try:
            for record in _readable_records(file, columns):
                found += _statements(splitter, file, record, len(found) + 1, name)
        except SkipstoneError as problem:
            if name is None:
                raise
            unread.append(BrokenQuery("", str(problem).removeprefix(f"{name} ").rstrip("."), file=name))
    return Workload(
        tuple(each for each in found if isinstance(each, Query)),
        (*unread, *(each for each in found if not isinstance(each, Query))),
    )


def _readable_records(file: QueryFile, columns: Sequence[str]) -> list[Record]:
    """The records of a file; if none can be read, the file is not what it is taken for."""
    records = list(records_of(file, columns))
    if records and all(record.problem for record in records):
        first = records[0]
        where = f"record 1 (line {first.line})" if first.line else "record 1"
        raise SkipstoneError(f"{file.name} has no record that can be read; {where}: {first.problem}.")
    return records


def _statements(
    splitter: _Splitter, file: QueryFile, record: Record, position: int, name: str | None
) -> Iterator[Query | BrokenQuery]:
    """The statements of a record, numbered from ``position`` on."""
    if record.problem:
        yield BrokenQuery(_readable(record.text), record.problem, position, record.line, name)
        return
    statements = splitter.split(record.text)
    if not statements and file.format != "sql":
        yield BrokenQuery(_readable(record.text), "the statement is empty", position, record.line, name)
    for number, statement in enumerate(statements, position):
        line = None if record.line is None else record.line + statement.line - 1
        text = _readable(statement.sql)
        if record.failed:
            yield LeftOut(text, f"its engine ended it as {record.failed}", number, line, name)
            continue
        try:
            sql = splitter.translate(statement)
        except ValueError as error:
            yield BrokenQuery(text, str(error), number, line, name)
            continue
        yield Query(sql, record.timestamp, record.count, record.user, number, line, name)


def _readable(text: str) -> str:
    return UNREADABLE.sub("\N{REPLACEMENT CHARACTER}", text)


class _Splitter:
    """Splits text of one dialect into statements and translates these into Spark's."""

    def __init__(self, dialect: str) -> None:
        self._translate = _translator(dialect)
        self._backslash = _backslash_escapes(dialect)

    def split(self, text: str) -> list[Statement]:
        return split_statements(text, self._backslash)

    def translate(self, statement: Statement) -> str:
        """The statement for Spark; a ValueError says what is wrong with it."""
        if UNREADABLE.search(statement.sql):
            raise ValueError("it has bytes that are not UTF-8 text")
        if statement.problem:
            raise ValueError(statement.problem)
        return self._translate(statement.sql)


def _translator(dialect: str) -> Callable[[str], str]:
    if dialect.lower() == "spark":
        return lambda sql: sql
    import sqlglot  # only other dialects pay for its import

    if dialect.lower() not in sqlglot.Dialect.classes:
        known = ", ".join(sorted(name for name in sqlglot.Dialect.classes if name))
        raise SkipstoneError(f"The SQL dialect {dialect} is not known; use one of {known}.")

    def translate(sql: str) -> str:
        try:
            translated = sqlglot.transpile(
                sql, read=dialect.lower(), write="spark", unsupported_level=sqlglot.ErrorLevel.IGNORE
            )
        except sqlglot.errors.SqlglotError as error:
            first = str(error).splitlines()[0]
            raise ValueError(re.sub(r"\x1b\[\d+m", "", first).rstrip(". ")) from error
        if len(translated) != 1 or not translated[0].strip():
            raise ValueError(f"sqlglot makes {len(list(filter(None, translated)))} statements of it, not one")
        return translated[0]

    return translate


def _backslash_escapes(dialect: str) -> bool:
    if dialect.lower() == "spark":
        return True
    import sqlglot

    return "\\" in sqlglot.Dialect.get_or_raise(dialect.lower()).tokenizer_class.STRING_ESCAPES
