"""How long column grouping takes and how good it is: GSOP (VLDB 2016), figure 9, on generated accesses.

Seconds are those of the processor, so that they mean something on a busy machine. Full computation blocks
every pair of groups that is considered, so it is run where there are few columns.
"""

from __future__ import annotations

import resource
from collections.abc import Callable, Mapping
from typing import TypeVar

from benchmarks.gsop.wide import Shape, wide_access
from benchmarks.pieces import Piece
from skipstone.layout.column_access import Bits, ColumnAccess, Floats
from skipstone.layout.column_grouping import (
    GroupingCost,
    group_columns,
    one_group,
    single_columns,
    workload_cost,
)
from skipstone.layout.reconstruction import MeasuredJoin, Reconstruction, sort_merge
from skipstone.layout.rows_read import RowsRead, computed_rows, estimated_rows, selected_rows

__all__ = ["SHAPES", "compare_estimates", "processor_seconds", "time_grouping"]

SHAPES: Mapping[str, Shape] = {
    "70 columns, 1,000 queries": Shape(70, 1_000, 40),
    "450 columns, 2,000 queries": Shape(450, 2_000, 150),
}
_SMALL = Shape(20, 200, 10, topics=4, attributes=12, rows=4_000, blocks=80)
_COSTS: Mapping[str, Reconstruction] = {
    "tuple ids": lambda rows: rows,
    "sort-merge": sort_merge,
    "measured": MeasuredJoin(1e-8, 8.5e-7),
}
T = TypeVar("T")


def processor_seconds(work: Callable[[], T]) -> tuple[T, float]:
    """What some work returns, and the seconds of a processor that it took."""
    before = _used()
    done = work()
    return done, _used() - before


def _used() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def time_grouping(shape: Shape) -> Piece:
    """Group the columns of one table by the paper's cost, and weigh that against both ends."""
    access = wide_access(shape)
    found, seconds = processor_seconds(lambda: group_columns(access))
    merged = access.merged()
    return {
        "seconds": seconds,
        "groups": len(found.groups),
        "estimates": found.estimates,
        "cost": found.cost,
        "one": workload_cost(merged, one_group(merged), GroupingCost()),
        "single": workload_cost(merged, single_columns(merged), GroupingCost()),
    }


def compare_estimates(seeds: int = 3) -> Piece:
    """Block-based and selectivity estimation against full computation: seconds, and the worst objective."""
    found: Piece = {}
    for name, reconstruction in _COSTS.items():
        ratios: dict[str, list[float]] = {"blocks": [], "selectivity": []}
        seconds = dict.fromkeys((*ratios, "full"), 0.0)
        for seed in range(seeds):
            access = wide_access(_SMALL, seed)
            full, seconds_full = _grouped(access, _remembered(computed_rows), reconstruction)
            seconds["full"] += seconds_full
            for estimation, rows in (("blocks", estimated_rows), ("selectivity", selected_rows)):
                cost, taken = _grouped(access, rows, reconstruction)
                ratios[estimation].append(cost / full)
                seconds[estimation] += taken
        found[name] = {"seconds": seconds, "worst": {each: max(some) for each, some in ratios.items()}}
    return found


def _grouped(access: ColumnAccess, rows: RowsRead, reconstruction: Reconstruction) -> tuple[float, float]:
    cost = GroupingCost(estimated=rows, reconstruction=reconstruction)
    found, seconds = processor_seconds(lambda: group_columns(access, cost))
    return found.cost, seconds


def _remembered(rows: RowsRead) -> RowsRead:
    known: dict[bytes, Floats] = {}

    def remembered(access: ColumnAccess, group: Bits) -> Floats:
        key = group.tobytes()
        if key not in known:
            known[key] = rows(access, group)
        return known[key]

    return remembered
