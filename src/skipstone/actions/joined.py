"""Making joined replicas: rows of a star of tables, written as a table of its own, laid out and recorded.

The record is written last. A refresh joins the tables as they are now into another copy, by the columns, keys
and queries of the record, and lets the old one go.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

from skipstone.actions.choose_layout import choose_layout, needs_queries
from skipstone.actions.context import Context
from skipstone.actions.index import Index
from skipstone.actions.make_partitions import MOST_GROUPED_ROWS
from skipstone.actions.optimize import lay_out
from skipstone.actions.prepare import FitRequest
from skipstone.actions.replicate import GROUPED, make_replica
from skipstone.catalog.joined_replicas import CoveredTable, JoinedReplica
from skipstone.catalog.joined_store import copy_folder, save_joined, sweep_joined
from skipstone.errors import SkipstoneError
from skipstone.estimate.prepared import default_block_rows
from skipstone.layout.options import LayoutOptions
from skipstone.predicate.codec import from_json, to_json
from skipstone.spark.engine.join_tables import StarTables, rows_of_joined, write_joined
from skipstone.spark.engine.source import Source
from skipstone.workload.join_trees import Link
from skipstone.workload.predicates import LoggedFilter

__all__ = ["JoinPlan", "changed_tables", "make_joined", "remake_joined"]

UNORDERED = "none"
"""The layout of a copy that was left as it was written."""
_SHARES = {"joining": 4, "laying out": 5, "verifying": 1}


@dataclass(frozen=True, slots=True, eq=False)
class JoinPlan:
    """What is to be joined, and the queries that the copy is laid out for."""

    tables: StarTables
    covered: tuple[CoveredTable, ...]
    layout: str
    options: LayoutOptions
    entries: tuple[LoggedFilter, ...]
    replica: str = ""


def make_joined(context: Context, plan: JoinPlan) -> JoinedReplica:
    """Join, lay out, verify and record; if that fails, nothing counts and nothing is left."""
    replica = plan.replica or uuid.uuid4().hex[:12]
    folder = copy_folder(replica, uuid.uuid4().hex[:12])
    root = f"{context.snapshot.root}/{folder}"
    created = context.clock().isoformat()
    try:
        with context.steps(100, _SHARES) as steps:
            with context.engine.watch(steps.step("joining"), "joining tables"):
                joined = write_joined(plan.tables, plan.covered, root)
            source = Source(context.engine, root)
            copy = replace(context, source=source, table=source.open())
            layout = _laid_out(copy.reporting_to(steps.step("laying out")), plan)
            copy = copy.reopened()
            with context.engine.watch(steps.step("verifying"), "verifying rows"):
                found = rows_of_joined(copy.table)
        if found.rows != joined.rows:
            raise SkipstoneError(f"The copy had {found.rows:,} rows instead of {joined.rows:,}.")
        copies = copy.table.stored_replicas().parts
        made = JoinedReplica(
            id=replica,
            created=created,
            layout=layout,
            folder=folder,
            state=copy.table.state,
            tables=joined.tables,
            rows=found.rows,
            row_hash=found.total,
            files=len(copy.snapshot) + sum(len(part.files) for part in copies),
            bytes=copy.snapshot.files.bytes + sum(part.files.bytes for part in copies),
            settings=context.engine.reader_settings(),
            queries=_to_text(plan.entries),
            block_rows=plan.options.block_rows,
        )
        save_joined(context.store, made)
    except BaseException:
        context.store.delete_folder(folder)
        raise
    context.table.refresh()
    sweep_joined(context.store)
    return made


def _laid_out(copy: Context, plan: JoinPlan) -> str:
    """Lay a copy out, or index it as it is if it is too small for blocks; the layout's name."""
    rows = copy.table.rows_in_log(copy.table.file_indices) or 0
    wanted = plan.options.block_rows or default_block_rows(copy.snapshot.files.bytes, rows)
    if rows < 2 * wanted or (not plan.entries and needs_queries(plan.layout, plan.options)):
        Index().run(copy)
        return UNORDERED
    grouped = plan.layout == GROUPED
    parts = max(1, round(rows / MOST_GROUPED_ROWS)) if grouped else 1
    options = replace(plan.options, block_rows=wanted * parts)
    indices = copy.table.file_indices
    request = FitRequest(indices, plan.entries, options=options, queries_needed=False, replica=grouped)
    chosen = choose_layout(copy, plan.layout, request)
    if chosen.design is None:
        Index().run(copy)
        return UNORDERED
    if grouped:
        Index().run(copy)
        make_replica(copy, chosen, rows / parts, wanted)
    else:
        lay_out(copy, chosen)
        # Nobody has ever read what was written before it was laid out.
        for path in copy.snapshot.files.paths:
            copy.store.delete(path)
    return chosen.layout


def changed_tables(tables: StarTables, replica: JoinedReplica) -> tuple[str, ...]:
    """Why a replica does not answer for the tables as they are now, a sentence for each of them."""
    found = []
    for table in replica.tables:
        try:
            state = tables.open(table.root).state
        except SkipstoneError as problem:
            found.append(str(problem).rstrip("."))
            continue
        if state != table.state:
            found.append(f"{table.root} has changed")
    return tuple(found)


def remake_joined(context: Context, replica: JoinedReplica) -> JoinedReplica:
    """Join the tables anew, as they are now."""
    tables = StarTables(context.engine, context.table)
    for table in replica.tables[1:]:
        problem = tables.problem_of(Link(table.parent, table.root, table.keys))
        if problem:
            raise SkipstoneError(
                f"Replica {replica.id} cannot be refreshed: {table.root} cannot be joined any more: "
                f"{problem}; drop it (skipstone drop)."
            )
    covered = []
    for table in replica.tables:
        there = {column.name for column in tables.copied_fields(table.root)}
        gone = next((name for name in table.columns if name not in there), None)
        if gone is not None:
            raise SkipstoneError(
                f"Replica {replica.id} cannot be refreshed: {table.root} has no column {gone} any more; drop "
                "it and make another (skipstone drop, skipstone denormalise)."
            )
        covered.append(replace(table, state=tables.open(table.root).state))
    options = LayoutOptions(replica.block_rows)
    layout = "qdtree" if replica.layout == UNORDERED else replica.layout
    entries = _from_text(replica.queries)
    return make_joined(context, JoinPlan(tables, tuple(covered), layout, options, entries, replica.id))


def _to_text(entries: Sequence[LoggedFilter]) -> str:
    return json.dumps([[to_json(entry.filter), entry.weight, entry.columns] for entry in entries])


def _from_text(text: str) -> tuple[LoggedFilter, ...]:
    return tuple(
        LoggedFilter(from_json(filter_), float(weight), columns=tuple(columns))
        for filter_, weight, columns in json.loads(text)
    )
