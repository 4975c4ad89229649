"""What the server does, whoever asks: tables, workloads, and actions as jobs."""

from __future__ import annotations

import json
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from pydantic import ValidationError

from skipstone.actions.action import Action, perform
from skipstone.actions.calibrate import Calibrate
from skipstone.actions.cost_store import save_model
from skipstone.actions.engine_action import perform_on_engine
from skipstone.actions.generate import GeneratedWorkload
from skipstone.actions.replay import Replay
from skipstone.cancel import Cancel
from skipstone.errors import CancelledError, SkipstoneError
from skipstone.server.events import Events
from skipstone.server.job import Job, JobRequest
from skipstone.server.job_arguments import CalibrateArguments, NoArguments, OptimizeArguments
from skipstone.server.job_kinds import CALIBRATE, KINDS, JobKind
from skipstone.server.look import Look
from skipstone.server.only_one import OnlyOne
from skipstone.server.problems import ConflictError, MissingError, UnavailableError, sentence
from skipstone.server.results import outcome_of, unused_of
from skipstone.server.roots import confined_path, confined_source
from skipstone.server.run_query import QueryTable, RunQuery
from skipstone.server.runner import Outcome, Runner, Running
from skipstone.server.seen import Seen
from skipstone.server.settings import Settings
from skipstone.server.spark_holder import SparkHolder
from skipstone.server.store import Store
from skipstone.server.tables import TableEntry, Tables
from skipstone.server.waiting import Claim
from skipstone.server.workloads import Upload, Workloads
from skipstone.spark import SparkSession
from skipstone.spark.bridge.allowed_log import allowed_to_analyse, allowed_to_run, refused_to_analyse
from skipstone.spark.bridge.query_text import unparsed
from skipstone.spark.engine.source import Source
from skipstone.view import count
from skipstone.workload.queries import Workload

__all__ = ["Service"]

