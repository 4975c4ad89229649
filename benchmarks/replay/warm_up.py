"""What happens before the clock starts: everything runs once, costs are calibrated, columns are chosen."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import skipstone
from benchmarks.context import context_of
from benchmarks.replay.contestants import ZorderOnce
from benchmarks.replay.measure import run_scan
from benchmarks.replay.plan import Plan
from benchmarks.replay.timeline import Event, Insert, scans_of
from skipstone.actions.calibrate import Calibrate
from skipstone.actions.context import Context
from skipstone.actions.cost_store import save_model
from skipstone.actions.engine_action import perform_on_engine
from skipstone.actions.logged_workload import logged_workload
from skipstone.errors import SkipstoneError
from skipstone.estimate.cost import Extent, Observation
from skipstone.predicate.expr import Column
from skipstone.progress import Progress
from skipstone.spark import DataFrame, SparkSession
from skipstone.spark.engine.engine import Engine
from skipstone.spark.engine.read_column_sizes import read_column_sizes
from skipstone.workload.candidates import z_candidates
from skipstone.workload.predicates import query_predicates
from skipstone.workload.queries import Query, Workload

__all__ = ["arriving_rows", "best_columns", "own_costs", "warm_up"]

_MOST_COLUMNS = 4


@contextmanager
def own_costs(directory: Path) -> Iterator[None]:
    """What this run learns about costs stays in it, so that runs do not depend on each other."""
    before = os.environ.get("SKIPSTONE_COSTS")
    os.environ["SKIPSTONE_COSTS"] = str(directory)
    try:
        yield
    finally:
        if before is None:
            del os.environ["SKIPSTONE_COSTS"]
        else:
            os.environ["SKIPSTONE_COSTS"] = before


def warm_up(spark: SparkSession, plan: Plan, home: Path, progress: Progress | None) -> tuple[str, ...]:
    """Run everything once, untimed, and calibrate; returns the columns for Delta's own layouts."""
    first = next(event for event in plan.events if isinstance(event, Insert))
    scratch = ZorderOnce(spark, home / "scratch", columns=(), at=-1, block_bytes=plan.block_bytes)
    scratch.insert(arriving_rows(spark, plan, first, home), 0)
    scratch.show(plan.table)
    opened = context_of(skipstone.table(spark, str(scratch.path)), called=plan.table)
    columns = best_columns(opened, plan.events)
    if plan.model is None:
        scratch.columns, scratch.at = columns, 0
        scratch.optimise(0)
        _calibrate(spark, plan, scratch, progress)
    return columns


def _calibrate(spark: SparkSession, plan: Plan, scratch: ZorderOnce, progress: Progress | None) -> None:
    """Learn what rewrites and reads cost; what a value costs depends on its type, so of this table too."""
    engine = Engine.of(spark)
    model = perform_on_engine(Calibrate(str(scratch.path.parent)), engine, progress).model
    asked = {scan.template or scan.sql: scan.sql for scan in scans_of(plan.events)[:100]}
    reads = [run_scan(spark, sql) for sql in (*asked.values(), *asked.values())][len(asked) :]
    opened = context_of(skipstone.table(spark, str(scratch.path))).table
    sizes = read_column_sizes(opened, opened.file_indices)
    seen = [
        Observation.read(
            Extent(read.column_bytes, read.rows, read.rows * sizes.of(read.columns).values),
            read.files,
            read.seconds,
        )
        for read in reads
    ]
    save_model(engine, model.calibrated(seen))


def arriving_rows(spark: SparkSession, plan: Plan, insert: Insert, home: Path) -> DataFrame:
    """The rows of a batch from a file, so that inserts take no time to make them up."""
    if insert.path:
        return plan.rows_of(spark, insert)
    path = home / "batches" / str(insert.batch)
    if not path.exists():
        plan.rows_of(spark, insert).write.parquet(str(path))
    return spark.read.parquet(str(path))


def best_columns(context: Context, events: Sequence[Event]) -> tuple[str, ...]:
    """The plain columns that the queries of the whole timeline compare most often, at most four."""
    queries = Workload(tuple(Query(scan.sql) for scan in scans_of(events)))
    found = logged_workload(context, queries)
    if found.unusable:
        raise SkipstoneError(f"The timeline cannot be replayed: {found.unusable[0]}")
    candidates, _ = z_candidates(query_predicates(found.entries), theta=1)
    plain = [each.expr for each in candidates if isinstance(each.expr, Column)]
    if not plain:
        raise SkipstoneError(
            "No query of the timeline compares a plain column, so Delta has nothing to sort by."
        )
    return tuple(".".join(column.path) for column in plain[:_MOST_COLUMNS])
