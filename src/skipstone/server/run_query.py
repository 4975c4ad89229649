"""A query that somebody typed: judged, explained block by block, and run with skipping on and off."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import ClassVar

from skipstone.actions.engine_action import EngineContext
from skipstone.actions.explain import scan_report
from skipstone.catalog.files import Files
from skipstone.errors import SkipstoneError
from skipstone.server.block_states import block_states
from skipstone.server.settings import Limits
from skipstone.spark.bridge.allowed_query import allowed_query
from skipstone.spark.bridge.scans import DecidedScan
from skipstone.spark.engine.compare_results import Compared, compare_results
from skipstone.spark.engine.first_rows import FirstRows, first_rows

__all__ = ["QueryTable", "RunQuery"]

_LONGEST = 100_000


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
    report, told = asdict(scan_report(scan)), None
    if table is not None and table.files is not None:
        told = block_states(scan, table.files)
    return {
        **report,
        "table": None if table is None else table.id,
        "blocks": None if told is None else {"state": told.state.tolist(), "reason": told.reason.tolist()},
        "reasons": [] if told is None else told.reasons,
    }
