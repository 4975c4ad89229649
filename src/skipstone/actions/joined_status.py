"""Joined replicas as the actions on replicas see them: which there are, which are valid, which are whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skipstone.actions.context import Context
from skipstone.actions.joined import changed_tables, remake_joined
from skipstone.catalog.joined_replicas import JoinedReplica
from skipstone.catalog.joined_store import JoinedReplicas, mark_joined_damaged
from skipstone.errors import SkipstoneError
from skipstone.spark.engine.join_tables import StarTables
from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.engine.row_hash import RowHash
from skipstone.spark.engine.source import Source
from skipstone.spark.engine.verify import rows_or_problem
from skipstone.view import count, listed, megabytes

__all__ = [
    "JoinedDamage",
    "JoinedStatus",
    "check_joined",
    "joined_lines",
    "joined_statuses",
    "refresh_joined",
]


@dataclass(frozen=True, slots=True)
class JoinedStatus:
    """A joined replica; ``reason`` says what has changed, so that joins with it are not answered."""

    id: str
    layout: str
    created: str
    tables: tuple[str, ...]
    rows: int
    files: int
    bytes: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class JoinedDamage:
    """A joined replica whose rows are not what they were."""

    replica: JoinedReplica
    problem: str
    repaired: bool


def joined_statuses(context: Context, joined: JoinedReplicas) -> tuple[JoinedStatus, ...]:
    """What each joined replica is, and whether it holds the tables as they are now."""
    tables = StarTables(context.engine, context.table)
    return tuple(
        JoinedStatus(
            id=replica.id,
            layout=replica.layout,
            created=replica.created,
            tables=tuple(table.root for table in replica.tables),
            rows=replica.rows,
            files=replica.files,
            bytes=replica.bytes,
            reason=_reason(context, tables, replica),
        )
        for replica in joined.replicas
    )


def joined_lines(statuses: Sequence[JoinedStatus]) -> Iterator[tuple[str, str]]:
    """The name of each joined replica, and what there is to say about it."""
    for each in statuses:
        names = listed(root.rstrip("/").rpartition("/")[2] for root in each.tables[1:])
        valid = f"not used: {each.reason}" if each.reason else "valid"
        size = f"{count(each.files, 'file')}, {megabytes(each.bytes)}"
        made = f"made {each.created[:19].replace('T', ' ')} UTC"
        yield each.id, f"joined with {names}, {each.layout}, {size}; {valid}; {made}"


def refresh_joined(context: Context, wanted: Sequence[JoinedReplica]) -> tuple[JoinedReplica, ...]:
    """Join anew what does not hold the tables as they are now."""
    tables = StarTables(context.engine, context.table)
    return tuple(remake_joined(context, replica) for replica in wanted if _reason(context, tables, replica))


def check_joined(context: Context, joined: JoinedReplicas, only_check: bool) -> tuple[JoinedDamage, ...]:
    """Verify the rows of joined replicas, and join those anew that are damaged."""
    found = []
    for number, replica in enumerate(joined.replicas):
        context.report("verifying joined rows", number, len(joined.replicas))
        problem = _problem(context, replica)
        if problem:
            mark_joined_damaged(context.store, replica.id)
            if not only_check:
                remake_joined(context, replica)
            found.append(JoinedDamage(replica, problem, repaired=not only_check))
    return tuple(found)


def _reason(context: Context, tables: StarTables, replica: JoinedReplica) -> str:
    if replica.damaged:
        return "it is damaged"
    return "; ".join(changed_tables(tables, replica)) or _lost(context, replica)


def _lost(context: Context, replica: JoinedReplica) -> str:
    try:
        copy = _copy(context, replica)
    except SkipstoneError as problem:
        return str(problem).rstrip(".")
    if copy.state != replica.state:
        return "somebody else has written to it"
    there = set(copy.store.names(""))
    missing = next((path for path in copy.files.paths if path not in there), "")
    return f"its file {missing} is missing" if missing else ""


def _problem(context: Context, replica: JoinedReplica) -> str:
    if replica.damaged:
        return "it was found to be damaged before"
    lost = _lost(context, replica)
    if lost:
        return lost
    copy = _copy(context, replica)
    return rows_or_problem(copy.live(copy.file_indices), RowHash(replica.rows, replica.row_hash))


def _copy(context: Context, replica: JoinedReplica) -> OpenTable:
    return Source(context.engine, replica.root).open()
