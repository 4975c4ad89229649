"""``denormalise``: a copy of a table's rows with those that queries join to them, laid out for these queries.

From the inner joins of the log follow the tables around this one, the keys they are joined by, and the
columns that such queries need (GSOP, section 3.3). Spark verifies that the keys are unique, joins the tables
and writes the rows; then they are laid out as any table, for the filters of the log over the joined columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import ClassVar

from skipstone.actions.choose_layout import AUTO
from skipstone.actions.context import Context
from skipstone.actions.joined import JoinPlan, make_joined
from skipstone.actions.replicate import check_replicable
from skipstone.catalog.joined_replicas import CoveredTable
from skipstone.errors import SkipstoneError
from skipstone.layout.layouts import layout_named, layout_options
from skipstone.layout.options import LayoutOptions
from skipstone.spark.bridge.parse_joins import parse_joins
from skipstone.spark.engine.join_tables import StarTables
from skipstone.view import Cell, View, Viewed, count, listed, megabytes
from skipstone.workload.join_trees import JoinTree, Star, Unjoined, star_of
from skipstone.workload.predicates import LoggedFilter
from skipstone.workload.queries import BrokenQuery, Workload, broken_and_left_out, first_of

__all__ = ["Denormalise", "DenormaliseReport"]

_SHARES = {"parsing": 1, "verifying": 2, "making": 10}


@dataclass(frozen=True, slots=True, repr=False)
class DenormaliseReport(Viewed):
    """A joined replica that was made, and what was left out of it, with reasons.

    ``queries`` is how many runs of queries of the log it can answer a join of, ``columns`` how many of the
    tables' columns it holds.
    """

    root: str
    replica: str
    tables: tuple[str, ...]
    columns: int
    layout: str
    queries: int
    rows: int
    files: int
    bytes: int
    seconds: float
    left_out: tuple[Unjoined, ...] = ()
    unusable: tuple[BrokenQuery, ...] = ()

    def view(self) -> View:
        """What was made, and what was not."""
        values: list[tuple[str, Cell]] = [
            ("replica", self.replica),
            ("tables", listed(self.tables)),
            ("columns", f"{self.columns:,} of these tables, laid out by {self.layout}"),
            ("queries", f"answers joins of {count(self.queries, 'query')} of the log"),
            ("took", f"{self.seconds:.1f} s"),
        ]
        return View(
            f"Joined {count(self.rows, 'row')} of {self.root} with {count(len(self.tables) - 1, 'table')}: "
            f"{count(self.files, 'file')}, {megabytes(self.bytes)}.",
            tuple(values),
            tuple(f"left out: {each.table}: {each.reason}" for each in self.left_out),
        )

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        described = asdict(self)
        del described["unusable"]
        return described | {"unusable": broken_and_left_out(self.unusable)}


@dataclass(frozen=True, slots=True, eq=False)
class Denormalise:
    """Make a joined replica: the table's rows with those of the tables that the queries join to it.

    Inner joins of these tables on the same keys, with any filters, are then answered from it, as long as none
    of the tables has changed.
    """

    name: ClassVar[str] = "denormalise"

    queries: Workload
    layout: str = "qdtree"
    options: LayoutOptions = field(default_factory=LayoutOptions)

    def validate(self, context: Context) -> None:
        """Refuse an unknown layout or option, and a table without versions."""
        layout_named(self.layout, also=(AUTO,))
        if self.layout != AUTO:
            layout_options(self.layout, self.options.own)
        check_replicable(context)

    def run(self, context: Context) -> DenormaliseReport:
        """Find the star, verify its keys, and make the copy."""
        started = context.clock()
        context.table.refresh()
        with context.steps(len(context.snapshot), _SHARES) as steps:
            trees, unusable = parse_joins(context.engine.spark, self.queries, steps.step("parsing"))
            tables = StarTables(context.engine, context.table)
            with context.engine.watch(steps.step("verifying"), "verifying keys"):
                star = star_of(trees, context.snapshot.root, tables.problem_of)
                _require_links(star, unusable)
                covered = tables.covered(star)
            answered = _answered(star, covered)
            entries = tuple(_entry(tree, covered) for tree in answered)
            plan = JoinPlan(tables, covered, self.layout, self.options, entries)
            made = make_joined(context.reporting_to(steps.step("making")), plan)
        return DenormaliseReport(
            root=context.snapshot.root,
            replica=made.id,
            tables=tuple(table.root for table in covered),
            columns=sum(len(table.columns) for table in covered),
            layout=made.layout,
            queries=sum({id(tree.query): tree.query.count for tree in answered}.values()),
            rows=made.rows,
            files=made.files,
            bytes=made.bytes,
            seconds=(context.clock() - started).total_seconds(),
            left_out=star.unjoined,
            unusable=unusable,
        )


def _require_links(star: Star, unusable: tuple[BrokenQuery, ...]) -> None:
    if not star.links:
        why = "; ".join(f"{each.table} cannot be joined: {each.reason}" for each in star.unjoined)
        raise SkipstoneError(
            f"{why}."
            if why
            else f"No query joins {star.center} to another table by equal keys{first_of(unusable)}."
        )
    if not star.trees:
        raise SkipstoneError(f"Every query that joins {star.center} reads other tables too.")


def _answered(star: Star, covered: Sequence[CoveredTable]) -> list[JoinTree]:
    """The joins of the log all of whose columns could be copied."""
    known = {table.root: table.columns for table in covered}
    return [
        tree
        for tree in star.trees
        if all(set(scan.columns) <= known[scan.table].keys() for scan in tree.scans)
    ]


def _entry(tree: JoinTree, covered: Sequence[CoveredTable]) -> LoggedFilter:
    """Joins as a scan of the copy."""
    known = {table.root: table.columns for table in covered}
    read = dict.fromkeys(known[scan.table][name] for scan in tree.scans for name in scan.columns)
    query = tree.query
    return LoggedFilter(
        tree.filter_by(known),
        float(query.count),
        query.timestamp,
        query.sql,
        tuple(read),
        query.position,
        query.line,
    )
