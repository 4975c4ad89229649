"""SOP combined with Z-order: "Self-organising layouts for Delta" (thesis), section 4.1.2, steps C1 to C3.

1. Features are selected (:mod:`select`): at most four expressions for Z-order, predicates for SOP.
2. C1: Balanced MaxSkip gathers the feature vectors of the SOP features into clusters, which are numbered such
   that neighbours share bits (:mod:`ordering`).
3. C2 and C3: the number of its cluster is one more coordinate of a row, beside the Z features. Rows in the
   order of the interleaved bits are cut into blocks.

Coordinates are shares of rows: half of the rows have a 0 as first bit, so skew, texts, NULLs and clusters of
any size need no care of their own. NULL is the lowest value.

Two things differ from the thesis, because simulation shows that they let workloads skip more. How many bits
each dimension gets is searched for on a part of the sample (:mod:`bit_shares`) rather than being the same for
all, and expressions beyond the four most frequent ones may win a place in that search (ADR 8).
``searched=False`` gives the thesis's own way.

The curve is the Z curve unless the user asks for Hilbert's. Along that one all coordinates have as many bits
as the finest; the shares, which decide on the buckets, are still searched for along the Z curve.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from skipstone.errors import SkipstoneError
from skipstone.layout import hilbert_curve
from skipstone.layout.assignment import Grid, Numbers
from skipstone.layout.bit_shares import Bits, interleaved
from skipstone.layout.contract import Fitted, in_partitions
from skipstone.layout.filtered import sort_keys
from skipstone.layout.grid import Curve, cut_into_blocks
from skipstone.layout.measured_bits import Axis, measured_bits
from skipstone.layout.numbers import cell_numbers
from skipstone.layout.quantiles import dimension
from skipstone.layout.sample import Fitting
from skipstone.layout.select import select_features
from skipstone.layout.simulate import feature_bits
from skipstone.layout.sop import spread_dimension
from skipstone.layout.sop_clusters import OrderedClusters, coordinates, order_clusters, ordered_blocks
from skipstone.layout.zcurve import affordable_bits
from skipstone.predicate.expr import Column
from skipstone.predicate.render import to_sql
from skipstone.pruning.blocks import Feature
from skipstone.workload.selection import MOST_Z, Selection, Thresholds

__all__ = ["CURVES", "SELFORG", "SelfOrg", "check_curve"]

CURVES: Mapping[str, Curve | None] = {"z": None, "hilbert": hilbert_curve.order_keys}
"""The curves to choose from; along the Z curve bits are interleaved in shares."""
_MOST_CANDIDATES = 2 * MOST_Z


@dataclass(frozen=True, slots=True)
class SelfOrg:
    """The layout by Z features and SOP clusters, along the curve that the fitting names."""

    name: str = "selforg"
    searched: bool = True
    thresholds: Thresholds = field(default_factory=Thresholds)

    def fit(self, fitting: Fitting) -> Fitted:
        """Select features and share the bits once, then cut blocks inside each horizontal partition."""
        chosen = select_features(fitting.workload, fitting.sample, self.thresholds)
        ready = _with_sop_features(fitting, chosen)
        axes = _axes(ready, chosen, self.searched)
        if not axes:
            raise SkipstoneError(
                "No expression is compared with enough constants, and enough queries share no predicate."
            )
        if all(isinstance(axis, OrderedClusters) for axis in axes):
            fitted = in_partitions(ready, lambda part: Fitted(ordered_blocks(part)))
            return _described(fitted, fitting, chosen, axes, (0,), None)
        bits = measured_bits(ready, axes, fitting.features, self.searched)
        used = [(axis, share) for axis, share in zip(axes, bits, strict=True) if share]
        axes, bits = tuple(axis for axis, _ in used), tuple(share for _, share in used)
        fitted = in_partitions(ready, lambda part: Fitted(_grid(part, axes, bits, CURVES[fitting.curve])))
        return _described(fitted, fitting, chosen, axes, bits, fitting.curve)


SELFORG = SelfOrg()


def check_curve(curve: str, layout: str) -> None:
    """Refuse a curve that does not exist, or a layout that has none to choose."""
    if curve not in CURVES:
        raise SkipstoneError(f"There is no curve {curve}; choose one of {', '.join(CURVES)}.")
    if curve != "z" and layout != SELFORG.name:
        raise SkipstoneError(
            f"The curve {curve} is for the layout {SELFORG.name}, and the layout asked for is {layout}."
        )


def _with_sop_features(fitting: Fitting, chosen: Selection) -> Fitting:
    """The fitting with the selected predicates in place of the mined features."""
    places = {atom: place for place, atom in enumerate(fitting.workload.atoms)}
    bits = [feature_bits(each.predicate, places, fitting.sample.bits) for each in chosen.sop]
    known = [row for row in bits if row is not None]
    return replace(
        fitting,
        features=tuple(Feature(each.predicate, to_sql(each.predicate)) for each in chosen.sop),
        feature_weights=np.array([each.frequency for each in chosen.sop], np.float64),
        feature_bits=np.stack(known, axis=1) if known else np.zeros((len(fitting.sample), 0), np.bool_),
    )


def _axes(fitting: Fitting, chosen: Selection, searched: bool) -> tuple[Axis, ...]:
    """Z features, the most frequent first, and the clusters of the SOP features."""
    axes: list[Axis] = [each.expr for each in chosen.z]
    if searched:
        more = [each for each in chosen.additional if each.code in ("BEYOND_DIMENSIONS", "CORRELATED")]
        axes += [each.expr for each in more if each.kind == "z"][: _MOST_CANDIDATES - len(axes)]
    if fitting.features:
        if not axes and (spread := spread_dimension(fitting)) is not None:
            # Clusters alone cannot be cut where one of them is larger than a block.
            axes.append(spread.expr)
        axes.append(order_clusters(fitting.features, fitting.feature_weights, fitting.feature_bits))
    return tuple(axes)


def _grid(fitting: Fitting, axes: Sequence[Axis], bits: Bits, curve: Curve | None) -> Grid:
    """Buckets of each axis, and the blocks of their cells in the order of the curve."""
    sample = fitting.sample
    dimensions = tuple(
        axis.joined(share)
        if isinstance(axis, OrderedClusters)
        else dimension(axis, sample.columns[axis], 1 << share)
        for axis, share in zip(axes, bits, strict=True)
    )
    numbers = [np.asarray(cell_numbers(each, fitting), np.int64) for each in dimensions]
    shape = tuple(each.buckets for each in dimensions)
    weights = np.bincount(np.ravel_multi_index(numbers, shape), minlength=int(np.prod(shape)))
    cells = np.unravel_index(np.arange(len(weights)), shape)
    counts = [np.bincount(number, minlength=size) for number, size in zip(numbers, shape, strict=True)]
    if curve is None:
        shares = zip(counts, bits, cells, strict=True)
        keys = interleaved([coordinates(count, share)[cell] for count, share, cell in shares], bits)
        order = np.argsort(keys, kind="stable")
    else:
        # All axes have as many bits as the finest one, or as many as a key has room for.
        each = affordable_bits(max(bits), len(axes))
        points = [coordinates(count, each)[cell] for count, cell in zip(counts, cells, strict=True)]
        order = np.argsort(curve(np.stack(points, axis=1), each), kind="stable")
    blocks = max(1, round(len(sample) * sample.scale / fitting.block_rows))
    block_of: Numbers = np.empty(len(weights), np.int32)
    block_of[order] = cut_into_blocks(weights[order].astype(np.float64), blocks)
    return Grid(dimensions, block_of, int(block_of.max()) + 1)


def _described(
    fitted: Fitted, fitting: Fitting, chosen: Selection, axes: Sequence[Axis], bits: Bits, curve: str | None
) -> Fitted:
    """What to sort by, what to keep statistics of, and what was chosen; blocks of clusters need no curve."""
    used = {
        to_sql(axis): share
        for axis, share in zip(axes, bits, strict=True)
        if not isinstance(axis, OrderedClusters)
    }
    clusters = next((axis for axis in axes if isinstance(axis, OrderedClusters)), None)
    extra = [each for each in chosen.additional if each.kind == "sop"]
    predicates = [each.predicate for each in chosen.sop] + [each.expr for each in extra]
    exprs = [each.expr for each in chosen.z] + [each.expr for each in chosen.additional if each.kind == "z"]
    kept = [expr for expr in exprs if not isinstance(expr, Column)]
    names = [f"{name} ({share} bits)" for name, share in used.items()]
    if clusters is not None:
        names.append(f"{len(clusters.features)} predicates ({bits[-1]} bits)")
    return replace(
        fitted,
        sort=sort_keys(fitting),
        features=tuple(Feature(predicate, to_sql(predicate)) for predicate in predicates),
        expressions=tuple(dict.fromkeys((*fitted.expressions, *kept))),
        parameters=fitted.parameters
        | {
            "curve": curve,
            "z": used,
            "sop": [] if clusters is None else [feature.text for feature in clusters.features],
            "sop_bits": 0 if clusters is None else bits[-1],
            "clusters": 0 if clusters is None else int(clusters.cluster_of.max()) + 1,
            "additional": [to_sql(each.expr) for each in chosen.additional],
        },
        note=f"by {', '.join(names)}{', along the Hilbert curve' * (curve == 'hilbert')}",
    )
