"""The one contract of all layouts: a reduced view of a table and of its workload in, a design out.

A design has one or more column groups. Each has an assignment of its own, so the same row may lie in
different blocks in different groups; all layouts of whole rows have one group with all columns.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from skipstone.errors import SkipstoneError
from skipstone.layout.assignment import Assignment
from skipstone.layout.assignment_checks import check_predicate, check_writable, require
from skipstone.layout.table_view import FitWorkload, TableView
from skipstone.predicate.expr import Expr
from skipstone.pruning.blocks import Feature

__all__ = ["AnyLayout", "ColumnGroup", "Design", "Layout", "Needs", "needed_workload"]

Options = TypeVar("Options")


@dataclass(frozen=True, slots=True, eq=False)
class ColumnGroup:
    """Columns that lie together in blocks, all of them when ``columns`` is None; else their stored names.

    Rows inside a block of several pages are sorted by ``sort``. Union vectors are kept for ``features`` and
    statistics for ``expressions``, besides those of the columns.
    """

    assignment: Assignment
    sort: tuple[Expr, ...] = ()
    features: tuple[Feature, ...] = ()
    expressions: tuple[Expr, ...] = ()
    columns: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse a group without columns, and what Spark cannot compute."""
        require(self.columns is None or len(self.columns) > 0, "a column group has at least one column")
        for expr in (*self.sort, *self.expressions):
            check_writable(expr)
        for feature in self.features:
            check_predicate(feature.predicate)


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """A fitted layout.

    ``parameters`` can be written as JSON; ``note`` is a sentence about what was chosen.
    """

    groups: tuple[ColumnGroup, ...]
    parameters: Mapping[str, object] = field(default_factory=dict)
    note: str = ""

    def __post_init__(self) -> None:
        """Refuse a design without groups, groups that overlap, and parameters that are no JSON."""
        require(len(self.groups) > 0, "a design has at least one column group")
        if len(self.groups) > 1:
            columns = [column for group in self.groups for column in group.columns or ()]
            every = all(group.columns is not None for group in self.groups)
            require(every and len(columns) == len(set(columns)), "column groups do not overlap")
        try:
            json.dumps(self.parameters)
        except (TypeError, ValueError) as problem:
            raise ValueError(f"the parameters of a design are JSON: {problem}") from problem

    @property
    def group(self) -> ColumnGroup:
        """The only column group, of designs of whole rows."""
        if len(self.groups) > 1:
            raise SkipstoneError(
                f"A design of {len(self.groups)} column groups cannot be used where whole rows are laid out."
            )
        return self.groups[0]


@dataclass(frozen=True, slots=True)
class Needs:
    """What a layout has to be given, besides a sample of what the workload filters on.

    ``workload``: it cannot be fitted without queries. ``vector_counts``: it is best fitted on the feature
    vectors of all rows. ``all_columns``: the sample has all columns whose values have an order. ``replica``:
    what it makes can only be a replica, for a table has one order of rows.
    """

    workload: bool = False
    vector_counts: bool = False
    all_columns: bool = False
    replica: bool = False


class Layout(Protocol[Options]):
    """A strategy for laying a table out, with options of its own (:mod:`~skipstone.layout.own_options`)."""

    @property
    def name(self) -> str:
        """What users call it."""
        ...

    @property
    def options(self) -> type[Options]:
        """The dataclass of its options; made without arguments it has the defaults."""
        ...

    def needs(self, options: Options) -> Needs:
        """What it needs with these options."""
        ...

    def fit(self, view: TableView, workload: FitWorkload | None, options: Options) -> Design:
        """Fit it; raises SkipstoneError with one sentence when that makes no sense."""
        ...


AnyLayout = Layout[Any]
"""A layout of which only the name is known; its options come from :func:`~.layouts.layout_options`."""


def needed_workload(workload: FitWorkload | None, layout: str) -> FitWorkload:
    """The workload of a layout that cannot do without."""
    if workload is None:
        raise SkipstoneError(f"The layout {layout} is fitted for queries, and there are none.")
    return workload
