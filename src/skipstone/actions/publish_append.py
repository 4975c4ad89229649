"""What follows an append by a layout: the new files get their statistics, and the decision log a line."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from skipstone.actions.index import index_laid_out
from skipstone.catalog.decisions import Decision, save_decision
from skipstone.spark import SparkSession
from skipstone.spark.bridge.runtime import Runtime
from skipstone.spark.engine.append_by_layout import Arrival
from skipstone.spark.engine.open_table import TableFiles
from skipstone.spark.querylog.query_log import unlogged

__all__ = ["settle"]


def settle(
    spark: SparkSession,
    runtime: Runtime,
    arrival: Arrival,
    now: TableFiles,
    write_seconds: float,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> Decision:
    """Index what has arrived; until then, and if that fails, it is read like any other new file."""
    started, record = clock(), arrival.record
    laid_out, overflowing = arrival.places(runtime, now)
    with unlogged(spark):
        for places, layout in ((laid_out, record.id), (overflowing, "")):
            if len(places):
                index_laid_out(spark, runtime, now, places, layout, started.isoformat())
    numbers = {
        "data": "new",
        "table_version": int(now.handle.version()),
        "layout": record.strategy,
        "layout_id": record.id,
        "rows": arrival.rows,
        "files": len(laid_out),
        "bytes": int(now.files.sizes[laid_out].sum()),
        "overflowing_files": len(overflowing),
        "overflowing_bytes": int(now.files.sizes[overflowing].sum()),
        "write_seconds": write_seconds,
        "index_seconds": (clock() - started).total_seconds(),
    }
    sentence = (
        f"{arrival.rows:,} rows took their places in the layout {record.strategy} as they were appended"
    )
    if len(overflowing):
        too_much = now.files.sizes[overflowing].sum() / 1e6
        sentence += f", except for {too_much:,.1f} MB that were too much for their blocks"
    return save_decision(
        runtime.store(now.root), Decision(clock().isoformat(), True, "LAID_OUT", sentence, numbers)
    )
