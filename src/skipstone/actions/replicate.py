"""``replicate``: a further copy of a table's rows in another layout, for queries that it serves better."""

from __future__ import annotations

import uuid
from dataclasses import asdict, dataclass, field, replace
from typing import ClassVar

from skipstone.actions.choose_layout import AUTO, LayoutChoice, choose_layout, needs_queries
from skipstone.actions.context import Context
from skipstone.actions.lay_out import RewriteWork, layout_record, plan_of
from skipstone.actions.logged_workload import logged_workload
from skipstone.actions.make_partitions import (
    AUTOMATIC,
    PARTITION_ROWS,
    divided,
    groups_plan,
    make_partition,
    partition_count,
    whole_partition,
)
from skipstone.actions.prepare import FitRequest
from skipstone.arguments import checked
from skipstone.catalog.layout_records import LayoutRecord, save_layout
from skipstone.catalog.replica_store import save_empty, sweep_partitions
from skipstone.catalog.replicas import HorizontalPartition
from skipstone.errors import SkipstoneError
from skipstone.estimate.advice import CURRENT_LAYOUT
from skipstone.estimate.prepared import default_block_rows
from skipstone.json_types import json_number
from skipstone.layout.layouts import check_options, layout_named, layout_options
from skipstone.layout.options import LayoutOptions
from skipstone.spark.engine.copy_groups import GroupsPlan
from skipstone.spark.engine.draw_sample import count_rows
from skipstone.spark.engine.rewrite import Plan
from skipstone.view import Cell, View, Viewed, count, megabytes
from skipstone.workload.queries import BrokenQuery, Workload

__all__ = ["Replicate", "ReplicateReport", "check_replicable", "copy_rows", "make_replica"]

GROUPED = "gsop"
"""The layout whose designs have several column groups."""
_SHARES = {"choosing": 5, "copying": 8}


@dataclass(frozen=True, slots=True, repr=False)
class ReplicateReport(Viewed):
    """A replica that was made; ``replica`` is empty if none was, and ``reason`` says why.

    ``percent_before`` and ``percent_after`` are what the log's queries scan in the base and would scan in the
    replica; a query reads whichever costs less.
    """

    root: str
    replica: str
    layout: str
    reason: str
    percent_before: float | None
    percent_after: float | None
    partitions: int
    files: int
    bytes: int
    rows: int
    fit_seconds: float
    copy_seconds: float
    unusable: tuple[BrokenQuery, ...] = ()

    def view(self) -> View:
        """What was made, and what it should gain."""
        if not self.replica:
            return View(f"No replica of {self.root} was made: {self.reason}.")
        made = f"{count(self.files, 'file')}, {megabytes(self.bytes)}"
        parts = count(self.partitions, "horizontal partition")
        headline = f"Copied {count(self.rows, 'row')} of {self.root} by {self.layout}: {parts}, {made}."
        values: list[tuple[str, Cell]] = [("replica", self.replica), ("layout", self.reason)]
        if self.percent_before is not None and self.percent_after is not None:
            after, before = (f"{share:.2f} %" for share in (self.percent_after, self.percent_before))
            said = f"scan about {after} of its rows, {before} of the base; each reads what costs less"
            values.append(("queries", said))
        values.append(("took", f"{self.fit_seconds:.1f} s to fit, {self.copy_seconds:.1f} s to copy"))
        return View(headline, tuple(values))

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True, eq=False)
class Replicate:
    """Copy the table's rows into another layout, kept beside the table; the table itself stays as it is.

    ``partition_rows`` is about how many rows a horizontal partition of the replica has: what is read from the
    base again when some of its files change.
    """

    name: ClassVar[str] = "replicate"

    queries: Workload | None = None
    layout: str = AUTO
    options: LayoutOptions = field(default_factory=LayoutOptions)
    partition_rows: int | None = None

    def validate(self, context: Context) -> None:
        """Refuse an unknown layout or option, and a table of which there are no replicas."""
        checked(partition_rows=self.partition_rows)
        if self.layout == AUTO:
            check_options(AUTO, self.options.own)
        else:
            layout_named(self.layout, also=(AUTO,))
            layout_options(self.layout, self.options.own)
        check_replicable(context)

    def run(self, context: Context) -> ReplicateReport:
        """Choose a layout, and copy the rows partition by partition."""
        context.table.refresh()
        table = context.table
        needed = needs_queries(self.layout, self.options)
        workload = logged_workload(context, self.queries, required=needed)
        with context.steps(len(context.snapshot), _SHARES) as steps:
            rows = count_rows(table, table.file_indices)
            wanted = self.options.block_rows or default_block_rows(table.files.bytes, rows)
            request = FitRequest(
                table.file_indices,
                workload.entries,
                workload.unusable,
                replace(self.options, block_rows=wanted),
                queries_needed=self.queries is not None and not workload.entries,
                replica=True,
            )
            choosing = context.reporting_to(steps.step("choosing"))
            chosen, parts = self._chosen(choosing, request, rows)
            if chosen.design is None:
                reason = "no layout would let the queries of the log skip more than the current layout"
                return _report(replace(chosen, layout=CURRENT_LAYOUT), reason)
            copying = context.reporting_to(steps.step("copying"))
            return make_replica(copying, chosen, rows / parts, wanted)

    def _chosen(self, context: Context, request: FitRequest, rows: int) -> tuple[LayoutChoice, int]:
        """The layout, and how many horizontal partitions there are to be.

        Column groups want smaller partitions than whole rows, and which of them it will be is known only when
        a layout is fitted. If it is not what was expected, it is fitted again.
        """
        parts = partition_count(rows, self.layout == GROUPED, self.partition_rows)
        chosen = choose_layout(context, self.layout, _in_partitions(request, parts))
        if chosen.design is None:
            return chosen, parts
        several = len(chosen.design.groups) > 1
        needed = partition_count(rows, several, self.partition_rows)
        if needed == parts:
            return chosen, parts
        again = _in_partitions(request, needed)
        if chosen.layout == GROUPED and not several:
            own = {**again.options.own, "grouping": "one"}
            again = replace(again, options=replace(again.options, own=own))
        return choose_layout(context, chosen.layout, again), needed


