"""Everything that turns blocks into bytes and seconds, and what the table costs in its current layout."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skipstone.catalog import Catalog
from skipstone.catalog.column_sizes import ColumnSizes
from skipstone.catalog.decide import decide
from skipstone.catalog.files import Files
from skipstone.estimate.benefit import Load, Scanned, load_of, scanned_by_bounds
from skipstone.estimate.cost import CostModel
from skipstone.estimate.prepared import Prepared
from skipstone.layout.sample import Sample
from skipstone.predicate.expr import Column, Expr
from skipstone.pruning.blocks import Counts

__all__ = ["CostInputs", "Known", "current_layout", "drawn_files", "known_files", "read_now"]

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class CostInputs:
    """What costs are computed from: the cost model, the sizes of columns, and the catalog as it is.

    ``days`` is how long one run of the log takes in real life, None if that is not known. ``beside`` is set
    for copies that are made beside what there is: a query reads whichever costs less.
    """

    model: CostModel
    sizes: ColumnSizes
    catalog: Catalog
    settings: Mapping[str, str]
    days: float | None = None
    beside: bool = False

    def load(self, prepared: Prepared) -> Load:
        """The workload in bytes per row."""
        return load_of(prepared.asked.view, prepared.asked.entries, self.sizes)


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """Files whose blocks the catalog knows: their indices in the table, and their entries."""

    file_indices: Counts
    entries: Counts


def known_files(files: Files, indices: Counts, inputs: CostInputs) -> Known:
    """Which of the files have a catalog entry that holds under the reader settings of now."""
    catalog = inputs.catalog
    entries = files.some(indices).indices_in(catalog.files)
    known = entries >= 0
    known[known] = ~catalog.foreign(dict(inputs.settings))[entries[known]] & (
        catalog.blocks.rows[entries[known]] >= 0
    )
    return Known(indices[known], entries[known])


def read_now(filter_: Expr, known: Known, inputs: CostInputs) -> Flags:
    """Which of the known files a filter makes Spark read today."""
    return ~decide(filter_, inputs.catalog, inputs.settings).skip[known.entries]


def current_layout(prepared: Prepared, inputs: CostInputs) -> Scanned:
    """What each query reads today.

    Files with a catalog entry are pruned by it. Of the others, Delta's minima and maxima are simulated on
    the sampled rows; plain Parquet files are always read.
    """
    view, sample = prepared.asked.view, prepared.view.sample
    known = known_files(prepared.snapshot.files, prepared.file_indices, inputs)
    rows = inputs.catalog.blocks.rows[known.entries]
    kept = [read_now(filter_, known, inputs) for filter_ in view.filters]
    rows_read = np.array([rows[keep].sum() for keep in kept], np.float64)
    blocks_read = np.array([np.count_nonzero(keep) for keep in kept], np.float64)
    elsewhere = _rows_elsewhere(prepared, known)
    others = len(prepared.file_indices) - len(known.file_indices)
    rows_elsewhere = np.count_nonzero(elsewhere) * sample.scale
    if others and prepared.snapshot.is_delta:
        rows_there = _some_rows(sample, elsewhere)
        files = prepared.drawn.file_of[elsewhere]
        found = scanned_by_bounds(files, rows_there, prepared.workload.queries, view)
        rows_read += found.share * rows_elsewhere
        blocks_read += found.blocks
    elif others:
        rows_read += rows_elsewhere
        blocks_read += others
    total = max(float(rows.sum()) + rows_elsewhere, 1.0)
    return Scanned(np.minimum(rows_read / total, 1.0), blocks_read)


def drawn_files(prepared: Prepared) -> Counts:
    """Where the files that rows were drawn from are among those of the table; -1 if nowhere."""
    indices = {_plain(path): index for index, path in enumerate(prepared.snapshot.locations)}
    return np.array([indices.get(_plain(unquote(path)), -1) for path in prepared.drawn.file_paths], np.int64)


def _rows_elsewhere(prepared: Prepared, known: Known) -> Flags:
    """The sampled rows that lie in files without a catalog entry."""
    locations = prepared.snapshot.locations
    inside = {_plain(locations[index]) for index in known.file_indices.tolist()}
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
