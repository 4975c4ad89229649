"""What is replayed: a timeline, the rows of its batches, and how large blocks should be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.replay.contestants import BlockBytes
from benchmarks.replay.orders import orders_batch
from benchmarks.replay.timeline import TABLE, Event, Insert, generated, recorded
from skipstone.errors import SkipstoneError
from skipstone.estimate.cost import Coefficients, CostModel
from skipstone.estimate.policy import Policy
from skipstone.estimate.prepared import default_block_bytes
from skipstone.path_listing import split_source
from skipstone.spark import DataFrame, SparkSession

__all__ = ["Options", "Plan", "plan_of"]

_BATCH_BLOCKS = 100
"""How many blocks a generated batch makes."""
# A tiny table never pays for a rewrite that takes seconds; here almost nothing is said to cost anything.
_EAGER = CostModel(Coefficients(0.01, 0, 0, 0, 0, 0, 0, 0.0, 1.0, 0.0, 1.0), "calibrated")


@dataclass(frozen=True, slots=True)
class Options:
    """What to replay, and who competes.

    ``rows`` are those of a batch, and ``drift`` makes other things asked from halfway on. ``timeline`` is a
    recorded one, ``[NAME=]FILE``, instead of a generated one. ``quick`` is tiny and has no bars. ``only``
    says whom automatic is compared with, by default with all others, and ``data`` where tables are made.
    """

    rows: int = 1_200_000
    batches: int = 6
    scans: int = 1_200
    seed: int = 0
    drift: bool = False
    timeline: str | None = None
    quick: bool = False
    only: tuple[str, ...] = ()
    data: str | None = None

    def command(self) -> str:
        """The command that replays this."""
        words = ["python -m benchmarks replay"]
        if self.timeline is not None:
            words.append(f"--timeline {Path(split_source(self.timeline)[1]).name}")
        else:
            words += [f"--{name} {getattr(self, name)}" for name in ("rows", "batches", "scans", "seed")]
            words += ["--drift"] if self.drift else []
        return " ".join([*words, *(f"--only {name}" for name in self.only)])

    def kind(self) -> str:
        """What the results are called, without the contestants."""
        if self.quick:
            return "replay-quick"
        return "replay" if self.timeline is None else "replay-recorded"


@dataclass(frozen=True, slots=True)
class Plan:
    """A timeline with all that the contestants need to know about it."""

    options: Options
    events: tuple[Event, ...]
    table: str
    rows_of: Callable[[SparkSession, Insert], DataFrame]
    policy: Policy
    block_bytes: BlockBytes
    settings: dict[str, object]
    model: CostModel | None = None

    @property
    def batches(self) -> int:
        """How many inserts there are."""
        return sum(isinstance(event, Insert) for event in self.events)


def plan_of(options: Options) -> Plan:
    """The plan of a recorded timeline, or of a generated one."""
    if options.timeline is not None:
        return _recorded(options, options.timeline)
    return _generated(options)


def _recorded(options: Options, timeline: str) -> Plan:
    name, file = split_source(timeline)
    return Plan(
        options,
        recorded(file),
        name or TABLE,
        lambda spark, insert: spark.read.parquet(insert.path),
        Policy(),
        lambda size, _: default_block_bytes(size),
        {"timeline": Path(file).name},
    )


def _generated(given: Options) -> Plan:
    options = replace(given, rows=4_000, batches=2, scans=6) if given.quick else given
    rows, seed = options.rows, options.seed
    if rows < _BATCH_BLOCKS:
        raise SkipstoneError(f"A batch needs at least {_BATCH_BLOCKS} rows.")
    blocks = 4 if options.quick else _BATCH_BLOCKS
    layouts = ("selforg",) if options.quick else None
    return Plan(
        options,
        generated(options.batches, options.scans, seed, options.drift),
        TABLE,
        lambda spark, insert: orders_batch(spark, insert.batch, rows, seed),
        Policy(block_rows=rows // blocks, new_blocks=float(blocks), layouts=layouts),
        lambda size, batches: max(1, size // (blocks * batches)),
        {
            "rows_per_batch": rows,
            "batches": options.batches,
            "scans": options.scans,
            "seed": seed,
            "drift": options.drift,
        },
        _EAGER if options.quick else None,
    )
