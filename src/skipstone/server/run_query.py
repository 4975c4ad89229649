"""A query that somebody typed: judged, explained block by block, and run with skipping on and off."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from skipstone.actions.engine_action import EngineContext
from skipstone.actions.explain import pruned_by_spark, scan_report
from skipstone.catalog.files import Files
from skipstone.errors import SkipstoneError
from skipstone.pruning.why_read import why_read
from skipstone.server.settings import Limits
from skipstone.spark.bridge.allowed_query import allowed_query
from skipstone.spark.bridge.question import Question
from skipstone.spark.bridge.scans import DecidedScan
from skipstone.spark.engine.compare_results import Compared, compare_results
from skipstone.spark.engine.first_rows import FirstRows, first_rows

__all__ = ["QueryTable", "RunQuery"]

READ, SKIPPED, PRUNED, UNKNOWN, REPLACED = range(5)
"""The states of a block; by name in docs/server.md."""
_LONGEST = 100_000
_BY_SPARK = "partition values, or what Spark or Delta know of the file, rule it out"


@dataclass(frozen=True, slots=True, eq=False)
class QueryTable:
    """A table that queries may read, with the files in whose order its blocks are told."""

    id: str
    root: str
    files: Files | None = None


@dataclass(frozen=True, slots=True, eq=False)
class RunQuery:
    """One SELECT over the given tables, by their names; without ``run`` it is only planned."""

    name: ClassVar[str] = "query"

    sql: str
    tables: Mapping[str, QueryTable]
    run_it: bool = True
    compare: bool = True
    limits: Limits = field(default_factory=Limits)

    def validate(self, context: EngineContext) -> None:
        """Refuse everything that is not one SELECT over these tables."""
        if len(self.sql) > _LONGEST:
            raise SkipstoneError(f"A query may have {_LONGEST:,} characters.")
        allowed_query(context.engine.spark, self.sql, {name: it.root for name, it in self.tables.items()})

    def run(self, context: EngineContext) -> dict[str, object]:
        """Explain it and run it, in the session of the context, which must be its own."""
        steps = context.steps(3, {"planning": 1, "running": 1, "comparing": 1})
        by_root = {it.root: it for it in self.tables.values()}
        with steps:
            steps.begin("planning", "planning the query")
            scans = context.engine.scans_of(self.sql)
            found: dict[str, object] = {"sql": self.sql}
            found["scans"] = [_scan(scan, by_root.get(scan.root)) for scan in scans]
            rows, seconds, compared = None, None, None
            if self.run_it:
                steps.begin("running", "running the query")
                roots = {name: it.root for name, it in self.tables.items()}
                frame = allowed_query(context.engine.spark, self.sql, roots)
                started = time.perf_counter()
                limits, check = self.limits, context.cancel.check
                rows = first_rows(frame, limits.query_rows, limits.query_bytes, check)
                seconds = time.perf_counter() - started
            if self.run_it and self.compare:
                steps.begin("comparing", "running it with skipping on and off")
                compared = compare_results(context.engine, self.sql, on_first=True)
            if self.run_it and any(scan.figures.joins for scan in scans):
                # Only now is it known which files joins skipped.
                scans = context.engine.scans_of(self.sql)
                found["scans"] = [_scan(scan, by_root.get(scan.root)) for scan in scans]
        return {**found, **_rows(rows), **_figures(scans, seconds, compared)}


def _rows(rows: FirstRows | None) -> dict[str, object]:
    if rows is None:
        return {"columns": None, "rows": None, "truncated": None}
    columns = [{"name": name, "type": kind} for name, kind in rows.columns]
    return {"columns": columns, "rows": [list(row) for row in rows.rows], "truncated": rows.truncated}


def _figures(
    scans: tuple[DecidedScan, ...], seconds: float | None, compared: Compared | None
) -> dict[str, object]:
    figures = [scan.figures for scan in scans]
    on = {
        "seconds": compared.seconds_on if compared is not None else seconds,
        "files_read": _sum([each.files_read for each in figures]),
        "bytes_read": _sum([each.bytes_read for each in figures]),
    }
    off = {
        "seconds": None if compared is None else compared.seconds_off,
        "files_read": _sum([each.files_total for each in figures]),
        "bytes_read": _sum([each.bytes_total for each in figures]),
    }
    return {"on": on, "off": off, "same_result": None if compared is None else compared.same_result}


def _sum(counts: list[int]) -> int | None:
    """The sum; unknown for a query none of whose scans was decided, which reads all that it scans."""
    return sum(counts) if counts else None


def _scan(scan: DecidedScan, table: QueryTable | None) -> dict[str, object]:
    """The scan as ``explain`` tells it, and each block with its state and reason."""
    report = asdict(scan_report(scan))
    reasons: list[dict[str, str]] = []
    blocks = None
    if table is not None and table.files is not None:
        state, reason = _entries(scan, reasons)
        entries = table.files.indices_in(scan.catalog.files)
        # The last place is that of files without an entry.
        states = np.append(state, UNKNOWN)[entries]
        blocks = {"state": states.tolist(), "reason": np.append(reason, -1)[entries].tolist()}
    return {**report, "table": None if table is None else table.id, "blocks": blocks, "reasons": reasons}


def _entries(
    scan: DecidedScan, reasons: list[dict[str, str]]
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int64]]:
    """State and reason of each catalog entry; ``reasons`` is filled."""
    size = len(scan.catalog)
    state = np.full(size, PRUNED, np.int8)
    state[scan.offered] = READ
    reason = np.full(size, -1, np.int64)
    if scan.question is None or scan.figures.failure:
        return state, reason
    question = scan.question
    result = scan.decision(question).base
    partitions = frozenset(question.names.resolve((), name).path for name in scan.figures.partitions)
    pruned = pruned_by_spark(scan, question, partitions)
    foreign = scan.catalog.foreign(dict(question.settings)) & scan.offered
    state[scan.skipped & ~pruned] = SKIPPED
    state[scan.skipped & pruned] = PRUNED
    state[scan.replaced] = REPLACED
    state[foreign & (state == READ)] = UNKNOWN
    # What Spark leaves out too has the reason that skipstone would leave it out for.
    for kind, ruled_out in ((SKIPPED, state == SKIPPED), (PRUNED, (state == PRUNED) & result.skip)):
        for number in np.unique(result.reason[ruled_out]).tolist():
            why = result.reasons[number]
            reason[(state == kind) & (result.reason == number) & ruled_out] = len(reasons)
            reasons.append({"code": why.code.name, "sentence": why.sentence})
    if (alone := (state == PRUNED) & (reason < 0)).any():
        reason[alone] = len(reasons)
        reasons.append({"code": "LEFT_OUT_BY_SPARK", "sentence": _BY_SPARK})
    _why_read(scan, question, state == READ, reason, reasons)
    return state, reason


def _why_read(
    scan: DecidedScan,
    question: Question,
    read: npt.NDArray[np.bool_],
    reason: npt.NDArray[np.int64],
    reasons: list[dict[str, str]],
) -> None:
    """The first reason for each block that is read."""
    result = scan.decision(question).base
    for why in why_read(question.filter, scan.catalog.blocks, result, read):
        new = why.blocks & (reason < 0)
        if new.any():
            reason[new] = len(reasons)
            reasons.append({"code": why.code, "sentence": why.sentence})
