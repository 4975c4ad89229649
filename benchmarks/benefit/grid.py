"""The grid of the benefit estimate: so many Z features, so many SOP features, estimated against real.

As in Self-organising layouts for Delta (thesis), table 5.1, the layout ``selforg`` is fitted to the part of
the workload that has the first so many of each, and what the whole workload skips is estimated on the sample.
Then the table is rewritten and the bytes that the same queries skip are taken from their plans. Without any
feature the table keeps its current layout, where Delta alone skips, by the one column that goes with the
order of arrival.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.benefit.readings import TABLE, Asked, readings
from benchmarks.context import context_of
from skipstone.actions.gather_costs import gather_costs
from skipstone.actions.lay_out import RewriteWork, rewrite_table
from skipstone.actions.logged_workload import logged_workload
from skipstone.actions.prepare import FitRequest, prepare
from skipstone.api import Table, table
from skipstone.errors import SkipstoneError
from skipstone.estimate.benefit import Scanned, scanned_blocks, volume
from skipstone.estimate.cost import CostModel
from skipstone.estimate.cost_inputs import current_layout
from skipstone.estimate.prepared import Prepared
from skipstone.layout.contract import Design
from skipstone.layout.numbers import block_numbers
from skipstone.layout.options import LayoutOptions
from skipstone.layout.selforg import SELFORG, SelfOrgOptions
from skipstone.predicate.expr import Expr
from skipstone.predicate.normalize import normalize_filter
from skipstone.spark import SparkSession
from skipstone.spark.engine.engine import Engine
from skipstone.workload.queries import Query, Workload

__all__ = ["Cell", "Grid", "measure_cell"]


@dataclass(frozen=True, slots=True)
class Cell:
    """Bytes that the workload skips; ``factor`` is how far the estimate is off, either way."""

    z: int
    sop: int
    chosen_z: int
    chosen_sop: int
    workload_bytes: float
    estimated_bytes: float
    real_bytes: float
    factor: float

    def to_dict(self) -> dict[str, float]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Grid:
    """A generated table and its workload; each cell works on a copy of the table."""

    spark: SparkSession
    home: Path
    asked: tuple[Asked, ...]
    block_rows: int
    sample_rows: int
    seed: int = 0

    def make(self, rows: int) -> None:
        """Write the table."""
        readings(self.spark, rows, self.seed).write.format("delta").save(str(self.home / "base"))

    def copy(self, name: str) -> Table:
        """A copy under the name that the queries use."""
        target = self.home / name
        shutil.copytree(self.home / "base", target)
        return table(self.spark, f"{TABLE}={target}")


def measure_cell(grid: Grid, z: int, sop: int) -> Cell:
    """Fit to the first so many features, estimate, rewrite and measure."""
    copied = grid.copy(f"z{z}-sop{sop}")
    context = context_of(copied)
    table = context.table
    table.refresh()
    queries = Workload(tuple(Query(each.sql, count=each.count) for each in grid.asked))
    log = logged_workload(context, queries)
    if log.unusable:
        raise SkipstoneError(f"A query of the grid is broken: {log.unusable[0]}")
    options = LayoutOptions(block_rows=grid.block_rows, sample_rows=grid.sample_rows, seed=grid.seed)
    request = FitRequest(table.file_indices, log.entries, options=options)
    prepared = _without_features(prepare(table, request))
    inputs = gather_costs(table, prepared.file_indices, CostModel(), log.entries)
    design = _fitted(prepared, grid.asked, z, sop) if z or sop else None
    scanned = current_layout(prepared, inputs) if design is None else _scanned(prepared, design)
    load = inputs.load(prepared)
    costs = inputs.model.coefficients
    everything = Scanned(np.ones_like(scanned.share), scanned.blocks)
    total = volume(everything, load, prepared.total_rows, costs).bytes
    estimated = total - volume(scanned, load, prepared.total_rows, costs).bytes
    if design is not None:
        rewrite_table(context, RewriteWork(prepared, "selforg", design, inputs.sizes))
        copied.frame().createOrReplaceTempView(TABLE)
    real = sum(each.count * _skipped_bytes(context.engine, each.sql) for each in grid.asked)
    shutil.rmtree(copied.source)
    chosen: Mapping[str, object] = {} if design is None else design.parameters
    return Cell(
        z,
        sop,
        len(_listed(chosen.get("z"))),
        len(_listed(chosen.get("sop"))),
        total,
        estimated,
        real,
        max(estimated, 1.0) / max(real, 1.0) if estimated > real else max(real, 1.0) / max(estimated, 1.0),
    )


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, dict | list) else []


def _without_features(prepared: Prepared) -> Prepared:
    """Mined features would add to those that the cell is about."""
    workload = replace(
        prepared.workload,
        features=(),
        feature_weights=np.zeros(0),
        feature_bits=np.zeros((len(prepared.view.sample), 0), np.bool_),
    )
    return replace(prepared, workload=workload)


def _fitted(prepared: Prepared, asked: Sequence[Asked], z: int, sop: int) -> Design:
    """The layout for the queries that ask the first features only; all rows and atoms stay."""
    most = {"z": z, "sop": sop, "other": 0}
    used = {each.sql: each.feature < most[each.kind] for each in asked}
    kept: set[Expr] = {normalize_filter(entry.filter) for entry in prepared.entries if used[entry.sql]}
    queries = prepared.workload.queries
    indices = [index for index, filter_ in enumerate(queries.filters) if filter_ in kept]
    part = replace(
        queries,
        formulas=tuple(queries.formulas[index] for index in indices),
        filters=tuple(queries.filters[index] for index in indices),
        weights=queries.weights[indices],
    )
    return SELFORG.fit(prepared.view, replace(prepared.workload, queries=part), SelfOrgOptions())


def _scanned(prepared: Prepared, design: Design) -> Scanned:
    group, sample, queries = design.group, prepared.view.sample, prepared.workload.queries
    numbers = block_numbers(group.assignment, sample, queries.atoms)
    return scanned_blocks(numbers, sample, queries, group.features)


def _skipped_bytes(engine: Engine, sql: str) -> int:
    """Bytes of the files that a query's plan leaves out, by Delta's or by skipstone's statistics."""
    found = [scan.figures for scan in engine.scans_of(sql)]
    return sum(figures.bytes_total - figures.bytes_kept for figures in found)
