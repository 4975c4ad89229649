"""The options that ``analyze``, ``advise`` and ``optimize`` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["BlockRows", "Dialect", "NumFeatures", "PartitionBy", "Queries"]

Queries = Annotated[
    Path, typer.Option(metavar="FILE", help="The query log: a .sql, .jsonl, .csv or .parquet file.")
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
