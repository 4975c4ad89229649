"""A table as its user sees it: by path or by name, with everything that skipstone can do for it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from skipstone.actions.analysis_report import AnalysisReport
from skipstone.actions.auto import auto
from skipstone.actions.auto_status import AutoStatus, auto_status
from skipstone.actions.choose_layout import Request, Work
from skipstone.actions.cost_store import load_model
from skipstone.actions.into_delta import Conversion, Copy
from skipstone.actions.optimize import optimize_new, optimize_table
from skipstone.actions.prepare import Wishes, parse_log
from skipstone.actions.publish_append import settle
from skipstone.actions.rewrite import OptimizeReport
from skipstone.actions.select_features import selection_of
from skipstone.actions.usable import prepare_usable, with_usable
from skipstone.actions.watch import Watch
from skipstone.arguments import checked
from skipstone.catalog.decisions import Decision
from skipstone.errors import SkipstoneError
from skipstone.estimate.advice import Advice, advise
from skipstone.estimate.cost import CostModel
from skipstone.estimate.cost_inputs import economy_of
from skipstone.estimate.policy import Policy, policy_or_default
from skipstone.estimate.table_state import Situation
from skipstone.indexed_table import IndexedTable, is_path, split_source
from skipstone.layout.layouts import layout_named
from skipstone.layout.selforg import check_curve
from skipstone.progress import Progress, Steps
from skipstone.spark import DataFrame, DataFrameWriter, SparkSession
from skipstone.spark.bridge.enable import enable
from skipstone.spark.engine.append_by_layout import Arrival, append_plainly, arrive
from skipstone.spark.engine.executors import bounded, bounded_wait
from skipstone.spark.engine.job_progress import watch
from skipstone.spark.engine.open_table import TableFiles
from skipstone.spark.failures import some_sentence_of
from skipstone.spark.querylog.log_import import import_queries
from skipstone.spark.querylog.query_log import unlogged, usable_log
from skipstone.spark.running import require_running
from skipstone.view import View, Viewed, count
from skipstone.workload.analysis import analyze
from skipstone.workload.curves import curves
from skipstone.workload.logged_scans import filters_of
from skipstone.workload.parsed_json import parsed_workload_json
from skipstone.workload.predicates import LoggedFilter, query_predicates
from skipstone.workload.queries import BrokenQuery, Workload, first_of
from skipstone.workload.unusable import Usable

__all__ = ["Table", "WorkloadAnalysis", "table"]

LOG = logging.getLogger("skipstone")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WorkloadAnalysis(Viewed):
    """What ``analyze`` found: a printable report, the parsed log as plain data, and unusable statements."""

    report: AnalysisReport
    parsed: dict[str, Any]
    unusable: tuple[BrokenQuery, ...]

    def view(self) -> View:
        """The report, and how much of the log it leaves out."""
        seen = self.report.view()
        left_out = f"{count(len(self.unusable), 'statement')} could not be used"
        return replace(seen, notes=(*seen.notes, left_out)) if self.unusable else seen

    def __str__(self) -> str:
        return str(self.report)


def table(spark: SparkSession, source: str) -> Table:
    """Open a Delta table or a directory of Parquet files, and enable skipping in the session.

    ``source`` is a path (something with a slash, or a leading dot), a name in Spark's catalog, or
    ``name=path``. The last also makes a temporary view, so that queries can call the table by that name.
    Raises a :class:`SkipstoneError` when there is no such table.
    """
    enable(spark)
    name, path = split_source(source)
    found = Table(spark, path, name)
    with bounded_wait(spark):
        found.files()
        found._bind()
    return found


class Table(IndexedTable):
    """One table, made by :func:`table`: index it, ask about it, and rearrange it."""

    def __repr__(self) -> str:
        return f"<Table {self.source if self.name is None else f'{self.name}={self.source}'}>"

    def _repr_html_(self) -> str:
        """What is known about the table now; a notebook shows it even if that cannot be told."""
        try:
            return self.status().view().html()
        except Exception as problem:
            return View(repr(self), notes=(some_sentence_of(problem),)).html()

    def _bind(self) -> None:
        """Let queries call the table, as it is now, by its name."""
        if self.name is not None:
            self._runtime.bind(self.name, self.frame())

    def _called(self) -> str:
        return self.name or self.source.rstrip("/").rpartition("/")[2]

    @bounded
    def import_log(self, queries: Workload) -> tuple[int, tuple[BrokenQuery, ...]]:
        """Add the scans that these queries make to the table's query log; nothing is run.

        Returns how many were added and the statements that cannot be used. What a scan reads is not known,
        so its figures are 0, and a query without a time counts as asked now.
        """
        files = self.files()
        return import_queries(self.spark, self._runtime, files, self._called(), queries)

    def _entries(
        self, files: TableFiles, queries: Workload | None
    ) -> tuple[tuple[LoggedFilter, ...], tuple[BrokenQuery, ...]]:
        """The filters of the given queries, or of the table's own log."""
        if queries is not None:
            return parse_log(self.spark, files, self._called(), queries)
        scans, left_out = usable_log(self.spark, self._runtime, self.files().root, files.schema)
        if not scans:
            raise SkipstoneError(
                left_out
                or f"{self.source} has no query log yet: give a query file, import one with skipstone log "
                "import, or record queries with skipstone.enable(spark, log=True)."
            )
        return filters_of(scans), ()

    @bounded
    def analyze(
        self, queries: Workload | None = None, num_features: int | None = None, threshold: float | None = None
    ) -> WorkloadAnalysis:
        """Show what a query log says about this table: predicates, features, commonality and stability.

        ``num_features`` is how many features to mine and ``threshold`` how many queries each must subsume;
        both are chosen by cross-validation over the log when not given. Here and in ``advise`` and
        ``optimize``, the table's own query log is used when no ``queries`` are given.
        """
        checked(num_features=num_features, threshold=threshold)
        entries, unusable = self._entries(self.files(), queries)
        if not entries:
            raise SkipstoneError(f"No query of the log reads {self.source}{first_of(unusable)}.")

        def work(usable: Usable) -> WorkloadAnalysis:
            analysis = analyze(usable.entries, threshold=threshold, num_features=num_features)
            selection = selection_of(self.spark, self.files(), usable.entries)
            shown = curves(query_predicates(usable.entries))
            report = AnalysisReport(self._called(), analysis, shown, selection)
            parsed = parsed_workload_json(usable.entries, analysis, table=self._called())
            return WorkloadAnalysis(report, parsed, (*unusable, *usable.unusable))

        with unlogged(self.spark):
            return with_usable(self.spark, self.files(), entries, work)

    @bounded
    def advise(
        self,
        queries: Workload | None = None,
        block_rows: int | None = None,
        partition_by: str | None = None,
        num_features: int | None = None,
        progress: Progress | None = None,
    ) -> Advice:
        """Simulate every layout on a sample and estimate what each would save and cost; nothing is changed.

        ``block_rows`` is the mean number of rows in a block, chosen by size when not given. With
        ``partition_by``, a SQL expression, blocks are made inside each of its values.
        """
        wishes = Wishes(block_rows, partition_by, num_features)
        files = self.files()
        entries, unusable = self._entries(files, queries)
        self._runtime.refresh(files.root)
        with Steps(progress, len(files.files), {"sampling": 1, "simulating": 2}) as steps:
            with watch(self.spark, steps.step("sampling"), "sampling blocks"):
                prepared = prepare_usable(self.spark, files, entries, unusable, wishes)
                model = load_model(self.spark)
                economy = economy_of(self.spark, self._runtime, files, prepared.places, model, entries)
            return advise(prepared, progress=steps.step("simulating"), economy=economy)

    @bounded
    def optimize(
        self,
        queries: Workload | None = None,
        layout: str = "auto",
        block_rows: int | None = None,
        partition_by: str | None = None,
        num_features: int | None = None,
        output: str | None = None,
        convert: bool = False,
        leave_out_dates: bool = False,
        progress: Progress | None = None,
        curve: str = "z",
        force: bool = False,
    ) -> OptimizeReport:
        """Rewrite the table in one commit so that the queries skip most; its rows stay the same.

        ``layout`` is ``range``, ``zorder``, ``hilbert``, ``sop``, ``qdtree`` or ``selforg``; ``auto`` takes
        the one that scans least in the simulation. ``block_rows`` and ``partition_by`` are as for ``advise``.
        With ``output``, a path, a new Delta table is written and this one is left alone. ``convert`` makes a
        directory of Parquet files a Delta table first. ``leave_out_dates`` mines no features from filters
        on dates. ``curve`` is that of ``selforg``: ``z`` or ``hilbert``.

        A layout by which the queries would scan more than they do now is refused unless ``force`` is given.
        Nothing is written before all that can be known to fail is checked, and a new table whose layout fails
        is deleted again.
        """
        request = Request(
            layout,
            Wishes(block_rows, partition_by, num_features, leave_out_dates=leave_out_dates, curve=curve),
            force,
        )
        if layout != "auto":
            layout_named(layout, also=("auto",))
        check_curve(curve, layout)
        files = self._current()
        target = self._target(files, output, convert)
        entries, unusable = self._entries(files, queries)
        work = Work(self.spark, self._runtime, files, entries, unusable, progress)
        with unlogged(self.spark):
            report = optimize_table(work, request, None if target is None else target.made)
        if output is None:
            self._bind()
        return report

    def _target(self, files: TableFiles, output: str | None, convert: bool) -> Copy | Conversion | None:
        """What is to be made of the table before it is laid out; nothing is written yet."""
        target: Copy | Conversion | None = None
        if output is not None:
            target = Copy(self.spark, self._runtime, files, output)
        elif convert and files.format != "delta":
            name = None if is_path(self.source) else self.source
            target = Conversion(self.spark, self._runtime, files, name)
        if target is not None:
            target.check()
        return target

    @bounded
    def optimize_new(
        self, blocks_worth: float = 2.0, progress: Progress | None = None, force: bool = False
    ) -> OptimizeReport:
        """Lay out only the files that no layout covers yet, by the newest layout's strategy and workload.

        Nothing is done until ``blocks_worth`` blocks of rows have gathered, in each partition of the table.
        """
        worth = checked(blocks_worth=blocks_worth)["blocks_worth"]
        return optimize_new(self.spark, self._runtime, self._current, worth, progress, force)

    @bounded
    def auto(
        self,
        act: bool = True,
        policy: Policy | None = None,
        progress: Progress | None = None,
        lazy: bool = False,
        model: CostModel | None = None,
    ) -> Decision:
        """Run one round of the self-organising loop: decide by the table's query log and, if it pays, act.

        Without ``act`` nothing is done or written down. A table without statistics is indexed first, for only
        the scans of indexed tables are logged. ``model`` is what ``skipstone calibrate`` measured by default.
        With ``lazy`` a negative decision is kept until table, log, policy or costs have changed enough.
        """
        chosen = policy_or_default(policy)
        files = self._current()
        if act and files.format == "delta" and not self._runtime.catalog(files.root).segments:
            steps = Steps(progress, len(files.files), {"indexing": 3, "deciding": 8})
            self.index(progress=steps.step("indexing"))
            progress = steps.step("deciding")
        since = datetime.now(UTC) - timedelta(days=chosen.window_days)
        scans, _ = usable_log(self.spark, self._runtime, files.root, files.schema, since)
        known = model or load_model(self.spark)
        decision = auto(self.spark, self._runtime, files, scans, chosen, known, act, progress, lazy)
        if decision.acted:
            self._bind()
        return decision

    @bounded
    def append(
        self, rows: DataFrame, policy: Policy | None = None, model: CostModel | None = None
    ) -> Decision:
        """Append rows to a Delta table, then lay new data out if enough has gathered and it pays.

        If the newest layout still suits the recent queries, the rows are written by it at once. They are in
        the table whatever becomes of the layout: if that fails, the decision says why.
        """
        chosen = policy_or_default(policy)
        if self.files().format != "delta":
            raise SkipstoneError(
                f"{self.source} is a directory of Parquet files, and rows can be appended to Delta tables "
                "only; make it one first (skipstone optimize --convert)."
            )
        started = time.perf_counter()
        arrival = self._arrive(rows, chosen)
        if arrival is None:
            append_plainly(self._runtime, rows, self._save, self.files)
        seconds = time.perf_counter() - started
        try:
            placed = None
            if arrival is not None:
                placed = settle(self.spark, self._runtime, arrival, self._current(), seconds)
            decision = self.auto(policy=policy, lazy=True, model=model)
            return decision if placed is None or decision.acted else placed
        except Exception as problem:
            # Whoever sees an append fail appends again, and these rows are in the table.
            reason = some_sentence_of(problem).rstrip(".")
            LOG.warning("The rows were appended, but not laid out: %s.", reason)
            return Decision(datetime.now(UTC).isoformat(), False, "FAILED", reason)
        finally:
            self._bind()

    def _arrive(self, rows: DataFrame, policy: Policy) -> Arrival | None:
        """Append rows by the newest layout; None, with nothing appended, if they cannot be."""
        try:
            seen = self._situation(policy)
        except Exception as problem:
            # Neither the log nor the catalog may keep rows out of the table.
            LOG.warning("Rows are appended as they come: %s", some_sentence_of(problem))
            return None
        if seen.proven is None:
            return None
        with unlogged(self.spark):
            return arrive(self.spark, self._runtime, seen.files, seen.proven, rows, self._save, self.files)

    def _save(self, writer: DataFrameWriter) -> None:
        if is_path(self.source):
            writer.save(self.source)
        else:
            writer.saveAsTable(self.source)

    def watch(
        self,
        seconds: float = 30.0,
        policy: Policy | None = None,
        told: Callable[[Decision], None] = lambda _: None,
    ) -> Watch:
        """Watch the table's commits, whoever makes them, and run a round of ``auto`` after each.

        The table's version is looked up every ``seconds``; ``told`` is called with each decision. Nothing
        happens before :meth:`Watch.start`.
        """
        policy_or_default(policy)
        require_running(self.spark, self.source)
        return Watch(
            lambda: int(self.files().handle.version()),
            lambda: self.auto(policy=policy, lazy=True),
            seconds,
            told=told,
        )

    @bounded
    def auto_status(self, policy: Policy | None = None) -> AutoStatus:
        """Show what the self-organising loop sees: log, unclustered data, drift and the newest decisions."""
        return auto_status(self._situation(policy_or_default(policy)))

    def _situation(self, policy: Policy) -> Situation:
        files = self._current()
        now = datetime.now(UTC)
        since = now - timedelta(days=policy.window_days)
        scans, _ = usable_log(self.spark, self._runtime, files.root, files.schema, since)
        return Situation(self._runtime, files, scans, policy, now)
