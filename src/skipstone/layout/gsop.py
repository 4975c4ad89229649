"""GSOP: columns in groups, each of which is blocked by features of its own (VLDB 2016).

Where queries on different columns have conflicting filters, one order of rows serves none of them well.
GSOP divides the columns into groups, by what skipping gains and putting tuples together costs
(:mod:`~skipstone.layout.column_grouping`), chooses local features for each
(:mod:`~skipstone.layout.local_features`), and blocks it by these. Columns that no query reads are left out.

The search may find that one group is best. Then the design is one of whole rows, with all columns. The ends
of its spectrum, and groupings by column access alone, can be asked for by name.

What differs from the paper:

* Inside a group rows may be blocked by any layout that is fitted for queries, not only by Balanced MaxSkip.
* A join in Spark costs far more than the paper's sort: about as much as reading 85 values. That is what
  groups are weighed with unless the paper's cost is asked for, and it favours few groups.
* Features mined from the log are joined by general ones, which serve other constants too
  (:mod:`~skipstone.layout.general_features`). A group that is blocked by some of these has the vectors of the
  sample, for those of the whole table lack their bits.
* A group whose queries no feature subsumes is blocked by all features: later queries may have some.

Cost: that of the search, and one fit of the inner layout for each group.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from skipstone.errors import SkipstoneError
from skipstone.layout.column_access import Bits, ColumnAccess
from skipstone.layout.column_grouping import GroupingCost, group_columns, one_group, single_columns
from skipstone.layout.contract import AnyLayout, ColumnGroup, Design, Needs, needed_workload
from skipstone.layout.general_features import with_general_features
from skipstone.layout.group_view import column_access, group_view, group_workload
from skipstone.layout.hilbert import HILBERT
from skipstone.layout.known_groupings import hill_climb, hyrise
from skipstone.layout.local_features import local_features
from skipstone.layout.own_options import option, whole_number
from skipstone.layout.qdtree import QDTREE
from skipstone.layout.range import RANGE
from skipstone.layout.reconstruction import MeasuredJoin, Reconstruction, sort_merge
from skipstone.layout.rows_read import RowsRead, computed_rows, estimated_rows, selected_rows
from skipstone.layout.sop import SOP
from skipstone.layout.table_view import FitWorkload, TableView
from skipstone.layout.zorder import ZORDER

__all__ = ["ESTIMATIONS", "GROUPINGS", "GSOP", "INNER", "RECONSTRUCTIONS", "Gsop", "GsopOptions"]

ESTIMATIONS: Mapping[str, RowsRead] = {
    "blocks": estimated_rows,
    "exact": computed_rows,
    "selectivity": selected_rows,
}
"""How the search foresees the rows that are read of merged groups."""
GROUPINGS = ("search", "one", "single", "hillclimb", "hyrise")
INNER: Mapping[str, AnyLayout] = {layout.name: layout for layout in (SOP, QDTREE, RANGE, ZORDER, HILBERT)}
"""The layouts inside a group."""
RECONSTRUCTIONS = ("measured", "sort-merge")


@dataclass(frozen=True, slots=True)
class GsopOptions:
    """``grouping`` says how columns are grouped, ``reconstruction`` what putting tuples together costs.

    ``estimation`` is what merges are foreseen by, ``inner`` the layout inside a group, and ``max_vectors``
    about how many distinct vectors a group is blocked by.
    """

    grouping: str = option(GROUPINGS[0], str)
    reconstruction: str = option(RECONSTRUCTIONS[0], str)
    estimation: str = option("blocks", str)
    inner: str = option(SOP.name, str)
    max_vectors: int = option(3_000, whole_number)

    def __post_init__(self) -> None:
        """Refuse what there is not."""
        for name, known in (
            ("grouping", GROUPINGS),
            ("reconstruction", RECONSTRUCTIONS),
            ("estimation", tuple(ESTIMATIONS)),
            ("inner", tuple(INNER)),
        ):
            if (value := getattr(self, name)) not in known:
                raise SkipstoneError(f"There is no {name} {value}; choose one of {', '.join(known)}.")
        if self.max_vectors < 1:
            raise SkipstoneError(f"max_vectors must be at least 1, and it is {self.max_vectors}.")


@dataclass(frozen=True, slots=True)
class Gsop:
    """The layout; only a replica can be made by it, for a table has one order of rows."""

    name: str = "gsop"

    @property
    def options(self) -> type[GsopOptions]:
        """How columns are grouped, and how groups are blocked."""
        return GsopOptions

    def needs(self, options: GsopOptions) -> Needs:
        """Queries with their columns, and what the inner layout needs."""
        inner = INNER[options.inner]
        return replace(inner.needs(inner.options()), workload=True, replica=True)

    def fit(self, view: TableView, workload: FitWorkload | None, options: GsopOptions) -> Design:
        """Choose groups on a part of the sample, then fit the inner layout to each."""
        workload = needed_workload(workload, self.name)
        if workload.reads is None or not len(workload.reads.weights):
            raise SkipstoneError("It is not known which columns the queries read, so none can be grouped.")
        if not workload.features:
            raise SkipstoneError(
                "The workload has no filter that enough queries share, so GSOP has no features."
            )
        own, workload = workload, with_general_features(view, workload, workload.reads)
        reads = workload.reads
        assert reads is not None
        access = column_access(view, workload, reads, options.max_vectors)
        cost = GroupingCost(
            estimated=ESTIMATIONS[options.estimation], reconstruction=_reconstruction(view, options)
        )
        groups = _GROUPERS[options.grouping](access, cost)
        if len(groups) == 1:
            return _of_whole_rows(view, own, options)
        fitted = [_fitted_group(view, workload, access, group, options) for group in groups]
        left_out = np.count_nonzero(~reads.columns.any(axis=0))
        names = [", ".join(group.columns or ()) for group, _ in fitted]
        return Design(
            tuple(group for group, _ in fitted),
            parameters={
                "groups": [list(group.columns or ()) for group, _ in fitted],
                "local_features": [number for _, number in fitted],
                "columns_left_out": int(left_out),
            },
            note=f"{len(groups)} column groups ({'; '.join(names)}), {left_out} columns that no query reads",
        )


GSOP = Gsop()


def _reconstruction(view: TableView, options: GsopOptions) -> Reconstruction:
    if options.reconstruction == "sort-merge":
        return sort_merge
    return MeasuredJoin(cell_seconds=1.0, join_seconds=view.join_cells)


def _searched(access: ColumnAccess, cost: GroupingCost) -> tuple[Bits, ...]:
    return group_columns(access, cost).groups


_GROUPERS: Mapping[str, Callable[[ColumnAccess, GroupingCost], tuple[Bits, ...]]] = {
    "search": _searched,
    "one": lambda access, _: one_group(access),
    "single": lambda access, _: single_columns(access),
    "hillclimb": lambda access, _: hill_climb(access.columns, access.weights),
    "hyrise": lambda access, _: hyrise(access.columns, access.weights),
}


def _of_whole_rows(view: TableView, workload: FitWorkload, options: GsopOptions) -> Design:
    """One group for all columns: the inner layout as it is."""
    inner = INNER[options.inner]
    design = inner.fit(view, workload, inner.options())
    note = f"one group of all columns is best, by {inner.name}: {design.note}"
    if options.grouping == "one":
        note = f"one group of all columns, by {inner.name}: {design.note}"
    return replace(design, note=note)


def _fitted_group(
    view: TableView, workload: FitWorkload, access: ColumnAccess, group: Bits, options: GsopOptions
) -> tuple[ColumnGroup, int]:
    """One group in blocks of its own, and the number of its features.

    Tuple ids are sorted inside a block, so its rows are not sorted by anything else.
    """
    reads, inner = workload.reads, INNER[options.inner]
    assert reads is not None
    chosen, reading = local_features(access, group), access.reading(group)
    if not len(chosen):
        chosen, reading = np.arange(len(workload.features)), np.ones(len(reads.weights), np.bool_)
    local = group_workload(workload, reads, reading, chosen)
    fitted = inner.fit(group_view(view, chosen), local, inner.options()).group
    features = {feature.predicate: feature for feature in (*local.features, *fitted.features)}
    names = np.array(reads.names)[reads.columns.any(axis=0)][group]
    made = replace(fitted, columns=tuple(names.tolist()), sort=(), features=tuple(features.values()))
    return made, len(chosen)
