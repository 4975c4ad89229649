"""What a layout saves: the logged workload replayed on virtual blocks of a sample.

The method is that of Self-organising layouts for Delta (thesis), section 5.2, with three differences.

* The baseline is the current layout with its own skipping, not a table that is read whole.
* A query costs the bytes and values of the columns that it reads, from the Parquet footers.
* A virtual block has fewer rows than the block that it stands for. Its bounds are too tight and its union
  vector has too few bits, so a layout looks better than it is. How much better is measured: the same
  blocks are simulated with half of the rows, and what the full sample scans more than half of it is what
  is still missing, to first order (the gap between the sampled and the true extreme of n values is of the
  order 1/n). For a table of s times as many rows as the sample the correction is (full - half) * (1 - 1/s).

Cost: three simulations instead of one; the halves are simulated for at most ``MOST_CORRECTED`` queries.

>>> break_even_runs(30.0, 12.0), break_even_runs(30.0, 0.0)
(2.5, None)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import numpy as np
import numpy.typing as npt

from skipstone.catalog.column_sizes import ColumnSizes
from skipstone.estimate.cost import Coefficients, Extent
from skipstone.layout.assignment import Numbers
from skipstone.layout.reconstruction import JOIN_SECONDS
from skipstone.layout.sample import Sample, WorkloadView
from skipstone.layout.simulate import virtual_blocks
from skipstone.predicate.expr import Expr
from skipstone.predicate.normalize import normalize_filter
from skipstone.pruning.blocks import BlockSet, Feature
from skipstone.pruning.prune import prune
from skipstone.workload.predicates import LoggedFilter

__all__ = [
    "Load",
    "Scanned",
    "Volume",
    "break_even_runs",
    "cheaper",
    "load_of",
    "observed_days",
    "scanned_blocks",
    "volume",
]

Floats = npt.NDArray[np.float64]
MOST_CORRECTED = 24
_SECONDS_A_DAY = 86_400.0


@dataclass(frozen=True, slots=True, eq=False)
class Load:
    """The queries of a workload view: how often each ran, and the bytes and values that it reads of a row."""

    weights: Floats
    row_bytes: Floats
    row_values: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Scanned:
    """Per query: the share of the rows in the blocks that are read, and how many blocks these are.

    Of column groups, ``share`` is that of the cells that the query asks for, tuple ids included, and
    ``joined`` how many rows, as a share of the table's, are joined to others by their tuple ids.
    """

    share: Floats
    blocks: Floats
    joined: Floats | None = None

    def join_seconds(self, total_rows: float) -> Floats:
        """What it takes each query to put tuples together."""
        return np.asarray(_joined(self) * total_rows * JOIN_SECONDS)


@dataclass(frozen=True, slots=True)
class Volume:
    """What one run of the logged workload reads."""

    rows: float
    bytes: float
    files: float
    seconds: float


def load_of(view: WorkloadView, entries: Sequence[LoggedFilter], sizes: ColumnSizes) -> Load:
    """Weights, and what is read of a row, of a view's queries; an entry without columns reads all of them."""
    indices = {filter_: index for index, filter_ in enumerate(view.filters)}
    normal: dict[Expr, int] = {}
    read_bytes, read_values = np.zeros(len(indices)), np.zeros(len(indices))
    for entry in entries:
        if entry.filter not in normal:
            normal[entry.filter] = indices[normalize_filter(entry.filter)]
        index, read = normal[entry.filter], sizes.of(entry.columns)
        read_bytes[index] += entry.weight * read.bytes
        read_values[index] += entry.weight * read.values
    weights = np.maximum(view.weights, 1e-300)
    return Load(view.weights, read_bytes / weights, read_values / weights)


def scanned_blocks(
    numbers: Numbers,
    sample: Sample,
    known: WorkloadView,
    features: Sequence[Feature],
    view: WorkloadView | None = None,
) -> Scanned:
    """What each query reads when row i of the sample lies in block ``numbers[i]``, corrected as above.

    The sample's bits are about the atoms of ``known``, whose queries are asked unless ``view`` has others.
    """
    asked = known if view is None else view
    return _corrected(numbers, sample, asked, lambda some, of: virtual_blocks(some, of, known, features))


def scanned_by_bounds(numbers: Numbers, sample: Sample, known: WorkloadView, view: WorkloadView) -> Scanned:
    """The same where blocks have bounds alone, as in tables that only Delta itself keeps statistics of."""
    return _corrected(
        numbers, sample, view, lambda some, of: _without_values(virtual_blocks(some, of, known, ()))
    )


