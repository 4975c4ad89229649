"""What costs are computed from, read once for an action."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from skipstone.catalog import Catalog
from skipstone.estimate.benefit import observed_days
from skipstone.estimate.cost import CostModel
from skipstone.estimate.cost_inputs import CostInputs
from skipstone.predicate.joined_column import column_unbound, joined_column_of
from skipstone.predicate.partner import partners_in, unbound
from skipstone.pruning.blocks import Counts
from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.engine.partners import JoinedTables
from skipstone.spark.engine.read_column_sizes import read_column_sizes
from skipstone.workload.predicates import LoggedFilter

__all__ = ["gather_costs"]


def gather_costs(
    table: OpenTable, indices: Counts, model: CostModel, entries: Sequence[LoggedFilter]
) -> CostInputs:
    """Read the footers of some of the files at these indices; the rest is known already."""
    days = observed_days([entry.timestamp for entry in entries])
    sizes = read_column_sizes(table, indices)
    return CostInputs(model, sizes, _of_now(table), table.engine.reader_settings(), days)


def _of_now(table: OpenTable) -> Catalog:
    """The catalog with what it knows of joined tables as a log has it, if these tables are unchanged."""
    catalog, joined = table.catalog, JoinedTables(table.engine)
    columns = [key for key in catalog.blocks.statistics if joined_column_of(key) is not None]
    if not columns and not any(partners_in(each.predicate) for each in catalog.blocks.features):
        return catalog
    features = tuple(
        replace(each, predicate=unbound(each.predicate)) if joined.is_current(each.predicate) else each
        for each in catalog.blocks.features
    )
    current = {key: column_unbound(key) for key in columns if joined.is_current(key)}
    statistics = {current.get(key, key): known for key, known in catalog.blocks.statistics.items()}
    return replace(catalog, blocks=replace(catalog.blocks, features=features, statistics=statistics))
