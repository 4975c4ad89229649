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
all, and expressions beyond the four most frequent ones may win in that search (ADR 8).
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
from skipstone.layout.contract import ColumnGroup, Design, Needs, needed_workload
from skipstone.layout.filtered import sort_keys
from skipstone.layout.grid import Curve, cut_into_blocks
from skipstone.layout.in_partitions import in_partitions
from skipstone.layout.measured_bits import Axis, measured_bits
from skipstone.layout.numbers import cell_numbers
from skipstone.layout.own_options import option
from skipstone.layout.quantiles import dimension
from skipstone.layout.sample import Sample
from skipstone.layout.select_features import select_features
from skipstone.layout.simulate import feature_bits
from skipstone.layout.sop import spread_dimension
from skipstone.layout.sop_clusters import OrderedClusters, coordinates, order_clusters, ordered_blocks
from skipstone.layout.table_view import FitWorkload, TableView
from skipstone.layout.zcurve import affordable_bits
from skipstone.predicate.expr import Column, Expr
from skipstone.predicate.render import to_sql
from skipstone.pruning.blocks import Feature
from skipstone.workload.selection import MOST_Z, Selection, Thresholds

__all__ = ["CURVES", "SELFORG", "SelfOrg", "SelfOrgOptions"]

CURVES: Mapping[str, Curve | None] = {"z": None, "hilbert": hilbert_curve.order_keys}
"""The curves to choose from; along the Z curve bits are interleaved in shares."""
_MOST_CANDIDATES = 2 * MOST_Z


@dataclass(frozen=True, slots=True)
class SelfOrgOptions:
    """``curve`` is the one that blocks are cut along."""

    curve: str = option("z", str)

    def __post_init__(self) -> None:
        """Refuse a curve that does not exist."""
        if self.curve not in CURVES:
            raise SkipstoneError(f"There is no curve {self.curve}; choose one of {', '.join(CURVES)}.")


@dataclass(frozen=True, slots=True)
class SelfOrg:
    """The layout by Z features and SOP clusters."""

    name: str = "selforg"
    searched: bool = True
    thresholds: Thresholds = field(default_factory=Thresholds)

    @property
    def options(self) -> type[SelfOrgOptions]:
        """The curve."""
        return SelfOrgOptions

    def needs(self, options: SelfOrgOptions) -> Needs:
        """Queries."""
        return Needs(workload=True)

    def fit(self, view: TableView, workload: FitWorkload | None, options: SelfOrgOptions) -> Design:
        """Select features and share the bits once, then cut blocks inside each horizontal partition."""
        workload = needed_workload(workload, self.name)
        chosen = select_features(workload.queries, view.sample, self.thresholds)
        ready = _with_sop_features(workload, view.sample, chosen)
        axes = _axes(ready, view.sample, chosen, self.searched)
        if not axes:
            raise SkipstoneError(
                "No expression is compared with enough constants, and enough queries share no predicate."
            )
        sort = sort_keys(view.sample, workload.queries)
        if all(isinstance(axis, OrderedClusters) for axis in axes):
            design = in_partitions(
                view,
                lambda part, rows: Design((ColumnGroup(ordered_blocks(part, ready.of_rows(rows))),)),
            )
            return _described(design, sort, chosen, _Shares(axes, (0,)))
        features = tuple(dict.fromkeys((*workload.features, *ready.features)))
        bits = measured_bits(view, workload.queries, axes, features, self.searched)
        shares = _Shares(axes, bits, options.curve).used()
        atoms = workload.queries.atoms
        design = in_partitions(view, lambda part, _: Design((ColumnGroup(_grid(part, atoms, shares)),)))
        return _described(design, sort, chosen, shares)


SELFORG = SelfOrg()


@dataclass(frozen=True, slots=True, eq=False)
class _Shares:
    """The axes with the bits of each; blocks of clusters alone need no curve."""

    axes: tuple[Axis, ...]
    bits: Bits
    curve: str | None = None

    def used(self) -> _Shares:
        """Without the axes that have no bits."""
        used = [(axis, share) for axis, share in zip(self.axes, self.bits, strict=True) if share]
        return replace(self, axes=tuple(axis for axis, _ in used), bits=tuple(share for _, share in used))


def _with_sop_features(workload: FitWorkload, sample: Sample, chosen: Selection) -> FitWorkload:
    """The workload with the selected predicates in place of the mined features."""
    numbers = {atom: number for number, atom in enumerate(workload.queries.atoms)}
    bits = [feature_bits(each.predicate, numbers, sample.bits) for each in chosen.sop]
    known = [row for row in bits if row is not None]
    return replace(
        workload,
        features=tuple(Feature(each.predicate, to_sql(each.predicate)) for each in chosen.sop),
        feature_weights=np.array([each.frequency for each in chosen.sop], np.float64),
        feature_bits=np.stack(known, axis=1) if known else np.zeros((len(sample), 0), np.bool_),
    )


