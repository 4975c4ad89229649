"""Everything that turns blocks into bytes and seconds, and what the table costs as it lies."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skipstone.actions.prepare import Prepared
from skipstone.catalog import Catalog
from skipstone.catalog.decide import decide
from skipstone.estimate.benefit import Load, Scanned, load_of, observed_days, scanned_blocks
from skipstone.estimate.cost import CostModel
from skipstone.layout.sample import Sample
from skipstone.predicate.expr import Column, Expr
from skipstone.pruning.blocks import Counts
from skipstone.spark import SparkSession
from skipstone.spark.bridge.runtime import Runtime
from skipstone.spark.engine.column_sizes import ColumnSizes, column_sizes
from skipstone.spark.engine.open_table import TableFiles
from skipstone.workload.predicates import LoggedFilter

__all__ = ["Economy", "Known", "as_it_lies", "economy_of", "known_files", "read_now"]

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Economy:
    """What costs are computed from: the cost model, the sizes of columns, and the catalog as it is.

    ``days`` is how long one run of the log takes in real life, None if that is not known.
    """

    model: CostModel
    sizes: ColumnSizes
    catalog: Catalog
    settings: Mapping[str, str]
    days: float | None = None

    def load(self, prepared: Prepared) -> Load:
        """The workload in bytes per row."""
        return load_of(prepared.asked.view, prepared.asked.entries, self.sizes)


def economy_of(
    spark: SparkSession,
    runtime: Runtime,
    files: TableFiles,
    places: Counts,
    model: CostModel,
    entries: Sequence[LoggedFilter],
) -> Economy:
    """Read the footers of some of the files at these places; the rest is known already."""
    sizes = column_sizes(spark, files, places)
    days = observed_days([entry.timestamp for entry in entries])
    return Economy(model, sizes, runtime.catalog(files.root), runtime.settings(spark), days)


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """Files whose blocks the catalog knows: their places in the table, and their entries."""

    places: Counts
    entries: Counts


def known_files(files: TableFiles, places: Counts, economy: Economy) -> Known:
    """Which of the files have a catalog entry that holds under the reader settings of now."""
    catalog, now = economy.catalog, files.files
    foreign = catalog.foreign(dict(economy.settings))
    entries = {path: place for place, path in enumerate(catalog.files.paths)}
    found = []
    for place in places.tolist():
        entry = entries.get(now.paths[place], -1)
        if (
            entry >= 0
            and not foreign[entry]
            and catalog.files.sizes[entry] == now.sizes[place]
            and catalog.files.times[entry] == now.times[place]
            and catalog.blocks.rows[entry] >= 0
        ):
            found.append((place, entry))
    pairs = np.array(found, np.int64).reshape(-1, 2)
    return Known(pairs[:, 0], pairs[:, 1])


def read_now(filter_: Expr, known: Known, economy: Economy) -> Flags:
    """Which of the known files a filter makes Spark read today."""
    return ~decide(filter_, economy.catalog, economy.settings).skip[known.entries]


def as_it_lies(prepared: Prepared, economy: Economy) -> Scanned:
    """What each query reads today.

    Files with a catalog entry are pruned by it. Of the others, Delta's minima and maxima are simulated on
    the sampled rows; plain Parquet files are always read.
    """
    view, fitting = prepared.asked.view, prepared.fitting
    known = known_files(prepared.files, prepared.places, economy)
    rows = economy.catalog.blocks.rows[known.entries]
    kept = [read_now(filter_, known, economy) for filter_ in view.filters]
    rows_read = np.array([rows[keep].sum() for keep in kept], np.float64)
    blocks_read = np.array([np.count_nonzero(keep) for keep in kept], np.float64)
    elsewhere = _rows_elsewhere(prepared, known)
    others = len(prepared.places) - len(known.places)
    rows_elsewhere = np.count_nonzero(elsewhere) * prepared.fitting.sample.scale
    if others and prepared.files.format == "delta":
        rows_there = _some_rows(fitting.sample, elsewhere)
        found = scanned_blocks(
            prepared.drawn.file_of[elsewhere], rows_there, fitting.workload, (), view, bounds_only=True
        )
        rows_read += found.share * rows_elsewhere
        blocks_read += found.blocks
    elif others:
        rows_read += rows_elsewhere
        blocks_read += others
    total = max(float(rows.sum()) + rows_elsewhere, 1.0)
    return Scanned(np.minimum(rows_read / total, 1.0), blocks_read)


def _rows_elsewhere(prepared: Prepared, known: Known) -> Flags:
    """The sampled rows that lie in files without a catalog entry."""
    absolute = bytes(prepared.files.handle.absolutePaths()).decode().split("\0")
    inside = {_plain(absolute[place]) for place in known.places.tolist()}
    drawn = prepared.drawn
    outside = np.array([_plain(unquote(path)) not in inside for path in drawn.file_paths], np.bool_)
    return outside[drawn.file_of] if len(outside) else np.zeros(len(drawn.file_of), np.bool_)


def _plain(path: str) -> str:
    """A path however many slashes its scheme is followed by.

    >>> _plain("file:///t/x"), _plain("file:/t/x"), _plain("s3a://b/x")
    ('file:/t/x', 'file:/t/x', 's3a:/b/x')
    """
    return re.sub(r"^([A-Za-z][\w+.-]*):/+", r"\1:/", path)


def _some_rows(sample: Sample, chosen: Flags) -> Sample:
    """The chosen rows with the columns that Delta keeps minima and maxima of."""
    rows = pa.array(np.flatnonzero(chosen))
    columns: dict[Expr, pa.Array] = {
        key: value.take(rows) for key, value in sample.columns.items() if isinstance(key, Column)
    }
    return Sample(sample.bits[chosen], columns, sample.scale)
