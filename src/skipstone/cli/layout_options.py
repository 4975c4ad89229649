"""The options by which commands say how blocks are made and features are mined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from skipstone.arguments import bounds_of
from skipstone.cli.completion import complete_balance

__all__ = ["Balance", "BlockOptions", "BlockRows", "HyperOptions", "Keys", "NumFeatures", "given_options"]

BlockRows = Annotated[
    int | None, typer.Option(**bounds_of("block_rows"), help="Rows in a block; chosen by size if not given.")
]
NumFeatures = Annotated[
    int | None,
    typer.Option(
        **bounds_of("num_features"), help="How many features to mine; cross-validated if not given."
    ),
]

Balance = Annotated[
    str | None,
    typer.Option(
        help="allocation, worst or cyclic: how hyper shares its cuts among columns; allocation if not given.",
        autocompletion=complete_balance,
    ),
]
Keys = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES", help="Join keys, as in a,b: hyper cuts by these first, where tables agree."
    ),
]


@dataclass(frozen=True, slots=True)
class HyperOptions:
    """What only the layout hyper can be asked for."""

    balance: Balance = None
    keys: Keys = None


def given_options(**options: str | None) -> dict[str, str]:
    """Those of the options of single layouts that were given."""
    return {name: text for name, text in options.items() if text is not None}


@dataclass(frozen=True, slots=True)
class BlockOptions:
    """What any layout can be asked for."""

    block_rows: BlockRows = None
    partition_by: Annotated[
        str | None,
        typer.Option(metavar="SQL", help="Make blocks inside each value of this column or expression."),
    ] = None
    num_features: NumFeatures = None
