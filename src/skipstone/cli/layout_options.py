"""The options that ``analyze``, ``advise`` and ``optimize`` share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import skipstone
from skipstone.arguments import bounds_of
from skipstone.cli.completion import complete_dialect
from skipstone.cli.output import warn
from skipstone.view import count

if TYPE_CHECKING:
    from skipstone.workload import BrokenQuery, Workload

__all__ = [
    "BlockRows",
    "Column",
    "Dialect",
    "Format",
    "NumFeatures",
    "PartitionBy",
    "Queries",
    "QueryPath",
    "named_file",
    "read_workload",
    "unused_json",
    "warn_of_unused",
]

_FILES = (
    "A .sql, .jsonl, .json, .csv or .parquet file, or .gz of one; a directory of them; - for standard input"
)
_MOST_NAMED = 20

QueryPath = Annotated[Path, typer.Option("--queries", metavar="FILE", help=f"{_FILES}.")]
Queries = Annotated[
    Path | None,
    typer.Option("--queries", metavar="FILE", help=f"{_FILES}; if not given, the table's own log."),
]
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
BlockRows = Annotated[
    int | None, typer.Option(**bounds_of("block_rows"), help="Rows in a block; chosen by size if not given.")
]
PartitionBy = Annotated[
    str | None,
    typer.Option(metavar="SQL", help="Make blocks inside each value of this column or expression."),
]
NumFeatures = Annotated[
    int | None,
    typer.Option(
        **bounds_of("num_features"), help="How many features to mine; cross-validated if not given."
    ),
]


def read_workload(
    queries: Path | None, dialect: str, column: str | None, format: str | None
) -> Workload | None:
    """The query file; None for the table's own log."""
    return None if queries is None else skipstone.read_queries(queries, dialect, column, format)


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
