"""The options that ``analyze``, ``advise`` and ``optimize`` share."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

import skipstone
from skipstone.cli.output import warn
from skipstone.workload import Workload
from skipstone.workload.queries import BrokenQuery

__all__ = ["BlockRows", "Dialect", "NumFeatures", "PartitionBy", "Queries", "read_workload", "warn_unusable"]

Queries = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="A .sql, .jsonl, .csv or .parquet file; if not given, the table's own log."
    ),
]
Dialect = Annotated[str, typer.Option(help="The SQL dialect of the log.")]
BlockRows = Annotated[int | None, typer.Option(min=1, help="Rows in a block; chosen by size if not given.")]
PartitionBy = Annotated[
    str | None,
    typer.Option(metavar="SQL", help="Make blocks inside each value of this column or expression."),
]
NumFeatures = Annotated[
    int | None, typer.Option(min=1, help="How many features to mine; cross-validated if not given.")
]


def warn_unusable(queries: Path | None, unusable: Iterable[BrokenQuery]) -> None:
    """Name the statements that cannot be used, or not wholly."""
    for broken in unusable:
        warn(f"{queries or 'the query log'}, {broken}")


def read_workload(queries: Path | None, dialect: str) -> Workload | None:
    """The query file; None for the table's own log."""
    return None if queries is None else skipstone.read_queries(queries, dialect)
