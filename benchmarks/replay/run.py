"""Runs the benchmark of the self-organising table: inserts and scans, replayed by four contestants.

The method is that of Self-organising layouts for Delta (thesis), chapter 6, with liquid clustering as a
fourth contestant. It writes ``benchmarks/results/replay.json`` and the plots beside it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import skipstone
from benchmarks.figures import RESULTS, Figure, write
from benchmarks.replay.contestants import Automatic, Contestant, Liquid, ZorderOnce
from benchmarks.replay.measure import replay
from benchmarks.replay.plan import Options, Plan, plan_of
from benchmarks.replay.report import draw, figures, totals
from benchmarks.replay.warm_up import arriving_rows, own_costs, warm_up
from benchmarks.session_settings import session_settings
from skipstone.errors import SkipstoneError
from skipstone.progress import Progress
from skipstone.spark import SparkSession

__all__ = ["Options", "run"]

_OTHERS = ("none", "zorder", "liquid")
# Otherwise Parquet reads local files by threads whose bytes Spark does not count.
_COUNTED = {"parquet.hadoop.vectored.io.enabled": "false"}


def run(options: Options, output: Path = RESULTS, progress: Progress | None = None) -> list[Figure]:
    """Replay, write the results and return the figures."""
    for name in options.only:
        if name not in _OTHERS:
            raise SkipstoneError(f"There is no contestant {name}; choose among {', '.join(_OTHERS)}.")
    plan = plan_of(options)
    with tempfile.TemporaryDirectory(prefix="skipstone-bench-", dir=options.data) as folder:
        home = Path(folder)
        config = {"spark.skipstone.log.spillDirectory": str(home / "spill")}
        spark = skipstone.session(app_name="skipstone-bench", config=config)
        with own_costs(home / "costs"), session_settings(spark, _COUNTED):
            columns = warm_up(spark, plan, home, progress)
            contestants = _contestants(spark, plan, columns, home)
            skipstone.enable(spark, log=True)
            try:
                tally = replay(
                    plan.events,
                    contestants,
                    lambda insert: arriving_rows(spark, plan, insert, home),
                    progress,
                    plan.table,
                )
                found = totals(contestants, tally)
            finally:
                skipstone.enable(spark, log=False)
    name = "-".join((options.kind(), *options.only))
    draw(found, name, output)
    details = {
        **plan.settings,
        "inserted_bytes": found[contestants[0].name]["table_bytes"],
        "policy": plan.policy.to_dict(),
        "columns_of_delta": list(columns),
        "different_results": tally.different,
        "contestants": found,
    }
    command = plan.options.command()
    return write(name, figures(found, tally, command, barred=not options.quick), details, output)


def _contestants(
    spark: SparkSession, plan: Plan, columns: Sequence[str], home: Path
) -> tuple[Contestant, ...]:
    sizes = plan.block_bytes
    halfway, every = plan.batches // 2, max(2, plan.batches // 4)
    others = {
        "none": Contestant(spark, home / "none"),
        "zorder": ZorderOnce(spark, home / "zorder", columns=columns, at=halfway, block_bytes=sizes),
        "liquid": Liquid(spark, home / "liquid", columns=columns, every=every, block_bytes=sizes),
    }
    automatic = Automatic(spark, home / "automatic", policy=plan.policy, model=plan.model)
    return (*[others[name] for name in plan.options.only or _OTHERS], automatic)
