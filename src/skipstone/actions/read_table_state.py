"""Reading what the optimiser decides by: the log, the catalog and the stored layouts. No job is run."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from skipstone.actions.context import Context
from skipstone.actions.logged_workload import recent_scans
from skipstone.catalog import Catalog
from skipstone.catalog.layout_records import load_layout
from skipstone.errors import SkipstoneError
from skipstone.estimate.drifted_files import MOST_LAYOUTS, LayoutDrift, drift_of_layout
from skipstone.estimate.policy import Policy
from skipstone.estimate.table_state import KnownLayouts, TableState, table_state
from skipstone.estimate.unclustered import files_by_layout, newest_layout
from skipstone.layout.stored_layout import stored_layout
from skipstone.spark.engine.open_table import OpenTable
from skipstone.workload.logged_scans import LoggedScan

__all__ = ["read_table_state", "require_delta"]


def require_delta(context: Context) -> None:
    """Refuse a table whose files cannot be replaced in one commit."""
    if not context.snapshot.is_delta:
        raise SkipstoneError(
            f"{context.snapshot.root} is a directory of Parquet files, which cannot be replaced in one step; "
            "make it a Delta table first (skipstone optimize --convert)."
        )


def read_table_state(context: Context, policy: Policy, newest: int | None = None) -> TableState:
    """The table of the context with the scans of the policy's window, or the newest of them."""
    table = context.table
    catalog = table.catalog
    scans = recent_scans(context, policy.window_days, newest)
    since = context.clock() - timedelta(days=policy.window_days)
    return table_state(table.snapshot, catalog, scans, policy, _layouts(table, catalog, scans, since))


def _layouts(
    table: OpenTable, catalog: Catalog, scans: Sequence[LoggedScan], since: datetime
) -> KnownLayouts:
    """The drift of each layout; of many layouts, of those with the most bytes."""
    drifts: list[LayoutDrift] = []
    newest_id = newest_layout(table.files, catalog)
    newest = load_layout(table.store, newest_id, table.root) if newest_id else None
    adapted = {} if newest is None else dict.fromkeys(newest.adapted_from, newest_id)
    for layout, indices in files_by_layout(table.files, catalog, adapted).items():
        stored = stored_layout(table.store, layout, table.root) if len(drifts) < MOST_LAYOUTS else None
        if stored is not None:
            drifts.append(drift_of_layout(stored, indices, scans, since))
    return KnownLayouts(tuple(drifts), newest_id, newest)
