"""Feature selection on a sample: what :mod:`skipstone.workload.selection` needs to know of the rows.

A few thousand rows suffice to see correlations, whatever the size of the table (CORDS, cited in section 4.2.2
of "Self-organising layouts for Delta", thesis).
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from skipstone.layout.ranks import rank
from skipstone.layout.sample import Sample, WorkloadView
from skipstone.layout.simulate import feature_bits
from skipstone.predicate.expr import type_of
from skipstone.workload.predicates import LoggedFilter, query_predicates
from skipstone.workload.selection import COMPARED_ROWS, Selection, Thresholds, select

__all__ = ["select_features"]


def select_features(view: WorkloadView, sample: Sample, thresholds: Thresholds | None = None) -> Selection:
    """The Z and SOP features of a workload; ``sample.bits`` are about the view's atoms."""
    log = [LoggedFilter(*pair) for pair in zip(view.filters, view.weights.tolist(), strict=True)]
    rows = np.arange(0, len(sample), max(1, len(sample) // COMPARED_ROWS))
    some = pa.array(rows)
    values = {
        key: rank(column.take(some)).codes for key, column in sample.columns.items() if type_of(key).ordered
    }
    places = {atom: place for place, atom in enumerate(view.atoms)}
    # All rows tell whether a predicate that few of them satisfy is of any use.
    return select(
        query_predicates(log),
        values,
        lambda predicate: feature_bits(predicate, places, sample.bits),
        thresholds,
    )