def _corrected(
    numbers: Numbers, sample: Sample, view: WorkloadView, blocks: Callable[[Numbers, Sample], BlockSet]
) -> Scanned:
    if not view.filters:
        return Scanned(np.zeros(0), np.zeros(0))
    found = _read(view.filters, blocks(numbers, sample))
    share = found.share / max(len(sample), 1)
    if sample.scale <= 1.0 or len(sample) <= 1 or not view.weights.sum():
        return Scanned(share, found.blocks)
    # The heaviest queries stand for the others.
    chosen = np.sort(np.argsort(-view.weights, kind="stable")[:MOST_CORRECTED])
    asked = [view.filters[index] for index in chosen]
    halves = [_read(asked, blocks(numbers[start::2], _every_second(sample, start))).share for start in (0, 1)]
    missing = np.maximum(share[chosen] - (halves[0] + halves[1]) / len(sample), 0.0)
    correction = np.full(len(share), np.average(missing, weights=view.weights[chosen]))
    correction[chosen] = missing
    correction[share == 0.0] = 0.0
    return Scanned(np.minimum(share + correction * (1.0 - 1.0 / sample.scale), 1.0), found.blocks)


def _read(filters: Sequence[Expr], blocks: BlockSet) -> Scanned:
    kept = [~prune(filter_, blocks).skip for filter_ in filters]
    rows = np.array([blocks.rows[keep].sum() for keep in kept], np.float64)
    return Scanned(rows, np.array([np.count_nonzero(keep) for keep in kept], np.float64))


def _without_values(blocks: BlockSet) -> BlockSet:
    bounds = {key: replace(statistics, values=None) for key, statistics in blocks.statistics.items()}
    return replace(blocks, statistics=bounds)


def _every_second(sample: Sample, start: int) -> Sample:
    columns = {key: column[start::2] for key, column in sample.columns.items()}
    return Sample(sample.bits[start::2], columns, 2 * sample.scale)


def volume(scanned: Scanned, load: Load, total_rows: float, costs: Coefficients) -> Volume:
    """The shares of a sample extrapolated to the table, in bytes and seconds."""
    rows = scanned.share * total_rows
    weighted = rows * load.weights
    read = Extent(float(weighted @ load.row_bytes), float(weighted.sum()), float(weighted @ load.row_values))
    files = float(scanned.blocks @ load.weights)
    seconds = costs.read_seconds(read, files) + float(scanned.join_seconds(total_rows) @ load.weights)
    return Volume(read.rows, read.bytes, files, seconds)


def cheaper(one: Scanned, other: Scanned, load: Load, total_rows: float, costs: Coefficients) -> Scanned:
    """What queries read that have two copies of the rows, each the one that takes it less time."""
    seconds = [
        np.array([
            costs.read_seconds(Extent(rows * bytes_, rows, rows * values), files)
            for rows, bytes_, values, files in zip(
                scanned.share * total_rows, load.row_bytes, load.row_values, scanned.blocks, strict=True
            )
        ])
        + scanned.join_seconds(total_rows)
        for scanned in (one, other)
    ]  # fmt: skip
    first = seconds[0] <= seconds[1]
    pairs = ((one.share, other.share), (one.blocks, other.blocks), (_joined(one), _joined(other)))
    return Scanned(*(np.where(first, here, there) for here, there in pairs))


def _joined(scanned: Scanned) -> Floats:
    return np.zeros(len(scanned.share)) if scanned.joined is None else scanned.joined


def break_even_runs(rewrite_seconds: float, saved_seconds: float) -> float | None:
    """After how many runs of the workload a rewrite has paid for itself; None if it never does."""
    return rewrite_seconds / saved_seconds if saved_seconds > 0 else None


def observed_days(times: Sequence[datetime | None]) -> float | None:
    """How long the workload takes to run once: the span of its timestamps, with one more gap at its end.

    None when the log does not say when its queries ran, or all ran at once.

    >>> observed_days([datetime(2024, 1, 1), datetime(2024, 1, 2), datetime(2024, 1, 3), None])
    3.0
    """
    known = sorted(time.timestamp() for time in times if time is not None)
    if len(known) <= 1 or known[-1] <= known[0]:
        return None
    span = timedelta(seconds=known[-1] - known[0])
    return span.total_seconds() / _SECONDS_A_DAY * len(known) / (len(known) - 1)
