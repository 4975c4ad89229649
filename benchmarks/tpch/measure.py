"""What a layout does for the test queries: rows scanned on the real files, and seconds in one run.

Rows are measured by ``replay``, which also compares every result with that of the same query without
skipping. Beside it stands what Delta alone would scan: the rows of the files that Delta's own skipping offers
to ours. Seconds are measured apart, for all tables in turn within one run, so that what slows the machine
down slows all of them; here the results are compared between the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.context import context_of
from benchmarks.pieces import Piece
from benchmarks.session_settings import SWITCH
from benchmarks.tpch.queries import TEMPLATES
from benchmarks.tpch.tables import Builder
from skipstone.actions.context import Context
from skipstone.progress import Progress
from skipstone.workload.queries import Workload

__all__ = ["Contender", "by_template", "measure_scan", "measure_seconds"]


@dataclass(frozen=True, slots=True)
class Contender:
    """A table and whether skipstone skips on it; Delta's own skipping is always on."""

    table: str
    skipping: bool

    @property
    def name(self) -> str:
        """For reports."""
        return self.table if self.skipping else f"{self.table}, Delta alone"


def measure_scan(builder: Builder, name: str, queries: Workload, progress: Progress | None = None) -> Piece:
    """Replay the queries on one table."""
    opened = builder.open(name)
    report = opened.replay(queries, progress)
    summary = report.summary()
    context = context_of(opened)
    delta = [_offered_rows(context, query.sql) for query in queries.queries]
    return {
        **summary,
        "percent_scanned_delta_alone": 100.0 * sum(delta) / (builder.rows * len(delta)),
        "files": len(context.snapshot),
        "queries": [asdict(query) for query in report.queries],
        "broken_statements": [str(broken) for broken in report.broken],
    }


def _offered_rows(context: Context, sql: str) -> int:
    """Rows in the files that Delta's own skipping leaves."""
    rows = context.catalog.blocks.rows
    scans = [scan for scan in context.engine.scans_of(sql) if scan.root == context.snapshot.root]
    return sum(int(rows[scan.offered].sum()) for scan in scans)


def measure_seconds(
    builder: Builder,
    contenders: Sequence[Contender],
    queries: Workload,
    progress: Progress | None = None,
) -> Piece:
    """Run every query once on each table, in turn; before that, one query of each template untimed."""
    spark = builder.spark
    seconds: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    different: list[str] = []
    before = spark.conf.get(SWITCH, "true")
    try:
        per_template = max(1, len(queries.queries) // len(TEMPLATES))
        for query in queries.queries[::per_template]:
            for contender in contenders:
                _run(builder, contender, query.sql)
        for index, query in enumerate(queries.queries):
            if progress is not None:
                progress("timing", index, len(queries.queries))
            answers: list[Any] = []
            # Each goes first as often as the others.
            turn = index % len(contenders)
            for contender in (*contenders[turn:], *contenders[:turn]):
                answer, spent = _run(builder, contender, query.sql)
                answers.append(answer)
                seconds[contender.name].append(spent)
            if any(answer != answers[0] for answer in answers):
                different.append(query.sql)
    finally:
        spark.conf.set(SWITCH, str(before))
    return {"seconds": seconds, "different_results": different}


def _run(builder: Builder, contender: Contender, sql: str) -> tuple[Any, float]:
    spark = builder.spark
    builder.open(contender.table)
    spark.conf.set(SWITCH, str(contender.skipping).lower())
    started = builder.clock()
    answer = spark.sql(sql).collect()
    return answer, builder.clock() - started


def by_template(queries: Sequence[Piece], value: Callable[[Piece], float]) -> dict[str, float]:
    """The mean of something over each template's queries, which follow one another."""
    size = len(queries) // len(TEMPLATES)
    return {
        name: sum(value(query) for query in queries[index * size : (index + 1) * size]) / size
        for index, name in enumerate(TEMPLATES)
    }
