"""What simulations of a workload share: a fitted-on sample, all rows of the table, and the test queries.

Layouts are fitted on a sample of the rows and the training queries, as ``optimize`` does. They are then
judged on all rows and the test queries: blocks of a few sampled rows would have narrower statistics than real
ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.tpch.queries import TABLE
from skipstone.actions.prepare import Prepared, Wishes, parse_log, prepare
from skipstone.api import Table
from skipstone.errors import SkipstoneError
from skipstone.layout.assignment import Numbers, blocks_of
from skipstone.layout.contract import Fitted, Layout
from skipstone.layout.formulas import holds
from skipstone.layout.numbers import block_numbers
from skipstone.layout.sample import Fitting, Sample, WorkloadView
from skipstone.layout.simulate import simulate
from skipstone.layout.view import workload_view
from skipstone.pruning.blocks import Feature
from skipstone.spark.engine.sample import draw, ordered_inputs
from skipstone.workload.predicates import LoggedFilter
from skipstone.workload.queries import Query, Workload

__all__ = ["FIT_ROWS", "Simulated", "Simulator", "make_simulator", "parsed"]

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
class Simulator:
    """A prepared workload with all rows of its table. ``rows`` has the same atoms as the sample."""

    prepared: Prepared
    rows: Sample
    test: WorkloadView
    percent_needed: float

    def with_features(self, num_features: int) -> Simulator:
        """The same with the first features only."""
        fitting = self.fitting(self.prepared.fitting.block_rows, num_features)
        return replace(self, prepared=replace(self.prepared, fitting=fitting))

    def fitting(self, block_rows: int, num_features: int | None = None) -> Fitting:
        """What a layout is fitted on, with the first features only."""
        found = self.prepared.fitting
        most = slice(0, num_features)
        return replace(
            found,
            block_rows=block_rows,
            features=found.features[most],
            feature_weights=found.feature_weights[most],
            feature_bits=found.feature_bits[:, most],
        )

    def simulate(self, layout: Layout, block_rows: int, num_features: int | None = None) -> Simulated:
        """Fit a layout on the sample and judge it on all rows."""
        fitting = self.fitting(block_rows, num_features)
        return self.judge(fitting, layout.fit(fitting))

    def judge(self, fitting: Fitting, fitted: Fitted) -> Simulated:
        """The test queries on all rows, laid out by a fitted layout."""
        numbers = block_numbers(fitted.assignment, replace(fitting, sample=self.rows))
        vectors = fitted.parameters.get("vectors", 0)
        features = tuple(dict.fromkeys((*fitting.features, *fitted.features)))
        percent = self.percent_scanned(numbers, features)
        blocks = min(blocks_of(fitted.assignment), len(np.unique(numbers)))
        return Simulated(
            percent, self.percent_needed, blocks, vectors if isinstance(vectors, int) else 0, fitted.note
        )

    def percent_scanned(self, numbers: Numbers, features: Sequence[Feature]) -> float:
        """The test queries' mean share of rows scanned when row i lies in block ``numbers[i]``."""
        view = self.prepared.fitting.workload
        return 100.0 * simulate(numbers, self.rows, view, features, self.test).mean


def parsed(opened: Table, queries: Workload) -> tuple[LoggedFilter, ...]:
    """The filters of a workload; a statement that occurs several times is parsed once."""
    counts: dict[str, int] = {}
    for query in queries.queries:
        counts[query.sql] = counts.get(query.sql, 0) + query.count
    merged = Workload(tuple(Query(sql, count=count) for sql, count in counts.items()))
    entries, unusable = parse_log(opened.spark, opened.files(), TABLE, merged)
    if unusable:
        raise SkipstoneError(f"A generated query is broken: {unusable[0]}")
    return entries


def make_simulator(
    opened: Table,
    training: Sequence[LoggedFilter],
    test: Sequence[LoggedFilter],
    wishes: Wishes,
    most_rows: int,
) -> Simulator:
    """Prepare a workload and bring the filtered columns of at most ``most_rows`` rows to the driver."""
    files = opened.files()
    prepared = prepare(opened.spark, files, training, (), replace(wishes, sample_rows=FIT_ROWS))
    asked = workload_view([entry.filter for entry in test], [entry.weight for entry in test])
    known = prepared.fitting.workload
    # The test queries' atoms come last, only to count what the queries need.
    atoms = tuple(dict.fromkeys((*known.atoms, *asked.atoms)))
    by = None if prepared.partition is None else prepared.partition.expr
    frame = files.live(opened.spark, np.arange(len(files.files)))
    columns = ordered_inputs(atoms)
    drawn = draw(frame, prepared.total_rows, most_rows, atoms, columns, prepared.names, by, wishes.seed)
    needed = _percent_needed(asked, atoms, drawn.sample)
    rows = replace(drawn.sample, bits=drawn.sample.bits[:, : len(known.atoms)])
    return Simulator(prepared, rows, asked, needed)


def _percent_needed(asked: WorkloadView, atoms: Sequence[object], rows: Sample) -> float:
    place = {atom: number for number, atom in enumerate(atoms)}
    bits = rows.bits[:, [place[atom] for atom in asked.atoms]]
    shares = np.array([holds(formula, bits).mean() for formula in asked.formulas])
    return float(100.0 * (shares @ asked.weights) / asked.weights.sum())