_SECONDS_FRESH = 60.0
_MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a job was asked for."""

    kind: JobKind
    arguments: NoArguments
    queries: Workload | None


class Service:
    """Everything behind the endpoints."""

    def __init__(self, settings: Settings, start: Callable[[], SparkSession]) -> None:
        """Open the state of earlier servers; Spark is started by :meth:`begin`."""
        self.settings = settings
        self._only_one = OnlyOne(settings.state)
        self.events = Events(settings.limits.listeners)
        self.store = Store(settings.state / "server.sqlite")
        self.runner = Runner(self.store, self.events, settings.limits)
        self.tables = Tables(self.store, settings.limits, self._table_changed)
        self.spark = SparkHolder(start)
        folder = settings.state / "workloads"
        self.workloads = Workloads(folder, self.store, settings.limits, self._unparsed, self.events.changed)
        self._looking: set[str] = set()
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Start Spark, and look at all tables once it is there."""
        self.spark.begin(self._look_at_all)

    def _look_at_all(self) -> None:
        for entry in self.tables.list():
            self.look_soon(entry)

    def end(self) -> None:
        """Stop all jobs and close the state."""
        self.runner.stop()
        self.events.end()
        self.store.close()
        self._only_one.release()

    def _table_changed(self, entry: TableEntry) -> None:
        self.events.publish("table", self.told(entry))

    def told(self, entry: TableEntry) -> dict[str, object]:
        """A table as clients see it."""
        return entry.to_dict(self.runner.on_table(entry.id))

    # Tables

    def register(self, source: str) -> TableEntry:
        """Register a table by its path, inside the roots."""
        name, location = confined_source(source, self.settings.roots)
        entry = self.tables.add(name, location)
        self.look_soon(entry)
        return entry

    def forget(self, entry: TableEntry) -> None:
        """Know a table no longer; under another name its jobs would run over each other."""
        for job in self.runner.live():
            if job.request.table == entry.id:
                raise ConflictError(f"Job {job.id} ({job.request.action}) is not done yet; cancel it first.")
        self.tables.forget(entry.id)
        self.events.changed()

    def fresh(self, entry: TableEntry) -> TableEntry:
        """The table as last seen; it is looked at again, in the background, if that was long ago."""
        if entry.seen is None or time.monotonic() - entry.looked > _SECONDS_FRESH:
            self.look_soon(entry)
        return entry

    def seen(self, entry: TableEntry) -> Seen:
        """The blocks of a table as last seen."""
        if entry.seen is None:
            self.look_soon(entry)
            raise UnavailableError(entry.problem or f"{entry.name} has not been looked at yet.")
        return entry.seen

    def look_soon(self, entry: TableEntry) -> None:
        """Look at a table in the background, unless somebody does or a job on it will."""
        if self.spark.state()[0] != "ready" or self.runner.on_table(entry.id) is not None:
            return
        with self._lock:
            if entry.id in self._looking:
                return
            self._looking.add(entry.id)
        threading.Thread(target=self._look_once, args=(entry,), name="skipstone-look", daemon=True).start()

    def _look_once(self, entry: TableEntry) -> None:
        try:
            self.look(entry)
        except SkipstoneError:
            return  # what is wrong with the table is told with it
        finally:
            with self._lock:
                self._looking.discard(entry.id)

    def look(self, entry: TableEntry, running: Running | None = None) -> Seen:
        """Look at a table now."""
        begun = time.monotonic()
        try:
            progress, cancel = (None, None) if running is None else (running.progress, running.cancel)
            seen = perform(Look(), self.source(entry), progress, cancel)
        except CancelledError:
            raise
        except Exception as problem:
            self.tables.lost(entry, sentence(problem), begun)
            raise SkipstoneError(sentence(problem)) from problem
        self.tables.found(entry, seen, begun)
        return seen

    def source(self, entry: TableEntry) -> Source:
        """The table in a session of its own; where it lies is judged anew each time."""
        confined_path(entry.source, self.settings.roots)
        return Source(self.spark.engine(), entry.source, entry.name)

    def _bound(self, entry: TableEntry) -> Source:
        """The same, with names for it and, as far as they can be read, for all other tables."""
        source = self.source(entry)
        for other in self.tables.list():
            if other.id != entry.id:
                with suppress(SkipstoneError):
                    confined_path(other.source, self.settings.roots)
                    Source(source.engine, other.source, other.name).bind()
        source.bind()
        return source

    def ask(self, entry: TableEntry, action: Action[object]) -> object:
        """Perform an action that only reads, for a client that waits."""
        return perform(action, self.source(entry))

    def _unparsed(self, sql: str) -> str:
        """Why Spark's parser makes nothing of a statement; before Spark is there, that is found out later."""
        spark = self.spark.parser()
        return "" if spark is None else unparsed(spark, sql)

    # Jobs

    def submit(self, request: JobRequest) -> Job:
        """Queue an action; what is wrong with the request is a sentence now, not later."""
        kind = KINDS.get(request.action)
        if kind is None:
            raise MissingError(f"There is no action {request.action[:100]}; there are {', '.join(KINDS)}.")
        arguments = _arguments(kind, request.arguments)
        if request.action == CALIBRATE:
            assert isinstance(arguments, CalibrateArguments)
            rows = arguments.rows
            return self.runner.submit(request, Claim(), lambda running: self._calibrate(rows, running))
        if request.table is None:
            raise SkipstoneError(f"{request.action} needs a table.")
        entry = self.tables.get(request.table)
        queries = self._queries(kind, request)
        if isinstance(arguments, OptimizeArguments) and arguments.output is not None:
            output = confined_path(arguments.output, self.settings.roots)
            arguments = arguments.model_copy(update={"output": output})
        kind.make(arguments, queries)  # what is wrong with them is said now
        claim = Claim(entry.id, writes=kind.writes)
        return self.runner.submit(
            request, claim, lambda running: self._perform(entry, _Asked(kind, arguments, queries), running)
        )

    def _queries(self, kind: JobKind, request: JobRequest) -> Workload | None:
        if request.workload is None:
            if kind.workload == "required":
                raise SkipstoneError(f"{request.action} needs a workload.")
            return None
        if kind.workload == "none":
            raise SkipstoneError(f"{request.action} takes no workload.")
        return self.workloads.read(request.workload)

    def _perform(self, entry: TableEntry, asked: _Asked, running: Running) -> Outcome:
        if asked.kind is KINDS["look"]:
            seen = self.look(entry, running)
            return Outcome(json.dumps(dict(seen.facts)), f"{entry.name}: {len(seen):,} files.")
        try:
            source = self._bound(entry)
            action = self._allowed(source, asked)
            result = perform(action, source, running.progress, running.cancel)
        except Exception:
            self._look_after(entry, running)
            raise
        if asked.kind.writes:
            self._look_after(entry, running)
        for statement in unused_of(result)[:_MOST_NAMED]:
            running.log(f"Warning: {statement}")
        if isinstance(result, GeneratedWorkload):
            return self._keep(result, entry)
        return outcome_of(result)

    def _allowed(self, source: Source, asked: _Asked) -> Action[object]:
        """The action, with only those queries and expressions that reach no further than the roots."""
        spark, queries = source.engine.spark, asked.queries

        def allows(path: str) -> bool:
            try:
                return bool(confined_path(path, self.settings.roots))
            except SkipstoneError:
                return False

        for sql in asked.arguments.sql():
            if why := refused_to_analyse(spark, f"SELECT {sql}", allows):
                raise SkipstoneError(f"{sql} cannot be used: {why}.")
        if queries is not None:
            queries = allowed_to_analyse(spark, queries, allows)
        action = asked.kind.make(asked.arguments, queries)
        if isinstance(action, Replay):
            tables = {entry.name: str(entry.facts.get("root") or "") for entry in self.tables.list()}
            return Replay(allowed_to_run(spark, action.queries, tables))
        return action

    def _look_after(self, entry: TableEntry, running: Running) -> None:
        """See what a job has done to the table, whether or not it succeeded."""
        if running.cancel.requested:
            self.look_soon(entry)
            return
        try:
            self.look(entry)
        except SkipstoneError as problem:
            running.log(f"Warning: {problem}")

    def _keep(self, made: GeneratedWorkload, entry: TableEntry) -> Outcome:
        upload = Upload(f"{entry.name}-generated.sql", origin="generate", table=entry.id)
        stored = self.workloads.add(upload, made.sql().encode())
        told = {**made.to_dict(), "workload": stored.id}
        return Outcome(json.dumps(told), made.view().headline)

    def _calibrate(self, rows: int, running: Running) -> Outcome:
        engine = self.spark.engine()
        with tempfile.TemporaryDirectory(prefix="skipstone-", dir=self.settings.state) as scratch:
            found = perform_on_engine(Calibrate(scratch, rows), engine, running.progress, running.cancel)
        path = save_model(engine, found.model)
        told = found.to_dict(str(path))
        return Outcome(json.dumps(told), f"Calibrated in {found.seconds:.0f} s with {found.rows:,} rows.")

    # Queries

    def query(self, sql: str, run: bool, compare: bool) -> Job:
        """Queue a query; it is judged before anything of it runs."""
        request = JobRequest("query", None, None, {"sql": sql, "run": run, "compare": compare})
        return self.runner.submit(
            request, Claim(query=True), lambda running: self._query(sql, (run, compare), running)
        )

    def _query(self, sql: str, wanted: tuple[bool, bool], running: Running) -> Outcome:
        engine = self.spark.engine()
        tables: dict[str, QueryTable] = {}
        for entry in self.tables.list():
            source = Source(engine, entry.source, entry.name)
            try:
                confined_path(entry.source, self.settings.roots)
                source.bind()
                root = str(entry.facts.get("root") or "") or source.open().root
            except SkipstoneError as problem:
                if entry.name.lower() in sql.lower():
                    raise
                running.log(f"{entry.name} cannot be read: {problem}")
                continue
            tables[entry.name] = QueryTable(entry.id, root, None if entry.seen is None else entry.seen.files)
        limits = self.settings.limits
        action = RunQuery(sql, tables, *wanted, limits)
        with _limited(running.cancel, limits.query_seconds):
            told = perform_on_engine(action, engine, running.progress, running.cancel)
        return Outcome(json.dumps(told), _query_headline(told))


def _query_headline(told: Mapping[str, object]) -> str:
    rows = told["rows"]
    return (
        "The query was explained."
        if rows is None
        else f"{count(len(rows) if isinstance(rows, list) else 0, 'row')}."
    )


def _arguments(kind: JobKind, given: Mapping[str, object]) -> NoArguments:
    try:
        # As JSON, so that what JSON cannot tell apart is not refused.
        return kind.arguments.model_validate_json(json.dumps(dict(given)))
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "arguments"
        raise SkipstoneError(f"{where} cannot be used: {str(first['msg']).rstrip('.')}.") from problem


@contextmanager
def _limited(cancel: Cancel, seconds: float) -> Iterator[None]:
    """Cancel what takes longer than a query may."""
    late = threading.Event()

    def end() -> None:
        late.set()
        cancel.request()

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    except CancelledError as problem:
        if late.is_set():
            raise SkipstoneError(
                f"The query took longer than {seconds:,.0f} s and was cancelled."
            ) from problem
        raise
    finally:
        timer.cancel()
