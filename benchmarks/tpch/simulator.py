"""What simulations of a workload share: a fitted-on sample, all rows of the table, and the test queries.

Layouts are fitted on a sample of the rows and the training queries, as ``optimize`` does. They are then
judged on all rows and the test queries: blocks of a few sampled rows would have narrower statistics than real
ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.context import context_of
from skipstone.actions.logged_workload import logged_workload
from skipstone.actions.prepare import FitRequest, prepare
from skipstone.api import Table
from skipstone.errors import SkipstoneError
from skipstone.layout.assignment import Numbers, blocks_of
from skipstone.layout.contract import Design
from skipstone.layout.formulas import holds
from skipstone.layout.layouts import fit_layout
from skipstone.layout.numbers import block_numbers
from skipstone.layout.options import LayoutOptions
from skipstone.layout.sample import Sample, WorkloadView
from skipstone.layout.simulate import simulate
from skipstone.layout.table_view import FitWorkload, TableView
from skipstone.layout.workload_view import workload_view
from skipstone.pruning.blocks import Feature
from skipstone.spark.engine.draw_sample import Request, draw, ordered_inputs
from skipstone.workload.predicates import LoggedFilter
from skipstone.workload.queries import Query, Workload

__all__ = ["FIT_ROWS", "Fitting", "Simulated", "Simulator", "make_simulator", "parsed"]

FIT_ROWS = 600_000


@dataclass(frozen=True, slots=True)
class Simulated:
    """A simulated layout: the share of rows that the test queries scan and need, on average."""

    percent_scanned: float
    percent_needed: float
    blocks: int
    vectors: int
    note: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Fitting:
    """What a layout is fitted on."""

    view: TableView
    workload: FitWorkload

    def fit(self, layout: str) -> Design:
        """The layout of this name."""
        return fit_layout(layout, self.view, self.workload)


@dataclass(frozen=True, slots=True, eq=False)
class Simulator:
    """A prepared workload with all rows of its table. ``rows`` has the same atoms as the sample."""

    view: TableView
    workload: FitWorkload
    rows: Sample
    test: WorkloadView
    percent_needed: float

    def with_features(self, num_features: int) -> Simulator:
        """The same with the first features only."""
        return replace(self, workload=self.fitting(self.view.block_rows, num_features).workload)

    def fitting(self, block_rows: int, num_features: int | None = None) -> Fitting:
        """What a layout is fitted on, with the first features only."""
        found, most = self.workload, slice(0, num_features)
        workload = replace(
            found,
            features=found.features[most],
            feature_weights=found.feature_weights[most],
            feature_bits=found.feature_bits[:, most],
        )
        return Fitting(replace(self.view, block_rows=block_rows), workload)

    def simulate(self, layout: str, block_rows: int, num_features: int | None = None) -> Simulated:
        """Fit a layout on the sample and judge it on all rows."""
        fitting = self.fitting(block_rows, num_features)
        return self.judge(fitting, fitting.fit(layout))

    def judge(self, fitting: Fitting, design: Design) -> Simulated:
        """The test queries on all rows, laid out by a design."""
        group = design.group
        numbers = block_numbers(group.assignment, self.rows, fitting.workload.queries.atoms)
        vectors = design.parameters.get("vectors", 0)
        features = tuple(dict.fromkeys((*fitting.workload.features, *group.features)))
        percent = self.percent_scanned(numbers, features)
        blocks = min(blocks_of(group.assignment), len(np.unique(numbers)))
        return Simulated(
            percent, self.percent_needed, blocks, vectors if isinstance(vectors, int) else 0, design.note
        )

    def percent_scanned(self, numbers: Numbers, features: Sequence[Feature]) -> float:
        """The test queries' mean share of rows scanned when row i lies in block ``numbers[i]``."""
        return 100.0 * simulate(numbers, self.rows, self.workload.queries, features, self.test).mean


def parsed(opened: Table, queries: Workload) -> tuple[LoggedFilter, ...]:
    """The filters of a workload; a statement that occurs several times is parsed once."""
    counts: dict[str, int] = {}
    for query in queries.queries:
        counts[query.sql] = counts.get(query.sql, 0) + query.count
    merged = Workload(tuple(Query(sql, count=count) for sql, count in counts.items()))
    found = logged_workload(context_of(opened), merged)
    if found.unusable:
        raise SkipstoneError(f"A generated query is broken: {found.unusable[0]}")
    return found.entries


def make_simulator(
    opened: Table,
    training: Sequence[LoggedFilter],
    test: Sequence[LoggedFilter],
    options: LayoutOptions,
    most_rows: int,
) -> Simulator:
    """Prepare a workload and bring the filtered columns of at most ``most_rows`` rows to the driver."""
    table = context_of(opened).table
    chosen = replace(options, sample_rows=FIT_ROWS)
    prepared = prepare(table, FitRequest(table.file_indices, tuple(training), options=chosen))
    asked = workload_view([entry.filter for entry in test], [entry.weight for entry in test])
    known = prepared.workload.queries
    # The test queries' atoms come last, only to count what the queries need.
    atoms = tuple(dict.fromkeys((*known.atoms, *asked.atoms)))
    request = Request(
        file_indices=prepared.file_indices,
        total_rows=prepared.total_rows,
        rows=most_rows,
        atoms=atoms,
        columns=ordered_inputs(atoms),
        partition=prepared.view.sample.partition_by,
        seed=options.seed,
    )
    drawn = draw(table, request)
    needed = _percent_needed(asked, atoms, drawn.sample)
    rows = replace(drawn.sample, bits=drawn.sample.bits[:, : len(known.atoms)])
    return Simulator(prepared.view, prepared.workload, rows, asked, needed)


def _percent_needed(asked: WorkloadView, atoms: Sequence[object], rows: Sample) -> float:
    index = {atom: number for number, atom in enumerate(atoms)}
    bits = rows.bits[:, [index[atom] for atom in asked.atoms]]
    shares = np.array([holds(formula, bits).mean() for formula in asked.formulas])
    return float(100.0 * (shares @ asked.weights) / asked.weights.sum())
