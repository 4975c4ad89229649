"""Feature selection on a sample: what :mod:`skipstone.workload.selection` needs to know of the rows.

``skipstone analyze`` and the layout ``selforg`` both come here, with samples drawn in the same way, so that
what the one says is what the other does.
"""

from __future__ import annotations

from skipstone.layout.ranks import rank
from skipstone.layout.sample import Sample, WorkloadView
from skipstone.layout.simulate import feature_bits
from skipstone.predicate.expr import type_of
from skipstone.workload.predicates import LoggedFilter, query_predicates
from skipstone.workload.selection import Selection, Thresholds, select

__all__ = ["select_features"]


def select_features(view: WorkloadView, sample: Sample, thresholds: Thresholds | None = None) -> Selection:
    """The Z and SOP features of a workload; ``sample.bits`` are about the view's atoms."""
    log = [LoggedFilter(*pair) for pair in zip(view.filters, view.weights.tolist(), strict=True)]
    values = {key: rank(column).codes for key, column in sample.columns.items() if type_of(key).ordered}
    indices = {atom: index for index, atom in enumerate(view.atoms)}
    return select(
        query_predicates(log),
        values,
        lambda predicate: feature_bits(predicate, indices, sample.bits),
        thresholds,
        round(len(sample) * sample.scale),
    )
