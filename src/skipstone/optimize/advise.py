"""Advice: every layout fitted and simulated on the same sample, against the table as it lies."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from skipstone.errors import SkipstoneError
from skipstone.layout.assignment import Numbers, blocks_of
from skipstone.layout.contract import Fitted
from skipstone.layout.formulas import holds
from skipstone.layout.layouts import LAYOUTS
from skipstone.layout.numbers import block_numbers
from skipstone.layout.simulate import simulate
from skipstone.optimize.prepare import Prepared
from skipstone.spark.progress import Progress
from skipstone.workload.queries import BrokenQuery

__all__ = ["AS_IT_LIES", "Advice", "LayoutAdvice", "advise"]

AS_IT_LIES = "as it lies"


@dataclass(frozen=True, slots=True)
class LayoutAdvice:
    """One layout's simulation; ``problem`` says why it could not be fitted."""

    layout: str
    blocks: int
    percent_scanned: float | None
    fit_seconds: float
    note: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Advice:
    """All layouts, best first, and the table as it lies; ``fitted`` holds what was fitted."""

    root: str
    queries: int
    rows: int
    sampled_rows: int
    block_rows: int
    percent_needed: float
    layouts: tuple[LayoutAdvice, ...]
    fitted: dict[str, Fitted]
    unusable: tuple[BrokenQuery, ...] = ()

    @property
    def best(self) -> str:
        """The layout that scans least; "as it lies" when none is better than that."""
        usable = [row for row in self.layouts if row.percent_scanned is not None]
        return min(usable, key=lambda row: (row.percent_scanned or 0.0, row.layout != AS_IT_LIES)).layout

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        facts = {
            name: getattr(self, name) for name in ("root", "queries", "rows", "sampled_rows", "block_rows")
        }
        rows = [asdict(row) for row in self.layouts]
        return {**facts, "percent_needed": self.percent_needed, "best": self.best, "layouts": rows}

    def __str__(self) -> str:
        lines = [
            f"{self.root}: {self.queries} queries, {self.rows:,} rows, "
            f"blocks of about {self.block_rows:,} rows",
            f"{'layout':<12} {'% scanned':>10} {'blocks':>8} {'fit s':>7}",
        ]
        for row in self.layouts:
            share = "-" if row.percent_scanned is None else f"{row.percent_scanned:.2f}"
            figures = f"{row.layout:<12} {share:>10} {row.blocks:>8,} {row.fit_seconds:>7.1f}"
            lines.append(f"{figures}  {row.problem or row.note}")
        lines.append(f"{'needed':<12} {self.percent_needed:>10.2f}")
        return "\n".join(lines)


def advise(
    prepared: Prepared,
    layouts: Sequence[str] | None = None,
    progress: Progress | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Advice:
    """Fit and simulate the layouts, all by default."""
    names = tuple(layouts or LAYOUTS)
    fitted: dict[str, Fitted] = {}
    rows = [_as_it_lies(prepared)]
    for place, name in enumerate(names):
        if progress is not None:
            progress(f"simulating {name}", place, len(names))
        started = clock()
        try:
            fit = LAYOUTS[name].fit(prepared.fitting)
            numbers = block_numbers(fit.assignment, prepared.fitting)
            scanned = _percent_scanned(prepared, numbers, fit)
        except SkipstoneError as problem:
            rows.append(LayoutAdvice(name, 0, None, clock() - started, problem=str(problem)))
            continue
        fitted[name] = fit
        rows.append(LayoutAdvice(name, blocks_of(fit.assignment), scanned, clock() - started, fit.note))
    ordered = sorted(rows, key=lambda row: (row.percent_scanned is None, row.percent_scanned or 0.0))
    return Advice(
        root=prepared.files.root,
        queries=len(prepared.entries),
        rows=prepared.total_rows,
        sampled_rows=len(prepared.fitting.sample),
        block_rows=prepared.fitting.block_rows,
        percent_needed=_percent_needed(prepared),
        layouts=tuple(ordered),
        fitted=fitted,
        unusable=prepared.unusable,
    )


def _as_it_lies(prepared: Prepared) -> LayoutAdvice:
    """The table's own files as virtual blocks."""
    numbers = prepared.drawn.file_of
    simulated = simulate(
        numbers, prepared.fitting.sample, prepared.fitting.workload, prepared.fitting.features
    )
    return LayoutAdvice(AS_IT_LIES, len(prepared.files.files), 100.0 * simulated.mean, 0.0)


def _percent_scanned(prepared: Prepared, numbers: Numbers, fitted: Fitted) -> float:
    fitting = prepared.fitting
    features = tuple(dict.fromkeys((*fitting.features, *fitted.features)))
    return 100.0 * simulate(numbers, fitting.sample, fitting.workload, features).mean


def _percent_needed(prepared: Prepared) -> float:
    view, bits = prepared.fitting.workload, prepared.fitting.sample.bits
    needed = np.array([holds(formula, bits).mean() if len(bits) else 0.0 for formula in view.formulas])
    return float(100.0 * (needed @ view.weights) / view.weights.sum())
