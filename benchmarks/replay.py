"""The benchmark of the self-organising table: a timeline of inserts and scans, replayed by four contestants.

The method is that of Self-organising layouts for Delta (thesis), chapter 6, with liquid clustering as a
fourth contestant. ``skipstone bench replay`` writes ``benchmarks/results/replay.json`` and the plots beside
it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.figures import RESULTS, write
from benchmarks.replay_contest import Automatic, BlockBytes, Contestant, Liquid, ZorderOnce
from benchmarks.replay_data import orders_batch
from benchmarks.replay_measure import replay, run_scan
from benchmarks.replay_report import draw, figures, totals
from benchmarks.replay_timeline import TABLE, Event, Insert, generated, recorded, scans_of
from benchmarks.settings import settings

import skipstone
from skipstone.actions.calibrate import calibrate
from skipstone.actions.cost_store import save_model
from skipstone.actions.prepare import default_block_bytes, parse_log
from skipstone.errors import SkipstoneError
from skipstone.estimate.cost import Coefficients, CostModel, Extent, Observation
from skipstone.estimate.policy import Policy
from skipstone.indexed_table import split_source
from skipstone.predicate.expr import Column
from skipstone.spark import DataFrame, SparkSession
from skipstone.spark.bridge.runtime import runtime_of
from skipstone.spark.engine.column_sizes import column_sizes
from skipstone.spark.engine.job_progress import Progress
from skipstone.workload.candidates import z_candidates
from skipstone.workload.predicates import query_predicates
from skipstone.workload.queries import Query, Workload

__all__ = ["Plan", "best_columns", "run"]

BATCH_BLOCKS = 100
"""How many blocks a generated batch makes."""
_MOST_COLUMNS = 4
_OTHERS = ("none", "zorder", "liquid")
# Otherwise Parquet reads local files by threads whose bytes Spark does not count.
_COUNTED = {"parquet.hadoop.vectored.io.enabled": "false"}
# A tiny table never pays for a rewrite that takes seconds; here almost nothing is said to cost anything.
_EAGER = CostModel(Coefficients(0.01, 0, 0, 0, 0, 0, 0, 0.0, 1.0, 0.0, 1.0), "calibrated")


@dataclass(frozen=True, slots=True)
class Plan:
    """A timeline with all that the contestants need to know about it."""

    events: tuple[Event, ...]
    table: str
    rows_of: Callable[[SparkSession, Insert], DataFrame]
    policy: Policy
    block_bytes: BlockBytes
    facts: dict[str, Any]
    model: CostModel | None = None

    @property
    def batches(self) -> int:
        """How many inserts there are."""
        return sum(isinstance(event, Insert) for event in self.events)


def _recorded(timeline: str) -> Plan:
    """The plan of a recorded timeline, ``name=FILE`` or ``FILE``."""
    name, file = split_source(timeline)
    return Plan(
        recorded(file),
        name or TABLE,
        lambda spark, insert: spark.read.parquet(insert.path),
        Policy(),
        lambda size, _: default_block_bytes(size),
        {"timeline": Path(file).name},
    )


def _generated(rows: int, batches: int, scans: int, seed: int, drift: bool, quick: bool) -> Plan:
    if quick:
        rows, batches, scans = 4_000, 2, 6
    if rows < BATCH_BLOCKS:
        raise SkipstoneError(f"A batch needs at least {BATCH_BLOCKS} rows.")
    blocks = 4 if quick else BATCH_BLOCKS
    return Plan(
        generated(batches, scans, seed, drift),
        TABLE,
        lambda spark, insert: orders_batch(spark, insert.batch, rows, seed),
        Policy(block_rows=rows // blocks, new_blocks=float(blocks), layouts=("selforg",) if quick else None),
        lambda size, batches: max(1, size // (blocks * batches)),
        {"rows_per_batch": rows, "batches": batches, "scans": scans, "seed": seed, "drift": drift},
        _EAGER if quick else None,
    )


def run(
    rows: int = 1_200_000,
    batches: int = 6,
    scans: int = 1_200,
    seed: int = 0,
    drift: bool = False,
    timeline: str | None = None,
    quick: bool = False,
    only: Sequence[str] | None = None,
    data: str | None = None,
    output: Path = RESULTS,
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """Replay, write the results and return the figures; ``data`` is where the tables are made meanwhile.

    ``only`` says whom automatic is compared with; by default with all others.
    """
    others = _OTHERS if only is None else tuple(only)
    for name in others:
        if name not in _OTHERS:
            raise SkipstoneError(f"There is no contestant {name}; choose among {', '.join(_OTHERS)}.")
    if timeline is not None:
        plan = _recorded(timeline)
    else:
        plan = _generated(rows, batches, scans, seed, drift, quick)
    with tempfile.TemporaryDirectory(prefix="skipstone-bench-", dir=data) as folder:
        home = Path(folder)
        config = {"spark.skipstone.log.spillDirectory": str(home / "spill")}
        spark = skipstone.session(app_name="skipstone-bench", config=config)
        with _own_costs(home / "costs"), settings(spark, _COUNTED):
            columns = _warm_up(spark, plan, home, progress)
            contestants = _contestants(spark, plan, columns, home, others)
            skipstone.enable(spark, log=True)
            try:
                tally = replay(
                    spark,
                    plan.events,
                    contestants,
                    lambda insert: _arriving(spark, plan, insert, home),
                    progress,
                    plan.table,
                )
                found = totals(contestants, tally)
            finally:
                skipstone.enable(spark, log=False)
    kind = "replay-quick" if quick else "replay" if timeline is None else "replay-recorded"
    name = "-".join((kind, *(only or ())))
    draw(found, name, output)
    details = {
        **plan.facts,
        "inserted_bytes": found[contestants[0].name]["table_bytes"],
        "policy": plan.policy.to_dict(),
        "columns_of_delta": list(columns),
        "different_results": tally.different,
        "contestants": found,
    }
    return write(name, figures(found, tally, _command(plan, only or ()), barred=not quick), details, output)


def _command(plan: Plan, only: Sequence[str]) -> str:
    chosen = [f"--only {name}" for name in only]
    if "timeline" in plan.facts:
        return " ".join([f"skipstone bench replay --timeline {plan.facts['timeline']}", *chosen])
    options = {"rows": plan.facts["rows_per_batch"], **plan.facts}
    listed = [f"--{name} {options[name]}" for name in ("rows", "batches", "scans", "seed")]
    drift = ["--drift"] if plan.facts["drift"] else []
    return " ".join(["skipstone bench replay", *listed, *drift, *chosen])


@contextmanager
def _own_costs(directory: Path) -> Iterator[None]:
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


def _warm_up(spark: SparkSession, plan: Plan, home: Path, progress: Progress | None) -> tuple[str, ...]:
    """Run everything once, untimed, and calibrate; returns the columns for Delta's own layouts."""
    first = next(event for event in plan.events if isinstance(event, Insert))
    scratch = ZorderOnce(spark, home / "scratch", columns=(), at=-1, block_bytes=plan.block_bytes)
    scratch.insert(_arriving(spark, plan, first, home), 0)
    scratch.show(plan.table)
    columns = best_columns(spark, skipstone.table(spark, str(scratch.path)), plan.events, plan.table)
    if plan.model is None:
        asked = {scan.template or scan.sql: scan.sql for scan in scans_of(plan.events)[:100]}
        scratch.columns, scratch.at = columns, 0
        scratch.optimise(0)
        model = calibrate(spark, runtime_of(spark), str(home), progress=progress).model
        # What a value costs depends on its type; so reads of this table count too.
        reads = [run_scan(spark, sql) for sql in (*asked.values(), *asked.values())][len(asked) :]
        files = skipstone.table(spark, str(scratch.path)).files()
        sizes = column_sizes(spark, files, np.arange(len(files.files)))
        seen = [
            Observation.read(
                Extent(read.column_bytes, read.rows, read.rows * sizes.of(read.columns).values),
                read.files,
                read.seconds,
            )
            for read in reads
        ]
        save_model(spark, model.calibrated(seen))
    return columns


