"""What costs are computed from, read once for an action."""

from __future__ import annotations

from collections.abc import Sequence

from skipstone.estimate.benefit import observed_days
from skipstone.estimate.cost import CostModel
from skipstone.estimate.cost_inputs import CostInputs
from skipstone.pruning.blocks import Counts
from skipstone.spark.engine.column_sizes import column_sizes
from skipstone.spark.engine.open_table import OpenTable
from skipstone.workload.predicates import LoggedFilter

__all__ = ["gather_costs"]


def gather_costs(
    table: OpenTable, places: Counts, model: CostModel, entries: Sequence[LoggedFilter]
) -> CostInputs:
    """Read the footers of some of the files at these places; the rest is known already."""
    days = observed_days([entry.timestamp for entry in entries])
    sizes = column_sizes(table, places)
    return CostInputs(model, sizes, table.catalog, table.engine.reader_settings(), days)
