"""The options that ``analyze``, ``advise`` and ``optimize`` share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import skipstone
from skipstone.cli.completion import complete_dialect

if TYPE_CHECKING:
    from skipstone.workload import Workload

__all__ = ["BlockRows", "Dialect", "NumFeatures", "PartitionBy", "Queries", "read_workload"]

Queries = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="A .sql, .jsonl, .csv or .parquet file; if not given, the table's own log."
    ),
]
Dialect = Annotated[str, typer.Option(help="The SQL dialect of the log.", autocompletion=complete_dialect)]
BlockRows = Annotated[int | None, typer.Option(min=1, help="Rows in a block; chosen by size if not given.")]
PartitionBy = Annotated[
    str | None,
    typer.Option(metavar="SQL", help="Make blocks inside each value of this column or expression."),
]
NumFeatures = Annotated[
    int | None, typer.Option(min=1, help="How many features to mine; cross-validated if not given.")
]


def read_workload(queries: Path | None, dialect: str) -> Workload | None:
    """The query file; None for the table's own log."""
    return None if queries is None else skipstone.read_queries(queries, dialect)
