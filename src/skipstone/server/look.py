"""Looking at a table: all that its page shows without asking Spark again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

from skipstone.actions.auto_status import AutoStatus, ShowAutoStatus
from skipstone.actions.context import Context
from skipstone.actions.status import Status, TableStatus
from skipstone.catalog.layout_records import LayoutRecord, load_layout
from skipstone.catalog.store import FileStore
from skipstone.errors import SkipstoneError
from skipstone.estimate.unclustered import files_by_layout, layouts_in_use
from skipstone.json_types import json_number
from skipstone.layout.assignment_json import assignment_from_json
from skipstone.server.block_map import block_columns
from skipstone.server.health import Health, Lately, health
from skipstone.server.seen import Seen, times_read
from skipstone.server.tree_nodes import has_tree
from skipstone.spark.querylog.query_log import read_log
from skipstone.workload.logged_scans import LoggedScan

__all__ = ["NEWEST_SCANS", "Look", "column_groups", "lately"]

NEWEST_SCANS = 1_000
"""Of a log of millions, no more come to the driver."""
_MOST_LAYOUTS = 20


def lately(scans: Sequence[LoggedScan], rows: int) -> Lately:
    """What the newest scans read of a table of so many rows; scans without figures do not count."""
    known = [scan for scan in scans if scan.rows_needed is not None and scan.files_total and scan.seconds > 0]
    newest = known[-NEWEST_SCANS:]
    times = sum(scan.count for scan in newest)
    return Lately(
        scans=times,
        rows_total=rows * times,
        rows_scanned=sum(scan.rows_read * scan.count for scan in newest),
        rows_needed=sum((scan.rows_needed or 0) * scan.count for scan in newest),
    )


@dataclass(frozen=True, slots=True)
class Look:
    """Status, log, layouts, decisions and blocks of a table, as they are now."""

    name: ClassVar[str] = "look"

    def validate(self, context: Context) -> None:
        """Any table can be looked at."""

    def run(self, context: Context) -> Seen:
        """Read all of it; nothing is written."""
        with context.steps(4, {"status": 1, "log": 1, "layouts": 1, "blocks": 1}) as steps:
            status = Status().run(context.reporting_to(steps.step("status")))
            steps.begin("log", "reading the query log")
            scans = read_log(context.engine, context.table.root, newest=NEWEST_SCANS)
            steps.begin("layouts", "reading layouts and decisions")
            organising = _organising(context, status)
            layouts = _layouts(context)
            steps.begin("blocks", "looking at blocks")
            return _seen(context, status, organising, layouts, scans)


def _organising(context: Context, status: TableStatus) -> AutoStatus | None:
    if status.format != "delta" or status.problem:
        return None
    try:
        return ShowAutoStatus(newest=NEWEST_SCANS).run(context.reporting_to(None))
    except SkipstoneError:  # what cannot be read is in the status
        return None


def _layouts(context: Context) -> list[dict[str, object]]:
    """The layouts that files lie by, the newest first."""
    files, catalog = context.table.files, context.catalog
    sizes = {layout: len(indices) for layout, indices in files_by_layout(files, catalog).items()}
    found = []
    for layout in layouts_in_use(files, catalog)[:_MOST_LAYOUTS]:
        try:
            record = load_layout(context.store, layout, context.table.root)
        except SkipstoneError:
            record = None
        if record is not None:
            found.append(_layout(record, sizes.get(layout, 0)))
    return found


def column_groups(store: FileStore, layout: str, root: str) -> list[dict[str, object]] | None:
    """The columns of each column group of a layout; None if all are together, or that is not known."""
    try:
        record = load_layout(store, layout, root)
    except SkipstoneError:
        return None
    if record is None or len(record.groups) == 1:
        return None
    return [{"columns": list(group.columns or ())} for group in record.groups]


def _layout(record: LayoutRecord, files: int) -> dict[str, object]:
    tree = len(record.groups) == 1 and has_tree(assignment_from_json(record.group.assignment))
    return {
        "id": record.id,
        "strategy": record.strategy,
        "created": record.created,
        "block_rows": record.block_rows,
        "partition_by": record.partition_by,
        "files": files,
        "tree": tree,
        "groups": [list(group.columns) if group.columns is not None else None for group in record.groups],
    }


def _seen(
    context: Context,
    status: TableStatus,
    organising: AutoStatus | None,
    layouts: list[dict[str, object]],
    scans: Sequence[LoggedScan],
) -> Seen:
    table, catalog = context.table, context.catalog
    entries = table.files.indices_in(catalog.files)
    asked, times = times_read(scans, catalog, entries, context.engine.reader_settings())
    newest = lately(scans, status.rows_indexed)
    figures = Health(
        files=status.files,
        files_indexed=status.files_indexed,
        lately=newest,
        log_entries=status.log.entries,
        drift=None if organising is None else organising.drift,
        unclustered_bytes=0 if organising is None else organising.unclustered_bytes,
        awaited_bytes=0 if organising is None else organising.awaited_bytes,
        problem=status.problem,
    )
    code, sentence = health(figures)
    facts: dict[str, object] = {
        "root": status.root,
        "format": status.format,
        "version": table.snapshot.version,
        "files": status.files,
        "bytes": status.bytes,
        "rows": status.rows_indexed if status.files_indexed == status.files else None,
        "files_indexed": status.files_indexed,
        "expressions": list(status.expressions),
        "features": list(status.features),
        "layout": layouts[0] if layouts else None,
        "layouts": layouts,
        "log": asdict(status.log),
        "lately": {
            **asdict(newest),
            "percent_scanned": newest.percent_scanned,
            "percent_needed": newest.percent_needed,
        },
        "saving": _saving(organising),
        "drift": figures.drift,
        "unclustered_files": None if organising is None else organising.unclustered_files,
        "unclustered_bytes": None if organising is None else organising.unclustered_bytes,
        "replicas": len(status.replicas),
        "health": {"code": code, "sentence": sentence},
    }
    seen = Seen(facts, table.snapshot.version, table.files, catalog, entries, asked, times)
    columns = block_columns(seen)
    return Seen({**facts, "columns": columns}, seen.version, seen.files, catalog, entries, asked, times)


def _saving(organising: AutoStatus | None) -> dict[str, object] | None:
    """What the newest decision says could be saved."""
    if organising is None or not organising.decisions:
        return None
    newest = organising.decisions[-1]
    numbers = newest.numbers

    def number(name: str) -> float | None:
        value = numbers.get(name)
        return None if value is None else json_number(value)

    return {
        "code": newest.code,
        "acted": newest.acted,
        "time": newest.time,
        "seconds": number("seconds_saved"),
        "bytes": number("bytes_saved"),
        "sentence": newest.sentence,
    }