def _arriving(spark: SparkSession, plan: Plan, insert: Insert, home: Path) -> DataFrame:
    """The rows of a batch from a file, so that inserts take no time to make them up."""
    if insert.path:
        return plan.rows_of(spark, insert)
    path = home / "batches" / str(insert.batch)
    if not path.exists():
        plan.rows_of(spark, insert).write.parquet(str(path))
    return spark.read.parquet(str(path))


def best_columns(
    spark: SparkSession, table: skipstone.Table, events: Sequence[Event], name: str
) -> tuple[str, ...]:
    """The plain columns that the queries of the whole timeline compare most often, at most four."""
    queries = Workload(tuple(Query(scan.sql) for scan in scans_of(events)))
    entries, unusable = parse_log(spark, table.files(), name, queries)
    if unusable:
        raise SkipstoneError(f"The timeline cannot be replayed: {unusable[0]}")
    candidates, _ = z_candidates(query_predicates(entries), theta=1)
    plain = [each.expr for each in candidates if isinstance(each.expr, Column)]
    if not plain:
        raise SkipstoneError(
            "No query of the timeline compares a plain column, so Delta has nothing to sort by."
        )
    return tuple(".".join(column.path) for column in plain[:_MOST_COLUMNS])


def _contestants(
    spark: SparkSession, plan: Plan, columns: Sequence[str], home: Path, others: Sequence[str]
) -> tuple[Contestant, ...]:
    sizes = plan.block_bytes
    halfway, every = plan.batches // 2, max(2, plan.batches // 4)
    every_other = {
        "none": Contestant(spark, home / "none"),
        "zorder": ZorderOnce(spark, home / "zorder", columns=columns, at=halfway, block_bytes=sizes),
        "liquid": Liquid(spark, home / "liquid", columns=columns, every=every, block_bytes=sizes),
    }
    automatic = Automatic(spark, home / "automatic", policy=plan.policy, model=plan.model)
    return (*[every_other[name] for name in others], automatic)


if __name__ == "__main__":
    for figure in run():
        print(figure)
