"""Endpoints about tables: registering, looking, blocks, trees, decisions and the query log."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from fastapi import Path as InPath
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from skipstone.actions.auto_status import ShowAutoStatus
from skipstone.actions.log import ShowLog
from skipstone.actions.replicas import ReplicasReport, ShowReplicas
from skipstone.actions.status import Status, TableStatus
from skipstone.catalog.decisions import load_decisions
from skipstone.catalog.layout_records import load_layout
from skipstone.layout.assignment import Assignment
from skipstone.layout.assignment_json import assignment_from_json
from skipstone.server.block_map import block_details, block_map
from skipstone.server.branches import branch_of_block, in_branch
from skipstone.server.changes_mind import changes_mind
from skipstone.server.job import JobRequest
from skipstone.server.look import NEWEST_SCANS, column_groups
from skipstone.server.problems import MissingError
from skipstone.server.reply import PROBLEMS, Entry, TheService, reply
from skipstone.server.results import json_text, result_dict
from skipstone.server.seen import Seen
from skipstone.server.tree_nodes import has_tree, tree_nodes
from skipstone.spark.engine.engine import Engine
from skipstone.spark.querylog.query_log import log_status
from skipstone.workload.logged_scans import LoggedScan, to_json_record

__all__ = ["router"]

router = APIRouter(prefix="/api/tables", tags=["tables"], responses=PROBLEMS)


Number = Annotated[int, InPath(ge=-(2**53), le=2**53)]


class NewTable(BaseModel):
    """A table to register."""

    model_config = ConfigDict(extra="forbid")

    source: Annotated[str, Field(min_length=1, max_length=4_300, description="PATH or name=PATH")]


@router.get("")
def list_tables(service: TheService) -> Response:
    """All registered tables, as last looked at."""
    return reply({"tables": [service.told(service.fresh(entry)) for entry in service.tables.list()]})


@router.post("", status_code=201)
def register_table(new: NewTable, service: TheService) -> Response:
    """Register a table; it is looked at in the background."""
    return reply(service.told(service.register(new.source)), 201)


@router.get("/{table}")
def show_table(entry: Entry, service: TheService) -> Response:
    """One table, as last looked at."""
    return reply(service.told(service.fresh(entry)))


@router.delete("/{table}", status_code=204)
def forget_table(entry: Entry, service: TheService) -> Response:
    """Know a table no longer, once no job is on it; the table itself is not touched."""
    service.forget(entry)
    return Response(status_code=204)


@router.post("/{table}/look", status_code=202)
def look_at_table(entry: Entry, service: TheService) -> Response:
    """Look at a table anew."""
    return reply(service.submit(JobRequest("look", entry.id)).to_dict(), 202)


@router.get("/{table}/status")
def table_status(entry: Entry, service: TheService) -> Response:
    """What is known about a table, read now."""
    status = service.ask(entry, Status())
    assert isinstance(status, TableStatus)
    organising = None
    if status.format == "delta" and not status.problem:
        organising = result_dict(service.ask(entry, ShowAutoStatus(newest=NEWEST_SCANS)))
    return reply({**status.to_dict(), "auto": organising})


@router.get("/{table}/replicas")
def table_replicas(entry: Entry, service: TheService) -> Response:
    """The replicas of a table, read now, each with its column groups if it has several."""
    report = service.ask(entry, ShowReplicas())
    assert isinstance(report, ReplicasReport)
    store = service.spark.engine().store(report.root)
    found = [
        {**asdict(each), "groups": column_groups(store, each.id, report.root)} for each in report.replicas
    ]
    return reply({**report.to_dict(), "replicas": found})


@router.get("/{table}/auto")
def table_auto(entry: Entry, service: TheService) -> Response:
    """What the self-organising loop sees."""
    return reply(result_dict(service.ask(entry, ShowAutoStatus(newest=NEWEST_SCANS))))


@router.get("/{table}/decisions")
def table_decisions(
    entry: Entry, service: TheService, limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> Response:
    """What was decided about a table, newest first."""
    source = service.source(entry)
    root = str(entry.facts.get("root") or source.open().root)
    found = load_decisions(source.engine.store(root), limit)
    told = [
        {**each.to_dict(), "headline": each.view().headline, "changes_mind": changes_mind(each)}
        for each in reversed(found)
    ]
    return reply({"decisions": told})


@router.get("/{table}/log")
def table_log(
    entry: Entry,
    service: TheService,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 100,
    since: datetime | None = None,
) -> Response:
    """The newest logged scans, newest first."""
    moment = since.replace(tzinfo=UTC) if since is not None and since.tzinfo is None else since
    scans = service.ask(entry, ShowLog(moment, limit))
    assert isinstance(scans, tuple)
    newest: list[LoggedScan] = list(scans)
    source = service.source(entry)
    total = log_status(source.engine, str(entry.facts.get("root") or source.open().root)).entries
    return reply({"total": total, "scans": [to_json_record(scan) for scan in reversed(newest)]})


def _newest(entry: Entry, service: TheService, action: str) -> Response:
    found = service.store.newest_result(entry.id, action)
    if found is None:
        raise MissingError(f"No {action} of {entry.name} is done yet.")
    job, result = found
    told = {"job": job.id, "ended_at": job.ended_at, "workload": job.request.workload}
    name = {"analyze": "analysis", "advise": "advice"}[action]
    # The result is JSON already, and may be large.
    return reply(f"{json.dumps(told)[:-1]}, {json.dumps(name)}: {result}}}")


@router.get("/{table}/analysis")
def table_analysis(entry: Entry, service: TheService) -> Response:
    """The result of the newest analyze job."""
    return _newest(entry, service, "analyze")


@router.get("/{table}/advice")
def table_advice(entry: Entry, service: TheService) -> Response:
    """The result of the newest advise job."""
    return _newest(entry, service, "advise")


class Shown(BaseModel):
    """What to show of blocks besides their sizes."""

    column: Annotated[str, Field(max_length=10_000)] | None = None
    feature: Annotated[int, Field(ge=0, le=1_000_000)] | None = None
    paths: bool = False


@router.get("/{table}/blocks")
def table_blocks(entry: Entry, service: TheService, shown: Annotated[Shown, Query()]) -> Response:
    """All blocks of a table, as last looked at."""
    seen, wanted = service.seen(entry), (shown.column, shown.feature, shown.paths)
    return reply(seen.told(wanted, lambda: json_text({"table": entry.id, **block_map(seen, *wanted)})))


@router.get("/{table}/blocks/{index}")
def table_block(entry: Entry, service: TheService, index: Number) -> Response:
    """One block of a table."""
    return reply(block_details(service.seen(entry), index))


LayoutId = Annotated[str, Query(max_length=100, pattern="^[0-9a-z]*$")]


@dataclass(frozen=True, slots=True)
class _Found:
    """A layout's tree, and the table that it belongs to."""

    seen: Seen
    engine: Engine
    layout: str
    strategy: str
    assignment: Assignment


