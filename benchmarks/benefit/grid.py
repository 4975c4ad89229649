"""The grid of the benefit estimate: so many Z features, so many SOP features, estimated against real.

As in Self-organising layouts for Delta (thesis), table 5.1, the layout ``selforg`` is fitted to the part of
the workload that has the first so many of each, and what the whole workload skips is estimated on the sample.
Then the table is rewritten and the bytes that the same queries skip are taken from their plans. Without any
feature the table keeps its current layout, where Delta alone skips, by the one column that goes with the
order of arrival.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from benchmarks.benefit.readings import TABLE, Asked, readings
from skipstone.actions.prepare import Prepared, Wishes, parse_log, prepare
from skipstone.actions.rewrite import rewrite_table
from skipstone.api import Table, table
from skipstone.errors import SkipstoneError
from skipstone.estimate.benefit import Scanned, scanned_blocks, volume
from skipstone.estimate.cost import CostModel
from skipstone.estimate.cost_inputs import as_it_lies, economy_of
from skipstone.layout.contract import Fitted
from skipstone.layout.numbers import block_numbers
from skipstone.layout.selforg import SELFORG
from skipstone.predicate.expr import Expr
from skipstone.predicate.normalize import normalize_filter
from skipstone.spark import SparkSession
from skipstone.spark.bridge.runtime import runtime_of
from skipstone.spark.bridge.scans import scans_of
from skipstone.workload.predicates import LoggedFilter
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
    runtime = runtime_of(grid.spark)
    files = copied.files()
    runtime.refresh(files.root)
    queries = Workload(tuple(Query(each.sql, count=each.count) for each in grid.asked))
    entries, unusable = parse_log(grid.spark, files, TABLE, queries)
    if unusable:
        raise SkipstoneError(f"A query of the grid is broken: {unusable[0]}")
    wishes = Wishes(block_rows=grid.block_rows, sample_rows=grid.sample_rows, seed=grid.seed)
    prepared = _without_features(prepare(grid.spark, files, entries, (), wishes))
    economy = economy_of(grid.spark, runtime, files, prepared.places, CostModel(), entries)
    fitted = _fitted(prepared, entries, grid.asked, z, sop) if z or sop else None
    scanned = as_it_lies(prepared, economy) if fitted is None else _scanned(prepared, fitted)
    load = economy.load(prepared)
    costs = economy.model.coefficients
    everything = Scanned(np.ones_like(scanned.share), scanned.blocks)
    total = volume(everything, load, prepared.total_rows, costs).bytes
    estimated = total - volume(scanned, load, prepared.total_rows, costs).bytes
    if fitted is not None:
        rewrite_table(grid.spark, runtime, prepared, prepared.places, "selforg", fitted)
        copied.frame().createOrReplaceTempView(TABLE)
    real = sum(each.count * _skipped_bytes(copied, each.sql) for each in grid.asked)
    shutil.rmtree(copied.source)
    chosen: dict[str, object] = {} if fitted is None else fitted.parameters
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
    fitting = replace(
        prepared.fitting,
        features=(),
        feature_weights=np.zeros(0),
        feature_bits=np.zeros((len(prepared.fitting.sample), 0), np.bool_),
    )
    return replace(prepared, fitting=fitting)


def _fitted(
    prepared: Prepared, entries: Sequence[LoggedFilter], asked: Sequence[Asked], z: int, sop: int
) -> Fitted:
    """The layout for the queries that ask the first features only; all rows and atoms stay."""
    most = {"z": z, "sop": sop, "other": 0}
    used = {each.sql: each.feature < most[each.kind] for each in asked}
    kept: set[Expr] = {normalize_filter(entry.filter) for entry in entries if used[entry.sql]}
    view = prepared.fitting.workload
    places = [place for place, filter_ in enumerate(view.filters) if filter_ in kept]
    part = replace(
        view,
        formulas=tuple(view.formulas[place] for place in places),
        filters=tuple(view.filters[place] for place in places),
        weights=view.weights[places],
    )
    return SELFORG.fit(replace(prepared.fitting, workload=part))


def _scanned(prepared: Prepared, fitted: Fitted) -> Scanned:
    fitting = prepared.fitting
    numbers = block_numbers(fitted.assignment, fitting)
    return scanned_blocks(numbers, fitting.sample, fitting.workload, fitted.features)


def _skipped_bytes(opened: Table, sql: str) -> int:
    """Bytes of the files that a query's plan leaves out, by Delta's or by skipstone's statistics."""
    found = [scan.figures for scan in scans_of(runtime_of(opened.spark), opened.spark.sql(sql))]
    return sum(int(figures["bytes_total"]) - int(figures["bytes_kept"]) for figures in found)
