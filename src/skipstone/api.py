"""The Python API: a table, by path or by name, with a method for each action."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from skipstone.actions.action import Action, perform
from skipstone.actions.adapt import Adapt
from skipstone.actions.adapt_report import AdaptReport
from skipstone.actions.advise import Advise
from skipstone.actions.analyze import Analyze, WorkloadAnalysis
from skipstone.actions.append import Append
from skipstone.actions.auto import Auto
from skipstone.actions.auto_status import AutoStatus, ShowAutoStatus
from skipstone.actions.denormalise import Denormalise, DenormaliseReport
from skipstone.actions.drop import Drop, DropReport
from skipstone.actions.explain import Explain, Explanation
from skipstone.actions.generate import Generate, GeneratedWorkload
from skipstone.actions.import_log import ImportedLog, ImportLog
from skipstone.actions.index import Index, IndexReport
from skipstone.actions.log import ClearLog, ShowLog
from skipstone.actions.optimize import Optimize, OptimizeReport
from skipstone.actions.optimize_new import OptimizeNew
from skipstone.actions.refresh import Refresh, RefreshReport
from skipstone.actions.repair import Repair, RepairReport
from skipstone.actions.replay import Replay, ReplayReport
from skipstone.actions.replicas import ReplicasReport, ShowReplicas
from skipstone.actions.replicate import Replicate, ReplicateReport
from skipstone.actions.status import Status, TableStatus
from skipstone.actions.watch import Watch, watch_table
from skipstone.cancel import Cancel
from skipstone.catalog.decisions import Decision
from skipstone.estimate.advice import Advice
from skipstone.estimate.cost import CostModel
from skipstone.estimate.policy import Policy
from skipstone.layout.options import LayoutOptions
from skipstone.path_listing import split_source
from skipstone.progress import Progress
from skipstone.spark import DataFrame, SparkSession
from skipstone.spark.bridge.enable import enable
from skipstone.spark.engine.engine import Engine
from skipstone.spark.engine.executors import bounded_wait
from skipstone.spark.engine.source import Source
from skipstone.spark.failures import some_sentence_of
from skipstone.spark.running import require_running
from skipstone.view import View
from skipstone.workload.logged_scans import LoggedScan
from skipstone.workload.queries import Workload

__all__ = ["Table", "table"]

Result = TypeVar("Result")


def table(spark: SparkSession, source: str) -> Table:
    """Open a Delta table or a directory of Parquet files, and enable skipping in the session.

    ``source`` is a path (something with a slash, or a leading dot), a name in Spark's catalog, or
    ``name=path``. The last also makes a temporary view, so that queries can call the table by that name.
    Raises a :class:`SkipstoneError` when there is no such table.
    """
    enable(spark)
    name, location = split_source(source)
    opened = Source(Engine.of(spark), location, name)
    with bounded_wait(spark):
        opened.open()
        opened.bind()
    return Table(opened)


class Table:
    """One table, made by :func:`table`. ``progress`` is called with how far an action is; by ``cancel``, a
    :class:`Cancel`, another thread can end it.
    """

    def __init__(self, source: Source) -> None:
        """Remember where the table is; nothing is read yet."""
        self._source = source

    @property
    def spark(self) -> SparkSession:
        """The session in which the table was opened."""
        return self._source.engine.spark

    @property
    def source(self) -> str:
        """The path of the table, or its name in Spark's catalog."""
        return self._source.location

    @property
    def name(self) -> str | None:
        """What queries may call the table."""
        return self._source.name

    def __repr__(self) -> str:
        return f"<Table {self.source if self.name is None else f'{self.name}={self.source}'}>"

    def _repr_html_(self) -> str:
        """What is known about the table now; a notebook shows it even if that is an error."""
        try:
            return self.status().view().html()
        # Whatever fails, a notebook must still be able to show the object.
        except Exception as problem:  # noqa: BLE001
            return View(repr(self), notes=(some_sentence_of(problem),)).html()

    def frame(self) -> DataFrame:
        """The table as a DataFrame, as it is now."""
        require_running(self.spark, self.source)
        return self._source.frame()

    def perform(
        self, action: Action[Result], progress: Progress | None = None, cancel: Cancel | None = None
    ) -> Result:
        """Perform any action; the methods below are short for this.

        ``progress`` is called with how far it is. When ``cancel`` ends it from another thread, its Spark jobs
        are cancelled and :class:`CancelledError` is raised.
        """
        require_running(self.spark, self.source)
        return perform(action, self._source, progress, cancel)

    def index(
        self,
        expressions: Sequence[str] = (),
        features: Sequence[str] = (),
        rebuild: bool = False,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
    ) -> IndexReport:
        """Compute statistics for the files that have none; queries skip from then on. No data is changed.

        ``expressions`` are SQL expressions to keep statistics of, like those of columns; ``features`` are SQL
        conditions to keep a bit of per block. Both are remembered, unless ``rebuild`` indexes all anew.
        """
        return self.perform(Index(expressions, features, rebuild), progress, cancel)

    def explain(self, query: str | DataFrame) -> Explanation:
        """Show which files a query reads and skips, and why; the query is planned and not run."""
        return self.perform(Explain(query))

    def status(self, progress: Progress | None = None, cancel: Cancel | None = None) -> TableStatus:
        """Show what is known about the table, and how many of its files have no statistics yet."""
        return self.perform(Status(), progress, cancel)

    def replay(
        self, queries: Workload, progress: Progress | None = None, cancel: Cancel | None = None
    ) -> ReplayReport:
        """Run queries with skipping on and off; compare results, rows, files, bytes and seconds."""
        return self.perform(Replay(queries), progress, cancel)

    def log(
        self, since: datetime | None = None, progress: Progress | None = None, cancel: Cancel | None = None
    ) -> tuple[LoggedScan, ...]:
        """The table's query log, oldest first, from ``since`` on, a datetime with a time zone."""
        return self.perform(ShowLog(since), progress, cancel)

    def clear_log(self) -> int:
        """Delete every entry of the table's query log and return how many there were."""
        return self.perform(ClearLog())

    def import_log(
        self, queries: Workload, progress: Progress | None = None, cancel: Cancel | None = None
    ) -> ImportedLog:
        """Add the scans that these queries make to the table's query log, with figures of 0; none is run."""
        return self.perform(ImportLog(queries), progress, cancel)

    def generate(
        self,
        queries: int = 100,
        seed: int = 0,
        zipf: float | None = None,
        columns: Sequence[str] = (),
        progress: Progress | None = None,
    ) -> GeneratedWorkload:
        """Draw queries from what the columns hold; ``zipf`` skews their constants."""
        return self.perform(Generate(queries, seed, zipf, columns), progress)

    def analyze(
        self,
        queries: Workload | None = None,
        num_features: int | None = None,
        threshold: float | None = None,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
    ) -> WorkloadAnalysis:
        """Show what a query log says about this table: predicates, features, commonality and stability.

        ``num_features`` is how many features to mine and ``threshold`` how many queries each must subsume,
        both cross-validated when not given. Without ``queries`` the table's own log is used, also elsewhere.
        """
        return self.perform(Analyze(queries, num_features, threshold), progress, cancel)

    def advise(
        self,
        queries: Workload | None = None,
        block_rows: int | None = None,
        partition_by: str | None = None,
        num_features: int | None = None,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
        layout_options: Mapping[str, str] | None = None,
        layouts: Sequence[str] = (),
    ) -> Advice:
        """Simulate every layout on a sample and estimate what each would save and cost; nothing is changed.

        A block has ``block_rows`` rows on average, by size when not given; with ``partition_by``, a SQL
        expression, blocks are made inside each of its values. ``layouts`` are compared, all by default, but
        ``hyper`` (for any query) and ``gsop`` (for replicas) only with one of their ``layout_options``.
        """
        options = LayoutOptions(block_rows, partition_by, num_features, own=layout_options or {})
        return self.perform(Advise(queries, options, layouts=tuple(layouts)), progress, cancel)

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
        layout_options: Mapping[str, str] | None = None,
        force: bool = False,
        replicas: int = 1,
        cancel: Cancel | None = None,
    ) -> OptimizeReport:
        """Rewrite the table in one commit so that the queries skip most; its rows stay the same.

        ``layout`` is one that ``advise`` compares, or ``auto`` for the one that scans least. ``block_rows``
        and ``partition_by`` are as for ``advise``. With ``output``, a path, a new Delta table is written;
        ``convert`` makes a directory of Parquet files one.
        ``leave_out_dates`` mines nothing from filters on dates. ``layout_options`` are the layout's own, as
        ``{"curve": "hilbert"}``; ``range``, ``zorder`` and ``hilbert`` need no queries with
        ``{"columns": "a,b"}``. With ``replicas``, ``hyper`` divides the columns among as many trees.
        What would scan more than now is refused without ``force``.
        """
        own = layout_options or {}
        options = LayoutOptions(
            block_rows, partition_by, num_features, leave_out_dates=leave_out_dates, own=own
        )
        action = Optimize(queries, layout, options, output, convert, force, replicas)
        report = self.perform(action, progress, cancel)
        if output is None:
            self._source.bind()
        return report

    def optimize_new(
        self,
        blocks_worth: float = 2.0,
        progress: Progress | None = None,
        force: bool = False,
        cancel: Cancel | None = None,
    ) -> OptimizeReport:
        """Lay out only the files that no layout covers yet, by the newest layout's strategy and workload.

        Nothing is done until ``blocks_worth`` blocks of rows have gathered, in each partition of the table.
        """
        return self.perform(OptimizeNew(blocks_worth, force), progress, cancel)

    def replicate(
        self,
        queries: Workload | None = None,
        layout: str = "auto",
        block_rows: int | None = None,
        partition_by: str | None = None,
        num_features: int | None = None,
        partition_rows: int | None = None,
        layout_options: Mapping[str, str] | None = None,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
    ) -> ReplicateReport:
        """Copy the table's rows into another layout, beside the table, for queries that it serves better.

        Each query then reads, for each part of the table, the copy that costs least. What changes in the
        table is read from there until :meth:`refresh`, with about ``partition_rows`` rows around it.
        """
        options = LayoutOptions(block_rows, partition_by, num_features, own=layout_options or {})
        return self.perform(Replicate(queries, layout, options, partition_rows), progress, cancel)

    def denormalise(
        self,
        queries: Workload,
        layout: str = "qdtree",
        block_rows: int | None = None,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
    ) -> DenormaliseReport:
        """Copy the table's rows with those that the queries join to them, laid out for these queries.

        Inner joins on the same unique keys are then answered from the copy, until a table changes.
        """
        action = Denormalise(queries, layout, LayoutOptions(block_rows))
        return self.perform(action, progress, cancel)

    def replicas(self, progress: Progress | None = None, cancel: Cancel | None = None) -> ReplicasReport:
        """Show which replicas there are, and how much of the table each can answer for now."""
        return self.perform(ShowReplicas(), progress, cancel)

    def refresh(
        self, replica: str | None = None, progress: Progress | None = None, cancel: Cancel | None = None
    ) -> RefreshReport:
        """Bring one replica, or all of them, up to date with the table."""
        return self.perform(Refresh(replica), progress, cancel)

    def drop(
        self, replica: str, now: bool = False, progress: Progress | None = None, cancel: Cancel | None = None
    ) -> DropReport:
        """Delete a replica; the table itself is not touched.

        Its files are deleted a day later, or ``now``: then queries that are reading it fail.
        """
        return self.perform(Drop(replica, now), progress, cancel)

    def repair(
        self, check: bool = False, progress: Progress | None = None, cancel: Cancel | None = None
    ) -> RepairReport:
        """Verify all copies of the table's rows by their hashes, and rebuild what is damaged or missing.

        With ``check`` nothing is rebuilt; what is damaged is not read any more all the same.
        """
        report = self.perform(Repair(check), progress, cancel)
        self._source.bind()
        return report

    def adapt(
        self,
        queries: Workload | None = None,
        window_days: float = 30.0,
        most_given_up: float = 0.5,
        *,
        most_rewritten: float = 0.5,
        dry_run: bool = False,
        model: CostModel | None = None,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
    ) -> AdaptReport:
        """Change the tree that the table is laid out by, rewriting only the blocks where queries gain by it.

        The queries are those of the last ``window_days`` of the log by default. What they save must exceed
        what rewriting costs. Ranges that no query is about may lose the share ``most_given_up`` of what they
        skip; less than the share ``most_rewritten`` of the rows is rewritten, with ``dry_run`` nothing.
        """
        action = Adapt(queries, window_days, most_given_up, most_rewritten, dry_run, model)
        report = self.perform(action, progress, cancel)
        if report.layout_id:
            self._source.bind()
        return report

    def auto(
        self,
        act: bool = True,
        policy: Policy | None = None,
        progress: Progress | None = None,
        lazy: bool = False,
        model: CostModel | None = None,
        cancel: Cancel | None = None,
    ) -> Decision:
        """Run one round of the self-organising loop: decide by the table's query log and, if it pays, act.

        Without ``act`` nothing is done or written down. A table without statistics is indexed first. With
        ``lazy`` a negative decision is kept until table, log, policy or costs have changed enough.
        """
        return self.perform(Auto(act, policy, lazy, model), progress, cancel)

    def append(
        self,
        rows: DataFrame,
        policy: Policy | None = None,
        model: CostModel | None = None,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
    ) -> Decision:
        """Append rows to a Delta table, then lay new data out if enough has gathered and it pays.

        If the newest layout still suits the recent queries, the rows are written by it at once. They are in
        the table whatever becomes of the layout.
        """
        return self.perform(Append(rows, policy, model), progress, cancel)

    def watch(
        self,
        seconds: float = 30.0,
        policy: Policy | None = None,
        report: Callable[[Decision], None] = lambda _: None,
    ) -> Watch:
        """Watch the table's commits, whoever makes them, and run a round of ``auto`` after each.

        The version is looked up every ``seconds``, once :meth:`Watch.start` is called.
        """
        return watch_table(self._source, seconds, policy, report)

    def auto_status(
        self, policy: Policy | None = None, progress: Progress | None = None, cancel: Cancel | None = None
    ) -> AutoStatus:
        """Show what the self-organising loop sees: log, unclustered data, drift and the newest decisions."""
        return self.perform(ShowAutoStatus(policy), progress, cancel)
