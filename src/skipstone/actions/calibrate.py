"""``calibrate``: generated tables are rewritten and scanned in several ways, and the cost model fitted to it.

One thing is varied at a time, as in Self-organising layouts for Delta (thesis), section 5.1: the size, the
number of Z features, of SOP features and of additional features; and the bytes per value, by a second table
of narrow columns and a map. Scans read few and all files, and one, the narrow or all columns. The first
rewrites and scans only warm up the JVM and are not counted. Then every rewrite runs twice, in one order and
back again, and the quicker run counts: a JVM that becomes faster meanwhile, or a moment's other work, would
otherwise look like what a feature costs. What was just written is read from the operating system's cache;
where tables are far larger than memory, scans cost more, and savings are larger than estimated.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np

from skipstone.actions.engine_action import EngineContext
from skipstone.arguments import checked
from skipstone.estimate.cost import CostModel, Extent, Observation, RewriteFeatures
from skipstone.layout.assignment import Clusters, Dimension, Grid
from skipstone.layout.pack import pack
from skipstone.predicate.expr import Column, Comparison, Expr, Literal, Match
from skipstone.predicate.types import LONG, STRING
from skipstone.progress import Progress, Steps
from skipstone.spark.engine.trial_tables import NUMBERS, TEXT, VALUES, TrialTable, generate_tables

__all__ = ["Calibrate", "Calibration"]

_BLOCKS = 8


@dataclass(frozen=True, slots=True)
class _Features:
    """How many Z, SOP and additional features a rewrite has."""

    z: int
    sop: int
    additional: int


_PLAIN = _Features(1, 0, 0)
_WARM_UP = 2 * (_Features(1, 32, 32),)
_VARIED = (_PLAIN, _Features(4, 0, 0), _Features(1, 4, 0), _Features(1, 32, 0), _Features(1, 0, 32))
"""The rewrites of the whole table."""
_SCAN_ROUNDS = 3
"""Of which the first does not count."""
_TRIALS = {"generating": 4, "scans": 6 * _SCAN_ROUNDS, "rewrites": len(_WARM_UP) + 2 * (len(_VARIED) + 2)}


@dataclass(frozen=True, slots=True)
class Calibration:
    """The model, what was measured for it, and how long that took."""

    model: CostModel
    bytes: int
    rows: int
    seconds: float

    def to_dict(self, path: str) -> dict[str, object]:
        """For JSON; ``path`` is where the model is kept."""
        return {
            "rows": self.rows,
            "bytes": self.bytes,
            "seconds": self.seconds,
            "path": path,
            "coefficients": asdict(self.model.coefficients),
            "observations": self.model.to_json()["observations"],
        }


@dataclass(frozen=True, slots=True)
class Calibrate:
    """Measure what rewrites and scans cost here, on tables of so many rows.

    They are made below ``directory``, which the executors must reach, and left there for the caller to
    delete. The model is not stored.
    """

    name: ClassVar[str] = "calibrate"

    directory: str
    rows: int = 600_000

    def validate(self, context: EngineContext) -> None:
        """Refuse a number of rows out of range."""
        checked(rows=self.rows)

    def run(self, context: EngineContext) -> Calibration:
        """Make the tables, scan and rewrite them, and fit the model to what was seen."""
        rows: int = checked(rows=self.rows)["rows"]
        started = context.clock()
        path = f"{self.directory}/calibration-{uuid.uuid4().hex[:8]}"
        with context.steps(sum(_TRIALS.values()), _TRIALS) as steps:
            steps.begin("generating", "generating tables")
            mixed, narrow = generate_tables(context.engine, path, rows)
            size = mixed.open().files.bytes
            observations = [*_scans(mixed, steps), *_rewrites(mixed, narrow, steps)]
        model = CostModel().calibrated(observations)
        return Calibration(model, size, rows, (context.clock() - started).total_seconds())


def _scans(table: TrialTable, steps: Steps) -> list[Observation]:
    """Scans of a quarter and of all files, of one, the narrow and all columns."""
    trials = table.scans()
    some = (NUMBERS[:1], NUMBERS, tuple(trials.sizes.columns))
    wanted = [(share, columns) for _ in range(_SCAN_ROUNDS) for share in (4, 1) for columns in some]
    found = []
    for index, (share, columns) in enumerate(wanted):
        _report(steps.step("scans"), "calibrating scans", index, len(wanted))
        seen = trials.scan(trials.table.file_indices[::share], columns)
        found.append(Observation.read(Extent.of(seen.rows, seen.row), seen.files, seen.seconds))
    return found[len(wanted) // _SCAN_ROUNDS :]


def _rewrites(mixed: TrialTable, narrow: TrialTable, steps: Steps) -> list[Observation]:
    """Rewrites of the whole table by each set of features and of a third of it, and of the narrow table."""
    trials = [(mixed, features, 1.0) for features in _VARIED]
    trials += [(mixed, _PLAIN, 1 / 3), (narrow, _PLAIN, 1.0)]
    wanted = [*((mixed, features, 1.0) for features in _WARM_UP), *trials, *reversed(trials)]
    found = []
    for index, (table, features, share) in enumerate(wanted):
        _report(steps.step("rewrites"), "calibrating rewrites", index, len(wanted))
        found.append(_rewrite(table, features, share))
    there, back = found[len(_WARM_UP) : -len(trials)], found[-len(trials) :]
    pairs = zip(there, reversed(back), strict=True)
    return [min(pair, key=lambda run: run.seconds) for pair in pairs]


def _rewrite(table: TrialTable, features: _Features, share: float) -> Observation:
    tracked = (*_predicates(features.sop), *_predicates(features.additional, features.sop))
    seen = table.rewrite(_assignment(features.z, features.sop), tracked, share)
    counted = RewriteFeatures(Extent.of(seen.rows, seen.row), features.z, features.sop, features.additional)
    return Observation.rewrite(counted, seen.seconds)


def _report(progress: Progress | None, what: str, done: int, total: int) -> None:
    if progress is not None:
        progress(what, done, total)


def _assignment(z: int, sop: int) -> Grid:
    """A grid of so many columns, and of clusters of so many predicates if there are any."""
    buckets = max(2, round((4 * _BLOCKS) ** (1 / z)))
    bounds = tuple(VALUES * index // buckets for index in range(1, buckets))
    axes: list[Dimension | Clusters] = [Dimension(_number(index), bounds) for index in range(z)]
    if sop:
        vectors = pack(np.tri(sop + 1, sop, -1, dtype=np.bool_)[:, ::-1])
        indices = np.arange(sop + 1, dtype=np.int32)
        axes.append(Clusters(tuple(_predicates(sop)), vectors, indices, 0, sop + 1))
    cells = int(np.prod([axis.buckets for axis in axes]))
    blocks = (np.arange(cells) * _BLOCKS // cells).astype(np.int32)
    return Grid(tuple(axes), blocks, _BLOCKS)


def _number(index: int) -> Column:
    return Column((NUMBERS[index],), LONG)


def _predicates(count: int, after: int = 0) -> Sequence[Expr]:
    """Different predicates: comparisons of numbers and patterns in texts by turns."""
    return [
        Match("contains", Column((TEXT,), STRING), f"{index:03x}")
        if index % 2
        else Comparison("<", _number(index // 2 % len(NUMBERS)), Literal(VALUES * (index + 1) // 64, LONG))
        for index in range(after, after + count)
    ]
