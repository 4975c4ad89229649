"""Adapting real tables: lineitem laid out by ``hyper``, adapted to a workload, and judged by other queries.

Beside it stands the qd-tree that is fitted for the same queries and rewrites all of the table.
"""

from __future__ import annotations

import shutil
from dataclasses import asdict

import numpy as np

import skipstone
from benchmarks.adapt.least_left import least_left
from benchmarks.adapt.workloads import workload
from benchmarks.context import context_of
from benchmarks.hyper.files import Tables
from benchmarks.hyper.lineitem import NAME
from benchmarks.pieces import Piece
from skipstone.api import Table
from skipstone.estimate.cost import CostModel
from skipstone.progress import Progress
from skipstone.workload.queries import Workload

__all__ = ["adapted", "hyper_base", "laid_out_anew"]

_TIMES = 20
"""How often each query of the window was asked."""
_BASE = "least-allocated"


def hyper_base(tables: Tables) -> Piece:
    """The table before adaptation, which is that of the hyper-partitioning benchmark."""
    if not (tables.home / _BASE / "_delta_log").exists():
        tables.made(_BASE)
    return {"files": len(context_of(_open(tables, _BASE)).snapshot)}


def adapted(tables: Tables, kind: str, progress: Progress | None = None) -> Piece:
    """A copy of the table, adapted to one workload; what others of its kind scan before and after."""
    name = f"adapted-{kind}"
    shutil.rmtree(tables.home / name, ignore_errors=True)
    shutil.copytree(tables.home / _BASE, tables.home / name)
    table, judges = _open(tables, name), workload(kind, 1)
    table.index()  # finds all files indexed, and lets the session skip
    bound = _least_left(table, judges)
    before = table.replay(judges, progress).summary()
    report = table.adapt(workload(kind, 0, _TIMES), model=CostModel(), progress=progress)
    after = table.replay(judges, progress).summary()
    return {"percent_least_left": 100 * bound, "report": asdict(report), "before": before, "after": after}


def laid_out_anew(tables: Tables, kind: str, progress: Progress | None = None) -> Piece:
    """A table by the qd-tree for the same workload, into blocks of the same size."""
    name = f"qdtree-{kind}"
    tables.plain(name, "delta")
    table = _open(tables, name)
    report = table.optimize(workload(kind, 0, _TIMES), "qdtree", tables.block_rows, progress=progress)
    return {"report": asdict(report), "after": table.replay(workload(kind, 1), progress).summary()}


def _open(tables: Tables, name: str) -> Table:
    return skipstone.table(tables.spark, f"{NAME}={tables.home / name}")


def _least_left(table: Table, queries: Workload) -> float:
    """The bound by the files of the table as they are."""
    context = context_of(table)
    catalog = context.catalog
    mine = context.snapshot.files.indices_in(catalog.files)
    scans = [context.engine.scans_of(query.sql)[0] for query in queries.queries]
    read = [(scan.offered & ~scan.skipped)[mine] for scan in scans]
    return least_left(np.mean(read, axis=0), catalog.blocks.rows[mine], catalog.files.sizes[mine])
