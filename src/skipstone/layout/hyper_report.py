"""What a hyper-partitioning tree gives each attribute, for people and for the record of the layout.

Of several trees, one in each horizontal partition, the figures are means by their rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skipstone.catalog.logical_names import LogicalNames
from skipstone.layout.allocation import robustness
from skipstone.layout.hyper_tree import GrownTree
from skipstone.predicate.expr import Expr

__all__ = ["Described", "TreeReport", "described"]

_MOST_NAMED = 3


@dataclass(frozen=True, slots=True, eq=False)
class TreeReport:
    """One tree: its sampled rows, its depth, and of each attribute the allocation and the share scanned."""

    rows: int
    depth: int
    uncut: int
    allocation: Mapping[Expr, float]
    scanned: Mapping[Expr, float]

    @classmethod
    def of(cls, grown: GrownTree, attributes: Sequence[Expr], scanned: npt.NDArray[np.float64]) -> TreeReport:
        """The report on a tree of these attributes."""
        allocation = dict(zip(attributes, grown.allocation.shares.tolist(), strict=True))
        shares = dict(zip(attributes, scanned.tolist(), strict=True))
        rows = sum(len(leaf) for leaf in grown.leaves)
        return cls(rows, grown.depth, grown.uncut, allocation, shares)

    @classmethod
    def of_one_block(cls, rows: int) -> TreeReport:
        """The report on rows that no attribute can cut."""
        return cls(rows, 0, 1, {}, {})


@dataclass(frozen=True, slots=True)
class Described:
    """The parameters of a design, and its note."""

    parameters: dict[str, object]
    note: str


def described(reports: Sequence[TreeReport], left_out: Mapping[Expr, str], names: LogicalNames) -> Described:
    """What to store and to say of these trees; there may be none where all blocks are partitions."""
    every = dict.fromkeys(expr for report in reports for expr in report.allocation)
    allocation = {expr: _mean(reports, [it.allocation.get(expr, 0.0) for it in reports]) for expr in every}
    scanned = {expr: _mean(reports, [each.scanned.get(expr, 1.0) for each in reports]) for expr in every}
    robust = robustness(np.array(list(allocation.values())))
    uncut = sum(report.uncut for report in reports)
    left = {names.sql(expr): why for expr, why in left_out.items()}
    parameters: dict[str, object] = {
        "levels": max((report.depth for report in reports), default=0),
        "allocation": {names.sql(expr): round(share, 6) for expr, share in allocation.items()},
        "robustness": None if robust is None else round(robust, 6),
        "scanned_by_ranges": {names.sql(expr): round(share, 6) for expr, share in scanned.items()},
        "left_out": left,
        "uncut": uncut,
    }
    parts = [_allocated(allocation, robust), _scanned(scanned, names)]
    if left:
        parts.append(f"left out: {_listed([f'{name} ({why})' for name, why in left.items()])}")
    if uncut:
        parts.append(
            f"larger because no column can cut them: {uncut:,} {'block' if uncut == 1 else 'blocks'}"
        )
    return Described(parameters, "; ".join(part for part in parts if part))


def _mean(reports: Sequence[TreeReport], values: Sequence[float]) -> float:
    return float(np.average(values, weights=[report.rows for report in reports]))


def _allocated(allocation: Mapping[Expr, float], robust: float | None) -> str:
    if not allocation:
        return ""
    least, most = min(allocation.values()), max(allocation.values())
    even = "the same for all" if robust is None else f"robustness {robust:.1f}"
    columns = f"{len(allocation):,} {'column' if len(allocation) == 1 else 'columns'}"
    return f"{columns}, allocation {least:.2f} to {most:.2f}, {even}"


def _scanned(scanned: Mapping[Expr, float], names: LogicalNames) -> str:
    if not scanned:
        return ""
    worst = max(scanned, key=lambda expr: scanned[expr])
    mean = sum(scanned.values()) / len(scanned)
    return (
        f"a range of a twentieth of one column scans about {100 * mean:.0f} % of the rows, "
        f"{100 * scanned[worst]:.0f} % at worst ({names.sql(worst)})"
    )


def _listed(items: Sequence[str]) -> str:
    more = len(items) - _MOST_NAMED
    return ", ".join(items[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
