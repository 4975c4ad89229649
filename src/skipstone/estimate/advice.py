"""Advice: every layout fitted and simulated on the same sample, against the current layout."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Protocol

import numpy as np

from skipstone.catalog.column_sizes import ColumnSizes
from skipstone.errors import SkipstoneError
from skipstone.estimate.benefit import Scanned, Volume, break_even_runs, cheaper, scanned_blocks, volume
from skipstone.estimate.cost import Extent, RewriteFeatures
from skipstone.estimate.cost_inputs import CostInputs, current_layout
from skipstone.estimate.prepared import Prepared
from skipstone.estimate.rewrite_features import features_of_groups, rewrite_features
from skipstone.estimate.scan_groups import group_reads, scanned_groups
from skipstone.layout.assignment import blocks_of
from skipstone.layout.contract import Design
from skipstone.layout.formulas import holds
from skipstone.layout.hyper import HYPER
from skipstone.layout.layouts import REPLICA_LAYOUTS, layout_named
from skipstone.layout.numbers import block_numbers
from skipstone.predicate.joined_column import columns_asked
from skipstone.progress import Progress
from skipstone.view import Cell, Grid, Share, View, Viewed
from skipstone.workload.queries import BrokenQuery

__all__ = ["CURRENT_LAYOUT", "Advice", "LayoutAdvice", "advise", "features_of_rewrite", "needed"]

CURRENT_LAYOUT = "current layout"
_NO_QUERIES = "no query with a usable filter, so what would be scanned is not known"


class JsonView(Protocol):
    """Something that JSON is made of."""

    def to_dict(self) -> dict[str, object]:
        """For JSON."""


@dataclass(frozen=True, slots=True)
class LayoutAdvice:
    """One layout's simulation; ``problem`` says why it could not be fitted.

    Bytes and seconds are those of one run of the whole log, and of the rewrite; None where they are not
    known. A rewrite reads the files that it covers, and is expected to write as much.
    """

    layout: str
    blocks: int
    percent_scanned: float | None
    fit_seconds: float
    note: str = ""
    problem: str = ""
    bytes_scanned: float | None = None
    scan_seconds: float | None = None
    bytes_saved: float | None = None
    seconds_saved: float | None = None
    rewrite_seconds: float | None = None
    rewrite_bytes_read: float | None = None
    rewrite_bytes_written: float | None = None
    break_even_runs: float | None = None
    break_even_days: float | None = None

    def net_seconds(self, runs: float) -> float | None:
        """What is gained in so many runs of the log, the rewrite paid."""
        if self.seconds_saved is None or self.rewrite_seconds is None:
            return None
        return runs * self.seconds_saved - self.rewrite_seconds


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Advice(Viewed):
    """All layouts, best first, and the current layout; ``designs`` holds what was fitted.

    ``observed_days`` is how long one run of the log takes in real life; None without timestamps.
    ``costs`` says where the seconds come from; ``maps`` are the block maps, if they were asked for.
    """

    root: str
    queries: int
    rows: int
    sampled_rows: int
    block_rows: int
    percent_needed: float | None
    layouts: tuple[LayoutAdvice, ...]
    designs: dict[str, Design]
    unusable: tuple[BrokenQuery, ...] = ()
    observed_days: float | None = None
    costs: str = ""
    maps: Mapping[str, JsonView] = field(default_factory=dict)

    @property
    def best(self) -> str:
        """The layout that scans least; "current layout" when none is better than that.

        Without queries, the one that is made for that. Column groups read fewer cells and have to put tuples
        together, so they are only better if that takes less time in all.
        """
        if not self.queries:
            return HYPER.name if HYPER.name in self.designs else CURRENT_LAYOUT
        usable = [row for row in self.layouts if row.percent_scanned is not None]
        whole = [row for row in usable if row.layout not in REPLICA_LAYOUTS]
        best = min(whole, key=lambda row: (row.percent_scanned or 0.0, row.layout != CURRENT_LAYOUT))
        faster = [row for row in usable if row not in whole and _is_faster(row, best)]
        return min(faster, key=lambda row: row.scan_seconds or 0.0, default=best).layout

    def pays_most(self, runs: float) -> LayoutAdvice | None:
        """The layout that gains most in so many runs of the log, whether or not that is more than nothing."""
        known = [row for row in self.layouts if row.net_seconds(runs) is not None]
        return max(known, key=lambda row: row.net_seconds(runs) or 0.0, default=None)

    @property
    def _rewritten(self) -> float | None:
        """The bytes that a rewrite reads, by whatever layout."""
        found = (row.rewrite_bytes_read for row in self.layouts if row.rewrite_bytes_read is not None)
        return next(found, None)

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        names = ("root", "queries", "rows", "sampled_rows", "block_rows", "observed_days", "costs")
        values = {name: getattr(self, name) for name in names}
        rows = [asdict(row) for row in self.layouts]
        unusable = [asdict(query) for query in self.unusable]
        more = {"percent_needed": self.percent_needed, "best": self.best, "layouts": rows}
        maps = {name: it.to_dict() for name, it in self.maps.items()}
        return {**values, **more, "unusable": unusable, **({"maps": maps} if maps else {})}

    def _heading(self) -> str:
        queries = f"{self.queries} queries" if self.queries else _NO_QUERIES
        return f"{self.root}: {queries}, {self.rows:,} rows, blocks of about {self.block_rows:,} rows"

    def view(self) -> View:
        """The layouts with what is scanned under each."""
        header = ("layout", "rows scanned", "blocks", "read s", "saved s", "rewrite s", "pays after")
        needed = (("needed", _percent(self.percent_needed), *(5 * ("",))),)
        grid = Grid("", header, (*(_cells(row) for row in self.layouts), *needed))
        notes = tuple(f"{row.layout}: {row.problem}" for row in self.layouts if row.problem)
        return View(f"{self._heading()}; best: {self.best}", notes=notes, grids=(grid,))

    def __str__(self) -> str:
        lines = [
            self._heading(),
            (
                f"{'layout':<14} {'% scanned':>9} {'blocks':>7} {'MB read':>9} {'MB saved':>9} {'read s':>8} "
                f"{'saved s':>8} {'rewrite s':>9}  {'pays after':<20} {'fit s':>6}"
            ),
        ]
        lines += [_line(row) for row in self.layouts]
        if self.percent_needed is not None:
            lines.append(f"{'needed':<14} {self.percent_needed:>9.2f}")
        lines += [
            f"{row.layout}: {row.problem or row.note}" for row in self.layouts if row.problem or row.note
        ]
        if self.costs:
            if (size := self._rewritten) is not None:
                lines.append(f"A rewrite reads {size / 1e6:,.1f} MB and writes about as much.")
            lines.append(f"MB and seconds are per run of the log, with {self.costs}.")
            if self.queries and self.observed_days is None:
                lines.append("The log does not say when its queries ran, so their rate is unknown.")
        return "\n".join(lines)


def _is_faster(row: LayoutAdvice, other: LayoutAdvice) -> bool:
    """Whether reading takes less time, as far as that is known of both."""
    one, two = row.scan_seconds, other.scan_seconds
    return one is not None and two is not None and one < two


def _line(row: LayoutAdvice) -> str:
    read, saved = (None if it is None else it / 1e6 for it in (row.bytes_scanned, row.bytes_saved))
    return (
        f"{row.layout:<14} {_number(row.percent_scanned, 9, 2)} {row.blocks:>7,} {_number(read, 9, 1)} "
        f"{_number(saved, 9, 1)} {_number(row.scan_seconds, 8, 1)} {_number(row.seconds_saved, 8, 1)} "
        f"{_number(row.rewrite_seconds, 9, 1)}  {_pays_after(row):<20} {row.fit_seconds:>6.1f}"
    )


def _percent(value: float | None) -> Cell:
    return "-" if value is None else Share(value, 100, f"{value:.2f} %")


def _cells(row: LayoutAdvice) -> tuple[Cell, ...]:
    seconds = (row.scan_seconds, row.seconds_saved, row.rewrite_seconds)
    numbers = (_number(value, 0, 1) for value in seconds)
    return row.layout, _percent(row.percent_scanned), f"{row.blocks:,}", *numbers, _pays_after(row)


def _number(value: float | None, width: int, digits: int) -> str:
    return f"{'-' if value is None else f'{value:,.{digits}f}':>{width}}"


def _pays_after(row: LayoutAdvice) -> str:
    if row.rewrite_seconds is None or row.seconds_saved is None:
        return "-"
    if row.break_even_runs is None:
        return "never"
    days = "" if row.break_even_days is None else f", {row.break_even_days:,.1f} days"
    return f"{row.break_even_runs:,.1f} runs{days}"


def advise(
    prepared: Prepared,
    layouts: Sequence[str] | None = None,
    progress: Progress | None = None,
    inputs: CostInputs | None = None,
    standing: Scanned | None = None,
) -> Advice:
    """Fit and simulate the layouts, by default all prepared ones; with ``inputs`` in bytes and seconds too.

    ``standing`` is what is scanned in the current layout, if that is known already.
    """
    chosen = [layout_named(name).name for name in layouts or prepared.layouts]
    designs: dict[str, Design] = {}
    ledger = _Ledger(prepared, inputs, standing)
    rows = [ledger.baseline]
    for number, name in enumerate(chosen):
        if progress is not None:
            progress(f"simulating {name}", number, len(chosen))
        started = time.perf_counter()
        try:
            design = prepared.fit(name)
            scanned, note = ledger.simulate(design)
        except SkipstoneError as problem:
            rows.append(LayoutAdvice(name, 0, None, time.perf_counter() - started, problem=str(problem)))
            continue
        designs[name] = design
        plain = LayoutAdvice(name, _blocks(design), None, time.perf_counter() - started, note=note)
        rows.append(ledger.row(plain, design, scanned))
    ordered = sorted(rows, key=lambda row: (row.percent_scanned is None, row.percent_scanned or 0.0))
    return Advice(
        root=prepared.snapshot.root,
        queries=len(prepared.entries),
        rows=prepared.total_rows,
        sampled_rows=len(prepared.view.sample),
        block_rows=prepared.view.block_rows,
        percent_needed=ledger.percent(needed(prepared)),
        layouts=tuple(ordered),
        designs=designs,
        unusable=prepared.unusable,
        observed_days=None if inputs is None else inputs.days,
        costs="" if inputs is None else inputs.model.describe(),
    )


class _Ledger:
    """Rows of the advice: what is scanned, in percent and, if costs are known, in bytes and seconds."""

    def __init__(self, prepared: Prepared, inputs: CostInputs | None, standing: Scanned | None) -> None:
        self._prepared = prepared
        self._inputs = inputs
        self._load = None if inputs is None else inputs.load(prepared)
        if standing is None:
            standing = _virtual_files(prepared) if inputs is None else current_layout(prepared, inputs)
        self._standing = standing
        self._before = self._volume(standing)
        self.baseline = LayoutAdvice(
            CURRENT_LAYOUT,
            len(prepared.file_indices),
            self.percent(standing),
            0.0,
            bytes_scanned=None if self._before is None else self._before.bytes,
            scan_seconds=None if self._before is None else self._before.seconds,
        )

    def percent(self, scanned: Scanned) -> float | None:
        """What the queries scan; None if there are none."""
        weights = self._prepared.asked.view.weights
        return float(100.0 * (scanned.share @ weights) / weights.sum()) if len(weights) else None

    def _volume(self, scanned: Scanned) -> Volume | None:
        if self._inputs is None or self._load is None or not len(self._load.weights):
            return None
        costs = self._inputs.model.coefficients
        return volume(scanned, self._load, self._prepared.total_rows, costs)

    def simulate(self, design: Design) -> tuple[Scanned, str]:
        """What the queries would scan, and what there is to say about the design."""
        if len(design.groups) == 1:
            return _scanned(self._prepared, design), design.note
        reads = group_reads(self._prepared, design)
        cells, ids = reads.percent(reads.cells), reads.percent(reads.tuple_ids)
        note = (
            f"{design.note}; of the cells asked for, queries read {cells:.2f} % and {ids:.2f} % as tuple ids"
        )
        return scanned_groups(reads, self._standing), note

    def row(self, plain: LayoutAdvice, design: Design, scanned: Scanned) -> LayoutAdvice:
        """A fitted layout, with what is known of it so far, in all its figures."""
        if self._inputs is not None and self._load is not None and self._inputs.beside:
            costs, rows = self._inputs.model.coefficients, self._prepared.total_rows
            scanned = cheaper(self._standing, scanned, self._load, rows, costs)
        after = self._volume(scanned)
        plain = replace(plain, percent_scanned=self.percent(scanned))
        if self._inputs is None:
            return plain
        costs, days = self._inputs.model.coefficients, self._inputs.days
        features = features_of_rewrite(self._prepared, design, self._inputs.sizes)
        rewrite_seconds = costs.rewrite_seconds(features)
        plain = replace(
            plain,
            rewrite_seconds=rewrite_seconds,
            rewrite_bytes_read=float(self._prepared.bytes),
            rewrite_bytes_written=features.extent.bytes,
        )
        if after is None or self._before is None:
            return plain
        saved = self._before.seconds - after.seconds
        runs = break_even_runs(rewrite_seconds, saved)
        return replace(
            plain,
            note=plain.note + self._of_groups(design, scanned, features.extent.bytes),
            bytes_scanned=after.bytes,
            scan_seconds=after.seconds,
            bytes_saved=self._before.bytes - after.bytes,
            seconds_saved=saved,
            break_even_runs=runs,
            break_even_days=None if runs is None or days is None else runs * days,
        )

    def _of_groups(self, design: Design, scanned: Scanned, size: float) -> str:
        """What column groups cost besides; nothing is said of one group."""
        if self._load is None or len(design.groups) == 1:
            return ""
        seconds = float(scanned.join_seconds(self._prepared.total_rows) @ self._load.weights)
        return (
            f"; putting tuples together takes {seconds:,.1f} s of reading, storing them about "
            f"{size / 1e6:,.1f} MB"
        )


def features_of_rewrite(prepared: Prepared, design: Design, sizes: ColumnSizes) -> RewriteFeatures:
    """What the rewrite of the prepared files by a design costs by.

    Column groups are written one after the other, each with its tuple ids and by its own features.
    """
    if len(design.groups) > 1:
        return features_of_groups(design.groups, float(prepared.total_rows), sizes)
    features = [feature.predicate for feature in prepared.features_of(design)]
    joined = columns_asked(prepared.workload.queries.atoms)
    expressions = (*prepared.expressions_of(design), *joined)
    size, rows = float(prepared.bytes), float(prepared.total_rows)
    extent = Extent(size, rows, rows * sizes.of().values)
    return rewrite_features(design.group.assignment, (*features, *expressions), extent)


def _blocks(design: Design) -> int:
    return sum(blocks_of(group.assignment) for group in design.groups)


def _virtual_files(prepared: Prepared) -> Scanned:
    """The table's own files as virtual blocks."""
    workload, asked = prepared.workload, prepared.asked.view
    file_of, sample = prepared.drawn.file_of, prepared.view.sample
    return scanned_blocks(file_of, sample, workload.queries, workload.features, asked)


def _scanned(prepared: Prepared, design: Design) -> Scanned:
    sample, queries = prepared.view.sample, prepared.workload.queries
    numbers = block_numbers(design.group.assignment, sample, queries.atoms)
    return scanned_blocks(numbers, sample, queries, prepared.judging_features(design), prepared.asked.view)


def needed(prepared: Prepared) -> Scanned:
    """What a perfect layout would let each query read: the rows that satisfy its filter, in no file."""
    asked, bits = prepared.asked, prepared.asked.bits
    share = np.array([holds(formula, bits).mean() if len(bits) else 0.0 for formula in asked.view.formulas])
    return Scanned(share, np.zeros(len(share)))
