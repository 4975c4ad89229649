"""From a table and a query log to everything that fitting a layout needs.

Steps: mine features, draw a sample with all atoms evaluated. What is prepared serves every layout, so that
they are compared on the same rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from skipstone.actions.cost_store import load_model
from skipstone.catalog.tracked import Tracked
from skipstone.errors import SkipstoneError
from skipstone.estimate.prepared import Asked, Prepared, default_block_rows, fingerprint_of, view_of
from skipstone.layout.column_reads import column_reads
from skipstone.layout.layouts import compared_layouts, needs_of
from skipstone.layout.options import LayoutOptions
from skipstone.layout.reconstruction import JOIN_CELLS, JOIN_SECONDS
from skipstone.layout.sample import Drawn, WorkloadView
from skipstone.layout.table_view import ColumnReads, FitWorkload, TableView
from skipstone.predicate.expr import And, Expr
from skipstone.predicate.normalize import TRUE, conjuncts
from skipstone.predicate.partner import partners_in
from skipstone.predicate.render import to_sql, unwritable
from skipstone.progress import Progress, Steps
from skipstone.pruning.blocks import Counts, Feature
from skipstone.spark.bridge.read_back import read_back
from skipstone.spark.engine.draw_sample import Request, count_rows, draw, ordered_inputs
from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.engine.partner_candidates import partner_candidates
from skipstone.spark.engine.partners import JoinedTables
from skipstone.spark.engine.resolve_tracked import tracked_columns, tracked_expressions
from skipstone.workload.analysis import Analysis, analyze
from skipstone.workload.predicates import LoggedFilter, date_filters
from skipstone.workload.queries import BrokenQuery, first_of

__all__ = ["FitRequest", "prepare"]

_PARTS = 1000
_SHARES = {"mining": 2, "counting": 1, "drawing": 4}


@dataclass(frozen=True, slots=True, eq=False)
class FitRequest:
    """Which files layouts are to be fitted to, for which queries, and what is asked of them.

    ``analysis`` is that of the same queries, if they were analysed before. ``judges`` are the queries that
    layouts are judged by, by default those that they are fitted for. ``wanted`` are the layouts that are
    asked for; without them all that make sense are compared, for a ``replica`` also those that only replicas
    can have. ``queries_needed`` forbids that there are none.
    """

    file_indices: Counts
    entries: tuple[LoggedFilter, ...]
    unusable: tuple[BrokenQuery, ...] = ()
    options: LayoutOptions = field(default_factory=LayoutOptions)
    analysis: Analysis | None = None
    judges: tuple[LoggedFilter, ...] | None = None
    wanted: tuple[str, ...] = ()
    queries_needed: bool = True
    replica: bool = False

    def layouts(self, queries: bool) -> tuple[str, ...]:
        """What is to be fitted, with queries or without."""
        return self.wanted or compared_layouts(self.options.own, queries, self.replica)


@dataclass(frozen=True, slots=True, eq=False)
class _Mined:
    """The features as Spark reads them back; their predicates are atoms of the view."""

    view: WorkloadView
    features: tuple[Feature, ...]
    weights: npt.NDArray[np.float64]


def prepare(table: OpenTable, request: FitRequest, progress: Progress | None = None) -> Prepared:
    """Mine features and draw a sample of the requested files.

    Queries none of which has a usable filter say nothing, so they are left out where layouts can do without.
    """
    steps, watch = Steps(progress, _PARTS, _SHARES), table.engine.watch
    view = view_of(request.entries)
    if not view.atoms:
        _require_no_queries(table, request)
        request = replace(request, entries=(), analysis=None)
        view = view_of(())
    analysis = request.analysis or _analysis(request, steps.step("mining"))
    partition = _partition(table, request.options.partition_by)
    mined = _with_candidates(table, _features(table, view, analysis, request.options.rough), request)
    with watch(steps.step("counting"), "counting rows"):
        total_rows = count_rows(table, request.file_indices)
    block_rows = _block_rows(table, request, total_rows)
    judged = mined.view if request.judges is None else view_of(request.judges)
    with watch(steps.step("drawing"), "sampling blocks"):
        drawn, bits = _drawn(table, request, (mined.view, judged), total_rows, partition)
    return Prepared(
        snapshot=table.snapshot,
        file_indices=request.file_indices,
        entries=request.entries,
        unusable=request.unusable,
        analysis=analysis,
        view=TableView(
            sample=replace(drawn.sample, bits=bits(mined.view.atoms)),
            block_rows=block_rows,
            names=table.snapshot.logical_names,
            seed=request.options.seed,
            join_cells=_join_cells(table),
        ),
        workload=FitWorkload(
            queries=mined.view,
            features=mined.features,
            feature_weights=mined.weights,
            feature_bits=bits([feature.predicate for feature in mined.features]),
            reads=_reads(table, request, mined),
        ),
        drawn=drawn,
        total_rows=total_rows,
        partition=partition,
        layouts=request.layouts(bool(view.atoms)),
        fingerprint=fingerprint_of(mined.view),
        asked=Asked(request.judges or request.entries, judged, bits(judged.atoms)),
        options=request.options.own,
    )


def _reads(table: OpenTable, request: FitRequest, mined: _Mined) -> ColumnReads | None:
    """Which columns the queries read, for layouts that block columns separately."""
    own = request.options.own
    if not request.entries or not any(needs_of(name, own).replica for name in request.layouts(True)):
        return None
    names = tuple(path[0] for path in table.snapshot.names.display if len(path) == 1)
    return column_reads(names, request.entries, mined.view, mined.features)


def _join_cells(table: OpenTable) -> float:
    """How many values are read in the time of joining one row, as far as the machine is known."""
    cell_seconds = load_model(table.engine).coefficients.read_per_value / 1e6
    return JOIN_SECONDS / cell_seconds if cell_seconds else JOIN_CELLS


def _require_no_queries(table: OpenTable, request: FitRequest) -> None:
    """Refuse a request for layouts that are fitted for queries."""
    if not request.queries_needed:
        return
    if not request.entries:
        raise SkipstoneError(
            f"No query of the log reads {table.root}; there is nothing to fit a layout to"
            f"{first_of(request.unusable)}."
        )
    raise SkipstoneError(
        f"No query of the log has a usable filter on {table.root}; there is nothing to fit a layout to."
    )


def _analysis(request: FitRequest, progress: Progress | None) -> Analysis:
    options = request.options
    if progress is not None:
        progress("mining features", 0, 1)
    return analyze(
        request.entries,
        threshold=options.threshold,
        num_features=options.num_features,
        leave_out=date_filters if options.leave_out_dates else None,
        seed=options.seed,
    )


def _partition(table: OpenTable, text: str | None) -> Tracked | None:
    return None if text is None else tracked_expressions(table, [text])[0]


def _block_rows(table: OpenTable, request: FitRequest, total_rows: int) -> int:
    """The rows in a block, of which there must be two."""
    size = table.snapshot.bytes_of(request.file_indices)
    block_rows = request.options.block_rows or default_block_rows(size, total_rows)
    if total_rows < 2 * block_rows:
        raise SkipstoneError(
            f"{table.root} has {total_rows:,} rows, which is less than two blocks of {block_rows:,} rows; "
            "there is nothing to rearrange (see --block-rows)."
        )
    return block_rows


def _drawn(
    table: OpenTable,
    request: FitRequest,
    views: tuple[WorkloadView, WorkloadView],
    total_rows: int,
    partition: Tracked | None,
) -> tuple[Drawn, _Bits]:
    """A sample with the atoms of both views evaluated, and the bits of any of these."""
    atoms = tuple(dict.fromkeys(atom for view in views for atom in view.atoms))
    drawn = draw(
        table,
        Request(
            file_indices=request.file_indices,
            total_rows=total_rows,
            rows=request.options.sample_rows,
            atoms=atoms,
            columns=ordered_inputs((*atoms, *_more_columns(table, request, bool(atoms)))),
            partition=None if partition is None else partition.expr,
            seed=request.options.seed,
        ),
    )
    return drawn, _Bits(drawn, {atom: index for index, atom in enumerate(atoms)})


def _more_columns(table: OpenTable, request: FitRequest, queries: bool) -> list[Expr]:
    """The columns that are sampled though no query compares them: all, if a layout needs them."""
    own = request.options.own
    if not any(needs_of(name, own).all_columns for name in request.layouts(queries)):
        return []
    return [item.expr for item in tracked_columns(table.snapshot.schema)]


@dataclass(frozen=True, slots=True, eq=False)
class _Bits:
    """Which drawn rows satisfy which atoms."""

    drawn: Drawn
    index_of: Mapping[Expr, int]

    def __call__(self, atoms: Sequence[Expr]) -> npt.NDArray[np.bool_]:
        """The columns of these atoms, in their order."""
        indices = [self.index_of[atom] for atom in atoms]
        # The first of them need no copy.
        first = indices == list(range(len(indices)))
        return self.drawn.sample.bits[:, : len(indices)] if first else self.drawn.sample.bits[:, indices]


def _with_candidates(table: OpenTable, mined: _Mined, request: FitRequest) -> _Mined:
    """The same with further conditions on joined tables to cut by, none if no query has any."""
    if not any(partners_in(atom) for atom in mined.view.atoms):
        return mined
    joined = JoinedTables(table.engine)
    more = partner_candidates(joined, mined.view.atoms, request.options.seed)
    fine = [atom for atom in more if unwritable(atom) is None]
    return replace(mined, view=replace(mined.view, atoms=(*mined.view.atoms, *fine)))


def _without_partners(predicate: Expr) -> Expr:
    """What Spark can read over this table alone; conditions on other tables were read by these."""
    parts = tuple(part for part in conjuncts(predicate) if not partners_in(part))
    return predicate if not partners_in(predicate) else And(parts) if len(parts) > 1 else (*parts, TRUE)[0]


def _text(table: OpenTable, predicate: Expr) -> str:
    return to_sql(predicate) if partners_in(predicate) else table.snapshot.logical_names.sql(predicate)


def _features(table: OpenTable, view: WorkloadView, analysis: Analysis, rough: bool) -> _Mined:
    wanted = [mined for mined in analysis.features if unwritable(mined.predicate) is None]
    names = table.snapshot.logical_names
    own = [_without_partners(mined.predicate) for mined in wanted]
    read: Sequence[object] = own
    if not rough:
        read = read_back(table.no_rows(), table.snapshot.schema, [names.sql(expr) for expr in own])
    # A feature that Spark reads back differently would never be found by a query.
    kept = [
        (Feature(mined.predicate, _text(table, mined.predicate)), mined.weight)
        for mined, written, found in zip(wanted, own, read, strict=True)
        if found == written
    ]
    atoms = dict.fromkeys((*view.atoms, *(feature.predicate for feature, _ in kept)))
    weights = np.array([weight for _, weight in kept], np.float64)
    return _Mined(replace(view, atoms=tuple(atoms)), tuple(feature for feature, _ in kept), weights)