def _in_partitions(request: FitRequest, parts: int) -> FitRequest:
    """The request for a design that has fewer blocks, for each horizontal partition has all of them."""
    options = request.options
    return replace(request, options=replace(options, block_rows=(options.block_rows or 1) * parts))


def make_replica(
    context: Context, chosen: LayoutChoice, part_rows: float, block_rows: int, automatic: bool = False
) -> ReplicateReport:
    """Copy all rows by the chosen design, in horizontal partitions of about so many rows.

    ``automatic`` marks a replica that nobody asked for, and that may therefore be dropped again.
    """
    assert chosen.design is not None
    started, table, design = context.clock(), context.table, chosen.design
    work = RewriteWork(chosen.prepared, chosen.layout, design, chosen.sizes)
    replica, total = uuid.uuid4().hex[:12], chosen.prepared.total_rows
    if len(design.groups) > 1:
        values = chosen.prepared.view.sample.few_values()
        plan: Plan | GroupsPlan = groups_plan(table, design, replica, started.isoformat(), values)
    else:
        plan = plan_of(table, work, replica, started.isoformat())
    record = layout_record(work, plan, context.snapshot.version)
    parameters = {**record.parameters, PARTITION_ROWS: part_rows}
    if automatic:
        parameters[AUTOMATIC] = True
    made = copy_rows(context, plan, replace(record, block_rows=block_rows, parameters=parameters), total)
    table.refresh()
    sweep_partitions(table.store)
    return replace(
        _report(chosen, chosen.design.note),
        replica=replica,
        partitions=len(made),
        files=sum(len(part.files) for part in made),
        bytes=sum(part.files.bytes for part in made),
        rows=sum(part.rows for part in made),
        copy_seconds=(context.clock() - started).total_seconds(),
    )


def copy_rows(
    context: Context, plan: Plan | GroupsPlan, record: LayoutRecord, total: float
) -> list[HorizontalPartition]:
    """Copy about so many rows, all that there are, in the horizontal partitions of a new replica."""
    table = context.table
    save_layout(table.store, record)
    part_rows = json_number(record.parameters[PARTITION_ROWS])
    groups = divided(context.snapshot, table.file_indices, table.files.bytes * part_rows / max(total, 1))
    made: list[HorizontalPartition] = []
    steps = context.steps(len(groups), {str(number): 1 for number in range(len(groups))})
    for number, group in enumerate(groups):
        share = context.snapshot.bytes_of(group) / max(table.files.bytes, 1)
        part = whole_partition(plan.of(group), total * share, record.block_rows)
        new = make_partition(context, part, steps.step(str(number)))
        made += [] if new is None else [new]
    if not made:
        save_empty(table.store, record.id, record.created)
    return made


def check_replicable(context: Context) -> None:
    """Refuse tables that have no versions by which a copy can be known to be of the same rows."""
    if not context.snapshot.is_delta:
        raise SkipstoneError(
            f"{context.snapshot.root} is a directory of Parquet files, and replicas are made of Delta tables "
            "only; make it one first (skipstone optimize --convert)."
        )


def _report(chosen: LayoutChoice, reason: str) -> ReplicateReport:
    """About a replica that is not made yet."""
    return ReplicateReport(
        root=chosen.prepared.snapshot.root,
        replica="",
        layout=chosen.layout,
        reason=reason,
        percent_before=chosen.percent_before,
        percent_after=chosen.percent_after,
        partitions=0,
        files=0,
        bytes=0,
        rows=0,
        fit_seconds=chosen.fit_seconds,
        copy_seconds=0.0,
        unusable=chosen.prepared.unusable,
    )