def _tree(entry: Entry, service: TheService, layout: LayoutId = "") -> _Found:
    """The tree of a layout, of the newest by default."""
    seen = service.seen(entry)
    newest = seen.facts["layout"]
    wanted = layout or (str(newest["id"]) if isinstance(newest, dict) else "")
    root, engine = str(seen.facts["root"]), service.spark.engine()
    record = load_layout(engine.store(root), wanted, root) if wanted else None
    if record is None or len(record.groups) != 1:
        raise MissingError(
            f"{entry.name} has no layout {layout}." if layout else f"{entry.name} has no layout."
        )
    assignment = assignment_from_json(record.group.assignment)
    if not has_tree(assignment):
        raise MissingError(f"The layout {wanted} ({record.strategy}) has no tree.")
    return _Found(seen, engine, wanted, record.strategy, assignment)


TheTree = Annotated[_Found, Depends(_tree)]


@router.get("/{table}/tree")
def table_tree(tree: TheTree) -> Response:
    """The tree of a layout, of the newest by default."""
    told = {"layout": tree.layout, "strategy": tree.strategy, "nodes": tree_nodes(tree.assignment)}
    return reply(told)


@router.get("/{table}/tree/{node}/blocks")
def branch_blocks(tree: TheTree, node: Number) -> Response:
    """The blocks that may hold rows of a branch."""
    blocks = in_branch(tree.seen, tree.assignment, node, tree.engine.reader_settings())
    return reply({"layout": tree.layout, "node": node, "blocks": blocks})


@router.get("/{table}/blocks/{index}/branch")
def block_branch(tree: TheTree, index: Number) -> Response:
    """The nodes of the tree that a block lies in, the root first."""
    return reply({"layout": tree.layout, "nodes": branch_of_block(tree.seen, tree.assignment, index)})
