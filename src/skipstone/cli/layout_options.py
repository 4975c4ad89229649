"""The options by which commands say how blocks are made and features are mined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from skipstone.arguments import bounds_of

__all__ = ["BlockOptions", "BlockRows", "NumFeatures"]

BlockRows = Annotated[
    int | None, typer.Option(**bounds_of("block_rows"), help="Rows in a block; chosen by size if not given.")
]
NumFeatures = Annotated[
    int | None,
    typer.Option(
        **bounds_of("num_features"), help="How many features to mine; cross-validated if not given."
    ),
]


@dataclass(frozen=True, slots=True)
class BlockOptions:
    """What any layout can be asked for."""

    block_rows: BlockRows = None
    partition_by: Annotated[
        str | None,
        typer.Option(metavar="SQL", help="Make blocks inside each value of this column or expression."),
    ] = None
    num_features: NumFeatures = None
