"""What is known about a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np

from skipstone.actions.context import Context
from skipstone.actions.replicas import ReplicaStatus, replica_lines, replica_statuses
from skipstone.catalog import stamp
from skipstone.catalog.replica_store import replica_stamp
from skipstone.errors import SkipstoneError
from skipstone.predicate.expr import Column
from skipstone.predicate.joined_column import text_of
from skipstone.predicate.readable import plain_constants
from skipstone.predicate.render import to_sql
from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.engine.partners import JoinedTables
from skipstone.spark.querylog.query_log import LogStatus, log_status, replica_uses
from skipstone.view import Cell, Share, View, Viewed, count, listed, megabytes

__all__ = ["Status", "TableStatus"]


@dataclass(frozen=True, slots=True, repr=False)
class TableStatus(Viewed):
    """A table and its catalog; ``problem`` says why the catalog cannot be used.

    ``files_indexed`` counts the files whose statistics this session can use; all others are always read.
    ``segments`` counts the catalog's files and ``indexed_at`` is the time of the newest.
    ``outdated_features`` are about tables that were changed since, so that nothing is skipped by them;
    ``outdated_columns`` are columns of such tables.
    """

    root: str
    format: str
    files: int
    bytes: int
    files_indexed: int
    rows_indexed: int
    segments: int
    indexed_at: str
    columns: tuple[str, ...]
    expressions: tuple[str, ...]
    features: tuple[str, ...]
    log: LogStatus
    problem: str = ""
    replicas: tuple[ReplicaStatus, ...] = ()
    outdated_features: tuple[str, ...] = ()
    outdated_columns: tuple[str, ...] = ()

    def view(self) -> View:
        """The table, its catalog and its query log."""
        headline = f"{self.root}: {self.format}, {count(self.files, 'file')}, {megabytes(self.bytes)}"
        copies = (
            ("replica", Share(share.part, share.whole, f"{replica}: {share}"))
            for replica, share in replica_lines(self.replicas, self.bytes)
        )
        return View(headline, (*self._catalog(), *copies, *_log(self.log)))

    def _catalog(self) -> Iterator[tuple[str, Cell]]:
        if self.problem:
            yield "catalog", f"unusable: {self.problem}"
            return
        if not self.segments:
            yield "catalog", "none: run skipstone index"
            return
        waiting = self.files - self.files_indexed
        more = f"; {count(waiting, 'file')} not yet, always read" if waiting else ""
        known = f"{count(self.files_indexed, 'file')}, {count(self.rows_indexed, 'row')}{more}"
        yield "indexed", Share(self.files_indexed, self.files, known)
        yield "last run", f"{_moment(self.indexed_at)} UTC, {count(self.segments, 'segment')}"
        for name in ("columns", "expressions", "features"):
            yield name, listed(map(plain_constants, getattr(self, name)))
        found = {"feature": self.outdated_features, "column": self.outdated_columns}
        if any(found.values()):
            known = " and ".join(count(len(each), what) for what, each in found.items() if each)
            yield "outdated", f"{known} about joined tables that have changed: run skipstone index"

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


def _log(log: LogStatus) -> Iterator[tuple[str, Cell]]:
    span = f", {_moment(log.oldest)} to {_moment(log.newest)} UTC" if log.entries else ""
    yield "query log", f"{'on' if log.on else 'off'} here, {count(log.entries, 'scan')}{span}"
    for reason, dropped in log.dropped.items():
        yield "not logged", f"{count(dropped, 'scan')}: {reason}"
    for problem in log.problems:
        yield "log problem", problem


def _moment(text: str) -> str:
    return text[:19].replace("T", " ")


@dataclass(frozen=True, slots=True)
class Status:
    """What is known about the table, and how many of its files have no statistics yet."""

    name: ClassVar[str] = "status"

    def validate(self, context: Context) -> None:
        """Any table has a status, also one whose catalog is unreadable."""

    def run(self, context: Context) -> TableStatus:
        """Compare the catalog with the files of the snapshot."""
        table = context.table
        with context.steps(2, {"catalog": 1, "log": 1}) as steps:
            steps.begin("catalog", "reading the catalog")
            problem = _refreshed(table)
            steps.begin("log", "reading the query log")
            log = log_status(context.engine, table.root)
        catalog = table.catalog
        features = catalog.blocks.features
        joined = JoinedTables(table.engine)
        # Entries made under other reader settings are not used by this session.
        usable = np.append(~catalog.foreign(table.engine.reader_settings()), False)
        # The index -1, of a file without an entry, is that of the last, which is not usable.
        entries = table.files.indices_in(catalog.files)
        indexed = entries[usable[entries]]
        return TableStatus(
            root=table.root,
            format=table.snapshot.format,
            files=len(table.files),
            bytes=table.files.bytes,
            files_indexed=len(indexed),
            rows_indexed=int(catalog.blocks.rows[indexed].sum()),
            segments=len(catalog.segments),
            indexed_at=catalog.segments[-1].created if catalog.segments else "",
            columns=tuple(to_sql(key) for key in catalog.blocks.statistics if isinstance(key, Column)),
            expressions=catalog.expression_texts,
            features=tuple(dict.fromkeys(feature.text for feature in features)),
            outdated_features=tuple(
                dict.fromkeys(each.text for each in features if not joined.is_current(each.predicate))
            ),
            outdated_columns=tuple(
                text_of(key) for key in catalog.blocks.statistics if not joined.is_current(key)
            ),
            problem=problem,
            log=log,
            replicas=_replicas(context),
        )


def _replicas(context: Context) -> tuple[ReplicaStatus, ...]:
    replicas = context.table.stored_replicas()
    if not replicas.ids():
        return ()
    try:
        uses = replica_uses(context.engine, context.snapshot.root)
    except SkipstoneError:  # the status of the log says why
        uses = {}
    return replica_statuses(context, replicas, uses)


def _refreshed(table: OpenTable) -> str:
    """Read the catalog anew, if there is one; why it cannot be used, if so."""
    try:
        if stamp(table.store) or replica_stamp(table.store):
            table.refresh()
    except SkipstoneError as error:
        return str(error)
    return ""