def _axes(workload: FitWorkload, sample: Sample, chosen: Selection, searched: bool) -> tuple[Axis, ...]:
    """Z features, the most frequent first, and the clusters of the SOP features."""
    axes: list[Axis] = [each.expr for each in chosen.z]
    if searched:
        more = [each for each in chosen.additional if each.code in ("BEYOND_DIMENSIONS", "CORRELATED")]
        axes += [each.expr for each in more if each.kind == "z"][: _MOST_CANDIDATES - len(axes)]
    if workload.features:
        if not axes and (spread := spread_dimension(sample, workload)) is not None:
            # Clusters alone cannot be cut where one of them is larger than a block.
            axes.append(spread.expr)
        axes.append(order_clusters(workload.features, workload.feature_weights, workload.feature_bits))
    return tuple(axes)


def _grid(view: TableView, atoms: Sequence[Expr], shares: _Shares) -> Grid:
    """Buckets of each axis, and the blocks of their cells in the order of the curve."""
    sample, axes, bits = view.sample, shares.axes, shares.bits
    curve = CURVES[shares.curve or "z"]
    dimensions = tuple(
        axis.joined(share)
        if isinstance(axis, OrderedClusters)
        else dimension(axis, sample.columns[axis], 1 << share)
        for axis, share in zip(axes, bits, strict=True)
    )
    numbers = [np.asarray(cell_numbers(each, sample, atoms), np.int64) for each in dimensions]
    shape = tuple(each.buckets for each in dimensions)
    weights = np.bincount(np.ravel_multi_index(numbers, shape), minlength=int(np.prod(shape)))
    cells = np.unravel_index(np.arange(len(weights)), shape)
    counts = [np.bincount(number, minlength=size) for number, size in zip(numbers, shape, strict=True)]
    if curve is None:
        along = zip(counts, bits, cells, strict=True)
        keys = interleaved([coordinates(count, share)[cell] for count, share, cell in along], bits)
        order = np.argsort(keys, kind="stable")
    else:
        # All axes have as many bits as the finest one, or as many as a key has room for.
        each = affordable_bits(max(bits), len(axes))
        points = [coordinates(count, each)[cell] for count, cell in zip(counts, cells, strict=True)]
        order = np.argsort(curve(np.stack(points, axis=1), each), kind="stable")
    block_of: Numbers = np.empty(len(weights), np.int32)
    block_of[order] = cut_into_blocks(weights[order].astype(np.float64), view.blocks)
    return Grid(dimensions, block_of, int(block_of.max()) + 1)


def _described(design: Design, sort: tuple[Expr, ...], chosen: Selection, shares: _Shares) -> Design:
    """What to sort by, what to keep statistics of, and what was chosen."""
    axes, bits = shares.axes, shares.bits
    used = {
        to_sql(axis): share
        for axis, share in zip(axes, bits, strict=True)
        if not isinstance(axis, OrderedClusters)
    }
    clusters = next((axis for axis in axes if isinstance(axis, OrderedClusters)), None)
    extra = [each for each in chosen.additional if each.kind == "sop"]
    predicates = [each.predicate for each in chosen.sop] + [each.expr for each in extra]
    exprs = [each.expr for each in chosen.z] + [each.expr for each in chosen.additional if each.kind == "z"]
    computed = [expr for expr in exprs if not isinstance(expr, Column)]
    names = [f"{name} ({share} bits)" for name, share in used.items()]
    if clusters is not None:
        names.append(f"{len(clusters.features)} predicates ({bits[-1]} bits)")
    group = replace(
        design.group,
        sort=sort,
        features=tuple(Feature(predicate, to_sql(predicate)) for predicate in predicates),
        expressions=tuple(dict.fromkeys((*design.group.expressions, *computed))),
    )
    return Design(
        (group,),
        parameters={
            **design.parameters,
            "curve": shares.curve,
            "z": used,
            "sop": [] if clusters is None else [feature.text for feature in clusters.features],
            "sop_bits": 0 if clusters is None else bits[-1],
            "clusters": 0 if clusters is None else int(clusters.cluster_of.max()) + 1,
            "additional": [to_sql(each.expr) for each in chosen.additional],
        },
        note=f"by {', '.join(names)}{', along the Hilbert curve' * (shares.curve == 'hilbert')}",
    )
