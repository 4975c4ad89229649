"""Hyper-partitioning: a layout for queries that nobody knows yet. Every attribute gets its fair share.

"Robust Data Partitioning for Ad-hoc Query Processing" (Nguyen, MIT 2015), chapter 3. A binary tree cuts the
table by all its columns at once. Each node cuts the attribute that has been allocated least so far
(:mod:`~skipstone.layout.allocation`), near the median of its sampled rows
(:mod:`~skipstone.layout.nearest_cut`); its leaves are blocks of equal size
(:mod:`~skipstone.layout.hyper_tree`). A range query on any column then skips some blocks, and none reads all.

What differs from the thesis (ADR 12): the number of blocks is that which was wanted, not the power of two
below; columns with few values or NULLs, which have no median to cut at, give way to others; and

* ``balance=worst`` looks at what range queries would scan instead of at allocation, so that columns which go
  along with each other share their cuts (:mod:`~skipstone.layout.extents`);
* ``keys`` are join keys that get the first levels of the tree, cut at places that tables share
  (:mod:`~skipstone.layout.shared_grid`);
* ``balance=cyclic`` is the conventional k-d tree, for comparison.

Pruning needs no tree. The files' minima and maxima are at least as narrow as the cuts that lead to them, but
for texts whose first 64 characters agree, which is all that is kept of bounds; for such cuts the blocks keep
bits instead (:mod:`~skipstone.layout.long_text_cuts`).

Cost: see :mod:`~skipstone.layout.hyper_tree`; with ``worst`` as many times more as there are attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from skipstone.errors import SkipstoneError
from skipstone.layout.assignment import Tree
from skipstone.layout.attributes import Attribute, attributes
from skipstone.layout.contract import ColumnGroup, Design, Needs
from skipstone.layout.discriminators import Cyclic, LeastAllocated
from skipstone.layout.extents import LeastWorst, RangeNumbers, shares_scanned
from skipstone.layout.hyper_report import TreeReport, described
from skipstone.layout.hyper_tree import Discriminator, grow_tree
from skipstone.layout.in_partitions import in_partitions
from skipstone.layout.long_text_cuts import long_text_cuts
from skipstone.layout.named_columns import named_columns
from skipstone.layout.own_options import names, number, option, whole_number
from skipstone.layout.shared_grid import JoinKeys
from skipstone.layout.table_view import FitWorkload, TableView
from skipstone.predicate.expr import Column, Expr, type_of

__all__ = ["BALANCES", "HYPER", "Hyper", "HyperOptions"]

BALANCES = ("allocation", "worst", "cyclic")
"""What is balanced among attributes: their allocation, what the worst of them scans, or the levels."""
_MOST_POWER = 64.0


@dataclass(frozen=True, slots=True)
class HyperOptions:
    """``balance`` says how discriminators are chosen, and ``power`` how much ``worst`` favours the worst.

    ``columns`` are the attributes, all columns without them. ``keys`` are join keys, to which the first
    ``key_levels`` levels belong, by default half of all levels.
    """

    balance: str = option(BALANCES[0], str)
    power: float = option(12.0, number)
    keys: tuple[str | Expr, ...] = option((), names)
    key_levels: int | None = option(None, whole_number)
    columns: tuple[str | Expr, ...] = option((), names)

    def __post_init__(self) -> None:
        """Refuse what there is not."""
        if self.balance not in BALANCES:
            raise SkipstoneError(f"There is no balance {self.balance}; choose one of {', '.join(BALANCES)}.")
        if not 1.0 <= self.power <= _MOST_POWER:
            raise SkipstoneError(f"power must be from 1 to {_MOST_POWER:g}, and it is {self.power:g}.")
        if self.key_levels is not None and not (self.key_levels >= 1 and self.keys):
            raise SkipstoneError("key_levels is the number of levels for keys, one at least; name keys too.")


@dataclass(frozen=True, slots=True)
class Hyper:
    """The layout."""

    name: str = "hyper"

    @property
    def options(self) -> type[HyperOptions]:
        """How attributes are balanced, and which there are."""
        return HyperOptions

    def needs(self, options: HyperOptions) -> Needs:
        """No queries, but every column."""
        del options
        return Needs(all_columns=True)

    def fit(self, view: TableView, workload: FitWorkload | None, options: HyperOptions) -> Design:
        """Grow a tree, or one inside each horizontal partition; the workload is not looked at."""
        del workload
        keys = named_columns(options.keys, view)
        wanted = tuple(dict.fromkeys((*named_columns(options.columns, view), *keys)))
        if not options.columns:
            wanted = _every_column(view)
        _, left_out = attributes(view.sample.columns, wanted)
        if len(left_out) == len(wanted):
            raise SkipstoneError(
                "No column can be cut: each has one value, or only NULL, in all sampled rows; there is "
                "nothing to rearrange."
            )
        reports: list[TreeReport] = []

        def fit_part(part: TableView, _: object) -> Design:
            tree, report = _fit(part, wanted, keys, options)
            reports.append(report)
            return Design((ColumnGroup(tree, features=long_text_cuts(tree)),))

        design = in_partitions(view, fit_part)
        summary = described(reports, left_out, view.names)
        parameters = {**design.parameters, **summary.parameters, "balance": options.balance}
        group = replace(
            design.group, expressions=tuple(expr for expr in wanted if not isinstance(expr, Column))
        )
        return Design((group,), parameters, summary.note)


HYPER = Hyper()


def _every_column(view: TableView) -> tuple[Expr, ...]:
    """All columns with an order; expressions that queries compare are none."""
    return tuple(expr for expr in view.sample.columns if isinstance(expr, Column) and type_of(expr).ordered)


def _fit(
    view: TableView, wanted: Sequence[Expr], keys: Sequence[Expr], options: HyperOptions
) -> tuple[Tree, TreeReport]:
    found, _ = attributes(view.sample.columns, wanted)
    if not found:
        return Tree(0, 1), TreeReport.of_one_block(len(view.sample))
    ranges = RangeNumbers.of([each.codes for each in found], [each.null for each in found])
    chooser = _with_keys(view, _chooser(found, ranges, options), found, keys, options)
    grown = grow_tree(found, view.blocks, chooser)
    report = TreeReport.of(grown, [each.expr for each in found], shares_scanned(ranges, grown.leaves))
    return grown.tree, report


def _chooser(found: tuple[Attribute, ...], ranges: RangeNumbers, options: HyperOptions) -> Discriminator:
    if options.balance == "worst":
        return LeastWorst(found, ranges, options.power)
    return Cyclic(found) if options.balance == "cyclic" else LeastAllocated(found)


def _with_keys(
    view: TableView,
    others: Discriminator,
    found: tuple[Attribute, ...],
    keys: Sequence[Expr],
    options: HyperOptions,
) -> Discriminator:
    numbers = tuple(index for key in keys for index, each in enumerate(found) if each.expr == key)
    if not numbers:
        return others
    half = max(len(numbers), int(np.ceil(np.log2(max(view.blocks, 2)))) // 2)
    return JoinKeys(found, numbers, options.key_levels or half, others)
