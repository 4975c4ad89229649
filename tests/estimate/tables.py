"""Tables, logs, layouts and samples in memory, for tests of what is decided about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
from tests.catalog.segments import SETTINGS, bounds, segment
from tests.costs import EAGER

from skipstone.catalog import Catalog, Files, Segment
from skipstone.catalog.column_sizes import ColumnSizes, PerRow
from skipstone.catalog.layout_records import LayoutRecord
from skipstone.catalog.merge import merge
from skipstone.catalog.snapshot import Snapshot
from skipstone.catalog.tracked import TrackedSet
from skipstone.estimate.cost import CostModel
from skipstone.estimate.cost_inputs import CostInputs
from skipstone.estimate.drift import Drift
from skipstone.estimate.drifted_files import LayoutDrift
from skipstone.estimate.prepared import Asked, Prepared, fingerprint_of, view_of
from skipstone.layout.assignment import Split, Tree
from skipstone.layout.contract import ColumnGroup, Design
from skipstone.layout.layouts import compared_layouts
from skipstone.layout.sample import Drawn, Sample
from skipstone.layout.stored_layout import StoredLayout, group_record
from skipstone.layout.table_view import FitWorkload, TableView
from skipstone.predicate.expr import Column, Comparison, Expr, Literal
from skipstone.predicate.types import LONG
from skipstone.workload.analysis import analyze
from skipstone.workload.logged_scans import LoggedScan
from skipstone.workload.predicates import LoggedFilter

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
K, M = Column(("k",), LONG), Column(("m",), LONG)
SIZE, ROWS = 1_000, 10
"""Of every file."""


def below(column: Column, most: int) -> Expr:
    return Comparison("<", column, Literal(most, LONG))


def files(names: str, size: int = SIZE) -> Files:
    """A file for each letter."""
    count = len(names)
    return Files(tuple(names), np.full(count, size), np.full(count, 5))


def snapshot(names: str, size: int = SIZE) -> Snapshot:
    """A Delta table of these files."""
    fields = ",".join(
        f'{{"name":"{name}","type":"long","nullable":true,"metadata":{{}}}}' for name in ("k", "m")
    )
    return Snapshot(
        root="t",
        format="delta",
        schema=f'{{"type":"struct","fields":[{fields}]}}',
        partition_schema='{"type":"struct","fields":[]}',
        version=7,
        files=files(names, size),
        locations=tuple(f"file:/t/{name}" for name in names),
    )


def indexed(names: str, layout: str = "", rows: int = ROWS) -> Segment:
    """An entry for each of the files; the i-th has values of k from 10 i to 10 i + 9."""
    low = [10 * index for index in range(len(names))]
    known = bounds(LONG, low, [value + 9 for value in low])
    found = segment(tuple(names), {K: known}, size=SIZE)
    blocks = replace(found.blocks, rows=np.full(len(names), rows, np.int64))
    return replace(found, blocks=blocks, layout=layout)


def catalog(*segments: Segment) -> Catalog:
    return merge(segments)


def scan(filter_: Expr, days_ago: float = 1.0, count: int = 1) -> LoggedScan:
    """A logged scan of the column k."""
    time = NOW - timedelta(days=days_ago)
    return LoggedScan(time, filter_, ("k",), 4, 4, 4_000, 40, 10, 0.1, "ann", "app", count)


def placing() -> ColumnGroup:
    """Rows are placed by ``k < 50``."""
    return ColumnGroup(Tree(Split(below(K, 50), 0, 1), 2))


def record(layout: str = "one", days_ago: float = 10.0, strategy: str = "qdtree") -> LayoutRecord:
    """A layout that places rows by ``k < 50``."""
    return LayoutRecord(
        id=layout,
        strategy=strategy,
        created=(NOW - timedelta(days=days_ago)).isoformat(),
        table_version=1,
        block_rows=ROWS,
        partition_by=None,
        options={},
        parameters={},
        fingerprint="",
        workload=(),
        groups=(group_record(placing(), (), TrackedSet(())),),
    )


def _tree() -> Tree:
    return Tree(Split(below(K, 50), 0, 1), 2)


def stored(of: LayoutRecord, *workload: Expr, times: float = 1e6) -> StoredLayout:
    """The layout with the queries that it was made for."""
    entries = tuple(LoggedFilter(filter_, times) for filter_ in workload or (below(K, 50),))
    return StoredLayout(of, entries, Design((placing(),)))


def drifted(of: LayoutRecord, indices: Iterable[int], score: float, queries: float = 100.0) -> LayoutDrift:
    """A layout whose files are at these indices, with a drift of so much."""
    found = Drift(distance=score, noise=0.0, unserved=0.0, unserved_before=0.0, queries=queries)
    return LayoutDrift(of, np.array([*indices], np.int64), found)


def inputs(known: Catalog | None = None, model: CostModel = EAGER, days: float | None = None) -> CostInputs:
    """Costs of a table whose rows have 100 bytes, 8 of them in k."""
    sizes = ColumnSizes({"k": PerRow(8.0, 1.0), "m": PerRow(92.0, 1.0)})
    return CostInputs(model, sizes, catalog() if known is None else known, SETTINGS, days)


def prepared(most: Sequence[int], rows: int = 2_000, block_rows: int = 100) -> Prepared:
    """Four files in no order with k from 0 to 999, asked for ``k < n``; all rows are in the sample."""
    entries = tuple(LoggedFilter(below(K, value), 30.0) for value in most)
    values = np.random.default_rng(1).permutation(rows) % 1_000
    view = view_of(entries)
    bits = np.stack([values < value for value in most], axis=1)
    sample = Sample(bits, {K: pa.array(values)}, 1.0)
    table = snapshot("abcd", 100 * rows // 4)
    return Prepared(
        snapshot=table,
        file_indices=np.arange(4),
        entries=entries,
        unusable=(),
        analysis=analyze(entries),
        view=TableView(sample, block_rows),
        workload=FitWorkload(view),
        drawn=Drawn(sample, (np.arange(rows) * 4 // rows).astype(np.int32), table.locations),
        total_rows=rows,
        partition=None,
        layouts=compared_layouts({}, queries=True),
        fingerprint=fingerprint_of(view),
        asked=Asked(entries, view, bits),
    )
