"""Feature selection for a table: the log's candidates, judged by rows drawn as for fitting layouts."""

from __future__ import annotations

from collections.abc import Sequence

from skipstone.estimate.prepared import view_of
from skipstone.layout.options import SAMPLE_ROWS
from skipstone.layout.select import select_features
from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.engine.sample import Request, count_rows, draw, ordered_inputs
from skipstone.workload.predicates import LoggedFilter
from skipstone.workload.selection import Selection, Thresholds

__all__ = ["selection_of"]


def selection_of(
    table: OpenTable, entries: Sequence[LoggedFilter], thresholds: Thresholds | None = None
) -> Selection | None:
    """What the layout ``selforg`` would use; None if no filter is understood."""
    view = view_of(entries)
    if not view.atoms:
        return None
    places = table.all_places
    request = Request(places, count_rows(table, places), SAMPLE_ROWS, view.atoms, ordered_inputs(view.atoms))
    return select_features(view, draw(table, request).sample, thresholds)
