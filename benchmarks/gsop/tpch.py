"""Data cells and tuple ids that queries read of the denormalised TPC-H table: figures 7a and 8a.

Every contestant is fitted for 1,000 training queries on a sample and judged by 100 test queries on as
many rows as fit into memory, by the statistics that its blocks would have. Groups are chosen by the
paper's cost, a sort, and by the measured one. Plain Parquet has its row groups as they lie, with their
minima and maxima.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from benchmarks.context import context_of
from benchmarks.gsop.queries import GSOP_TEMPLATES, gsop_workloads
from benchmarks.pieces import Piece
from benchmarks.tpch.simulator import parsed
from skipstone.actions.prepare import FitRequest, prepare
from skipstone.api import Table
from skipstone.estimate.advice import needed
from skipstone.estimate.benefit import Scanned
from skipstone.estimate.prepared import Asked, Prepared, view_of
from skipstone.estimate.scan_groups import group_reads
from skipstone.layout.assignment import Tree
from skipstone.layout.contract import ColumnGroup, Design
from skipstone.layout.options import LayoutOptions
from skipstone.layout.reconstruction import JOIN_CELLS
from skipstone.layout.simulate import virtual_blocks
from skipstone.layout.table_view import ColumnReads
from skipstone.predicate.normalize import normalize_filter
from skipstone.pruning.prune import prune
from skipstone.spark.engine.draw_sample import Request, draw, ordered_inputs

__all__ = ["CONTESTANTS", "PLAIN", "Cells", "prepare_cells"]

PLAIN = "plain Parquet"
CONTESTANTS: Mapping[str, Mapping[str, str]] = {
    "SOP": {"grouping": "one"},
    "GSOP-single": {"grouping": "single"},
    "GSOP": {"reconstruction": "sort-merge"},
    "GSOP-measured": {"reconstruction": "measured"},
    "GSOP-hc": {"grouping": "hillclimb"},
    "GSOP-hy": {"grouping": "hyrise"},
    "qd-tree": {"grouping": "one", "inner": "qdtree"},
    "GSOP-qdtree": {"reconstruction": "sort-merge", "inner": "qdtree"},
}
_FIT_ROWS = 300_000
_FEATURES = 100


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The prepared training queries, and the same table with the test queries and as many rows as fit."""

    fitted: Prepared
    judged: Prepared
    blocks: int

    def measure(self, name: str) -> Piece:
        """Mean cells, tuple ids and reconstruction of a test query, as shares of one column of the table."""
        if name == PLAIN:
            return self._plain()
        design = replace(self.fitted, options=CONTESTANTS[name]).fit("gsop")
        reads = group_reads(self.judged, design)
        weights, query = reads.kinds.weights, np.asarray(reads.tuple_ids > 0, np.float64)
        total = weights.sum()
        cells, ids = weights @ reads.cells / total, weights @ reads.tuple_ids / total
        return {
            "cells": float(cells),
            "tuple_ids": float(ids),
            "with_measured_joins": float(cells + JOIN_CELLS * ids),
            "groups": len(design.groups),
            "joining_queries": float(weights @ query),
            "columns": [list(group.columns or ()) for group in design.groups],
            "local_features": [len(group.features) for group in design.groups],
            "templates": {
                each: {"cells": cells, "tuple_ids": ids}
                for (each, cells), ids in zip(
                    self._by_template(reads.kinds, reads.cells).items(),
                    self._by_template(reads.kinds, reads.tuple_ids).values(),
                    strict=True,
                )
            },
        }

    def _by_template(self, kinds: ColumnReads, values: npt.NDArray[np.float64]) -> dict[str, float]:
        """The mean of each template; its queries stand together in the workload."""
        names, test = list(GSOP_TEMPLATES), gsop_workloads()[1].queries
        number = {query.sql: index * len(names) // len(test) for index, query in enumerate(test)}
        template_of = {
            normalize_filter(entry.filter): number[entry.sql] for entry in self.judged.asked.entries
        }
        filters = self.judged.asked.view.filters
        of = np.array([template_of[filters[query]] for query in kinds.query])
        weights = np.bincount(of, kinds.weights, len(names))
        sums = np.bincount(of, kinds.weights * values, len(names))
        return dict(zip(names, (sums / weights).tolist(), strict=True))

    def _plain(self) -> Piece:
        sample = self.judged.view.sample
        numbers = (np.arange(len(sample)) * self.blocks // max(len(sample), 1)).astype(np.int32)
        lying = virtual_blocks(numbers, sample, self.judged.workload.queries, ())
        share = [
            lying.rows[~prune(each, lying).skip].sum() / len(sample)
            for each in self.judged.asked.view.filters
        ]
        whole = group_reads(self.judged, Design((ColumnGroup(Tree(0, 1)),)))
        found = Scanned(np.array(share), np.zeros(len(share)))
        kinds = whole.kinds

        def mean(shares: npt.NDArray[np.float64]) -> float:
            cells = kinds.weights @ (whole.asked * shares[kinds.query])
            return float(cells / kinds.weights.sum())

        wanted = needed(self.judged).share
        cells, least = mean(found.share), mean(wanted)
        return {
            "cells": cells,
            "needed": least,
            "templates": self._by_template(kinds, whole.asked * wanted[kinds.query]),
            "tuple_ids": 0.0,
            "with_measured_joins": cells,
            "groups": 1,
        }


def prepare_cells(opened: Table, blocks: int, most_rows: int) -> Cells:
    """Mine features, draw the sample to fit on and the rows to judge by."""
    training, test = (parsed(opened, workload) for workload in gsop_workloads())
    table = context_of(opened).table
    options = LayoutOptions(num_features=_FEATURES, threshold=5.0, sample_rows=_FIT_ROWS)
    request = FitRequest(table.file_indices, training, options=options, wanted=("gsop",))
    fitted = prepare(table, request)
    fitted = replace(fitted, view=replace(fitted.view, block_rows=max(1, fitted.total_rows // blocks)))
    asked = view_of(test)
    known = fitted.workload.queries
    atoms = tuple(dict.fromkeys((*known.atoms, *asked.atoms)))
    drawn = draw(
        table,
        Request(
            file_indices=fitted.file_indices,
            total_rows=fitted.total_rows,
            rows=most_rows,
            atoms=atoms,
            columns=ordered_inputs(atoms),
            partition=None,
            seed=1,
        ),
    )
    # The rows that are judged stand for the whole table.
    sample = replace(drawn.sample, bits=drawn.sample.bits[:, : len(known.atoms)], scale=1.0)
    judged = replace(
        fitted,
        view=replace(fitted.view, sample=sample),
        asked=Asked(test, asked, drawn.sample.bits[:, [atoms.index(atom) for atom in asked.atoms]]),
    )
    return Cells(fitted, judged, blocks)
