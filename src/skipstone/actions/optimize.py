"""``optimize``: choose a layout, refuse what would be worse, rewrite, report."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import ClassVar

from skipstone.actions.choose_layout import AUTO, LayoutChoice, choose_again, choose_layout, needs_queries
from skipstone.actions.context import Context
from skipstone.actions.divided_trees import check_trees, divided_trees, replicate_trees
from skipstone.actions.lay_out import RewriteWork, rewrite_table
from skipstone.actions.logged_workload import logged_workload
from skipstone.actions.optimize_report import OptimizeReport
from skipstone.actions.prepare import FitRequest
from skipstone.arguments import checked
from skipstone.errors import SkipstoneError
from skipstone.estimate.advice import CURRENT_LAYOUT
from skipstone.layout.layouts import check_base_layout, check_options, layout_named, layout_options
from skipstone.layout.options import LayoutOptions
from skipstone.spark.engine.into_delta import Conversion, Copy
from skipstone.spark.engine.rewrite import Rewriting
from skipstone.spark.engine.source import is_path
from skipstone.workload.queries import Workload

__all__ = ["FORCE", "Optimize", "OptimizeReport", "lay_out"]

FORCE = "say --force (in Python force=True) if that is meant"
_CHOOSING, _COPYING, _REWRITING = 5, 2, 8
"""The share that each step has in the work, about."""
_NO_QUERIES = (
    "no query has a usable filter, so it is unknown what to lay the table out for, and what is scanned"
)


@dataclass(frozen=True, slots=True, eq=False)
class Optimize:
    """Rewrite a table in one commit so that the queries skip most; its rows stay the same.

    Without a query that has a usable filter, ``auto`` takes the layout that serves any query.
    With ``output``, a path, a new Delta table is written and this one is left alone. ``convert`` makes a
    directory of Parquet files a Delta table first. A layout by which the queries would scan more than they do
    now is refused unless ``force`` is given. With several ``replicas``, columns are divided among that many
    trees: the table itself is laid out by the first, and replicas are made by the others.
    """

    name: ClassVar[str] = "optimize"

    queries: Workload | None = None
    layout: str = AUTO
    options: LayoutOptions = field(default_factory=LayoutOptions)
    output: str | None = None
    convert: bool = False
    force: bool = False
    replicas: int = 1

    def validate(self, context: Context) -> None:
        """Refuse an unknown layout or option, and a table or an output that cannot be written."""
        if self.layout == AUTO:
            check_options(AUTO, self.options.own)
        else:
            layout_named(self.layout, also=(AUTO,))
            layout_options(self.layout, self.options.own)
        check_base_layout(self.layout)
        checked(replicas=self.replicas)
        if self.replicas > 1:
            check_trees(self.layout, self.options)
            if self.output is not None:
                raise SkipstoneError("Replicas are made of the table itself, not of a new one (--output).")
        target = self._target(context)
        if target is not None:
            target.check()
        elif not context.snapshot.is_delta:
            raise SkipstoneError(
                f"{context.snapshot.root} is a directory of Parquet files, which cannot be replaced in one "
                "step; give --output for a new Delta table, or --convert to make this one a Delta table "
                "first."
            )
        else:
            Rewriting(context.table)  # refuses tables that must not be rewritten

    def run(self, context: Context) -> OptimizeReport:
        """Choose, copy or convert where that is asked for, and rewrite."""
        context.table.refresh()
        workload = logged_workload(context, self.queries, required=needs_queries(self.layout, self.options))
        target = self._target(context)
        shares = {
            "choosing": _CHOOSING,
            "copying": 0 if target is None else _COPYING,
            "rewriting": _REWRITING,
            "replicating": _REWRITING * (self.replicas - 1),
        }
        with context.steps(len(context.snapshot), shares) as steps:
            request = FitRequest(
                context.table.file_indices,
                workload.entries,
                workload.unusable,
                self.options,
                # Given queries none of which reads this table are most likely a mistake.
                queries_needed=self.queries is not None and not workload.entries,
            )
            chosen = choose_layout(context.reporting_to(steps.step("choosing")), self.layout, request)
            if chosen.worse and not self.force:
                raise SkipstoneError(
                    f"Nothing was written: {chosen.worse}; choose another layout (skipstone advise compares "
                    f"them), or {FORCE}."
                )
            trees = divided_trees(chosen, self.replicas) if self.replicas > 1 else [chosen]
            with ExitStack() as stack:
                where = context
                if target is not None:
                    with context.engine.watch(steps.step("copying"), "copying blocks"):
                        made = stack.enter_context(target.made())
                    trees = [choose_again(context, tree, request, made) for tree in trees]
                    where = replace(context, table=made)
                done = lay_out(where.reporting_to(steps.step("rewriting")), trees[0])
            if self.replicas == 1:
                return done
            others = replicate_trees(context.reopened().reporting_to(steps.step("replicating")), trees[1:])
            return replace(done, replicas=tuple(each.replica for each in others))

    def _target(self, context: Context) -> Copy | Conversion | None:
        """What is to be made of the table before it is laid out; nothing is written yet."""
        if self.output is not None:
            return Copy(context.table, self.output)
        if self.convert and not context.snapshot.is_delta:
            location = context.source.location
            return Conversion(context.table, None if is_path(location) else location)
        return None


def lay_out(context: Context, chosen: LayoutChoice) -> OptimizeReport:
    """Rewrite the files that a choice was made for."""
    if chosen.design is None:
        reason = "no layout would let the queries of the log skip more than the current layout"
        return _report(replace(chosen, layout=CURRENT_LAYOUT), reason)
    queries = "" if chosen.prepared.entries else f"{_NO_QUERIES}; "
    started = context.clock()
    work = RewriteWork(chosen.prepared, chosen.layout, chosen.design, chosen.sizes)
    result = rewrite_table(context, work)
    return replace(
        _report(chosen, queries + chosen.design.note),
        layout_id=result.layout_id,
        files_after=result.rewritten.files_after,
        rows=result.rewritten.rows,
        rewrite_seconds=(context.clock() - started).total_seconds(),
        version=result.rewritten.version,
    )


def _report(chosen: LayoutChoice, reason: str) -> OptimizeReport:
    """About files that are as they were."""
    snapshot = chosen.prepared.snapshot
    return OptimizeReport(
        root=snapshot.root,
        layout=chosen.layout,
        layout_id="",
        reason=reason,
        percent_before=chosen.percent_before,
        percent_after=chosen.percent_after,
        files_before=len(snapshot),
        files_after=len(snapshot),
        rows=chosen.prepared.total_rows,
        fit_seconds=chosen.fit_seconds,
        rewrite_seconds=0.0,
        version=-1,
        unusable=chosen.prepared.unusable,
    )
