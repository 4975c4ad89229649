"""What costs are computed from, read once for an action."""

from __future__ import annotations

from collections.abc import Sequence

from skipstone.estimate.benefit import observed_days
from skipstone.estimate.cost import CostModel
from skipstone.estimate.cost_inputs import CostInputs
from skipstone.pruning.blocks import Counts
from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.engine.read_column_sizes import read_column_sizes
from skipstone.workload.predicates import LoggedFilter

__all__ = ["gather_costs"]


def gather_costs(
    table: OpenTable, indices: Counts, model: CostModel, entries: Sequence[LoggedFilter]
) -> CostInputs:
    """Read the footers of some of the files at these indices; the rest is known already."""
    days = observed_days([entry.timestamp for entry in entries])
    sizes = read_column_sizes(table, indices)
    return CostInputs(model, sizes, table.catalog, table.engine.reader_settings(), days)
