"""The options by which commands take queries: a file, or the table's own log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import skipstone
from skipstone.cli.completion import complete_dialect
from skipstone.cli.output import warn
from skipstone.view import count

if TYPE_CHECKING:
    from skipstone.workload import BrokenQuery, Workload

__all__ = ["QueryFile", "QueryFileOrLog", "named_file", "unused_json", "warn_of_unused"]

_FILES = (
    "A .sql, .jsonl, .json, .csv or .parquet file, or .gz of one; a directory of them; - for standard input"
)
_MOST_NAMED = 20

Dialect = Annotated[str, typer.Option(help="The SQL dialect of the log.", autocompletion=complete_dialect)]
Column = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The column or field of the statements; statement_text, query_text or sql if not given.",
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="sql, jsonl, json, csv or parquet; by the name of the file if not given, or by its content.",
    ),
]


@dataclass(frozen=True, slots=True)
class QueryFile:
    """A file of queries, which must be given."""

    queries: Annotated[Path, typer.Option("--queries", metavar="FILE", help=f"{_FILES}.")]
    dialect: Dialect = "spark"
    column: Column = None
    format: Format = None

    def read(self) -> Workload:
        """The queries of the file."""
        return skipstone.read_queries(self.queries, self.dialect, self.column, self.format)


@dataclass(frozen=True, slots=True)
class QueryFileOrLog:
    """A file of queries; without one the table's own log is meant."""

    queries: Annotated[
        Path | None,
        typer.Option("--queries", metavar="FILE", help=f"{_FILES}; if not given, the table's own log."),
    ] = None
    dialect: Dialect = "spark"
    column: Column = None
    format: Format = None

    def read(self) -> Workload | None:
        """The queries of the file; None for the table's own log."""
        if self.queries is None:
            return None
        return skipstone.read_queries(self.queries, self.dialect, self.column, self.format)


def named_file(queries: Path | None) -> str:
    """What a query file is called in a sentence."""
    if queries is None:
        return "the query log"
    from skipstone.workload.query_files import STANDARD_INPUT, is_standard_input

    return STANDARD_INPUT if is_standard_input(queries) else str(queries)


def unused_json(unused: Sequence[BrokenQuery]) -> dict[str, object]:
    """The statements that are broken or left out, for JSON."""
    from skipstone.workload.queries import broken_and_left_out

    return dict(broken_and_left_out(unused))


def warn_of_unused(queries: Path | None, unused: Sequence[BrokenQuery]) -> None:
    """Name the statements that are broken or left out; of very many, the first."""
    for statement in unused[:_MOST_NAMED]:
        warn(f"{named_file(queries)}, {statement}")
    if len(unused) > _MOST_NAMED:
        warn(f"{named_file(queries)}: {count(len(unused) - _MOST_NAMED, 'further statement')} not used.")
