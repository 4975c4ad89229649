"""The options by which commands say how blocks are made and features are mined."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated

import typer

from skipstone.arguments import bounds_of
from skipstone.cli.completion import (
    complete_balance,
    complete_grouping,
    complete_inner,
    complete_reconstruction,
)

__all__ = ["Balance", "BlockOptions", "BlockRows", "Keys", "NumFeatures", "OwnOptions", "given_options"]

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
class OwnOptions:
    """What only the layouts hyper and gsop can be asked for."""

    balance: Balance = None
    keys: Keys = None
    grouping: Annotated[
        str | None,
        typer.Option(
            help="search, one, single, hillclimb or hyrise: how gsop groups columns; search if not given.",
            autocompletion=complete_grouping,
        ),
    ] = None
    inner: Annotated[
        str | None,
        typer.Option(
            help="The layout inside a column group of gsop; sop if not given.", autocompletion=complete_inner
        ),
    ] = None
    reconstruction: Annotated[
        str | None,
        typer.Option(
            help="measured or sort-merge: what gsop takes putting tuples together to cost; measured if not "
            "given.",
            autocompletion=complete_reconstruction,
        ),
    ] = None
    estimation: Annotated[
        str | None,
        typer.Option(
            help="blocks, exact or selectivity: how gsop foresees what is read of groups; blocks if not "
            "given."
        ),
    ] = None
    max_vectors: Annotated[
        int | None,
        typer.Option(help="Distinct feature vectors that gsop blocks a column group by; 3000 if not given."),
    ] = None

    def given(self) -> dict[str, str]:
        """Those of them that were given."""
        return given_options(**{each.name: getattr(self, each.name) for each in fields(OwnOptions)})


def given_options(**options: str | int | None) -> dict[str, str]:
    """Those of the options of single layouts that were given."""
    return {name: str(text) for name, text in options.items() if text is not None}


@dataclass(frozen=True, slots=True)
class BlockOptions:
    """What any layout can be asked for."""

    block_rows: BlockRows = None
    partition_by: Annotated[
        str | None,
        typer.Option(metavar="SQL", help="Make blocks inside each value of this column or expression."),
    ] = None
    num_features: NumFeatures = None
