"""Feature selection for a table: the log's candidates, judged by rows drawn as for fitting layouts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skipstone.actions.prepare import SAMPLE_ROWS
from skipstone.catalog.column_names import ColumnNames
from skipstone.layout.select import select_features
from skipstone.layout.view import workload_view
from skipstone.spark import SparkSession
from skipstone.spark.engine.assign import LogicalNames
from skipstone.spark.engine.job_settings import DRAWN
from skipstone.spark.engine.open_table import TableFiles
from skipstone.spark.engine.sample import draw, ordered_inputs
from skipstone.spark.engine.session_copy import copied_session
from skipstone.workload.predicates import LoggedFilter
from skipstone.workload.selection import Selection, Thresholds

__all__ = ["selection_of"]


def selection_of(
    spark: SparkSession,
    files: TableFiles,
    entries: Sequence[LoggedFilter],
    thresholds: Thresholds | None = None,
) -> Selection | None:
    """What the layout ``selforg`` would use; None if no filter is understood."""
    view = workload_view([entry.filter for entry in entries], [entry.weight for entry in entries])
    if not view.atoms:
        return None
    names = LogicalNames.of(ColumnNames.from_schema(files.schema))
    frame = files.live(copied_session(spark, DRAWN), np.arange(len(files.files)))
    drawn = draw(frame, frame.count(), SAMPLE_ROWS, view.atoms, ordered_inputs(view.atoms), names)
    return select_features(view, drawn.sample, thresholds)
