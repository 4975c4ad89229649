"""What a user may ask of a layout."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from skipstone.arguments import checked

__all__ = ["SAMPLE_ROWS", "LayoutOptions"]

SAMPLE_ROWS = 300_000
"""Rows that suffice to fit any layout."""


@dataclass(frozen=True, slots=True)
class LayoutOptions:
    """None means: choose for me. ``own`` are options that only one layout has, such as selforg's curve.

    ``rough`` is for estimates only: features are not checked to be what Spark reads back.
    """

    block_rows: int | None = None
    partition_by: str | None = None
    num_features: int | None = None
    threshold: float | None = None
    leave_out_dates: bool = False
    sample_rows: int = SAMPLE_ROWS
    seed: int = 0
    rough: bool = False
    own: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse numbers out of range."""
        numbers = checked(
            block_rows=self.block_rows,
            num_features=self.num_features,
            threshold=self.threshold,
            sample_rows=self.sample_rows,
        )
        for name, value in numbers.items():
            object.__setattr__(self, name, value)
