"""What a server remembers when it is started again: tables, workloads, and every job with its log and result.

One SQLite file. A job that the file says is queued or running when the server starts cannot be: it was
interrupted. If the disk is full, jobs go on; what could not be written is told from memory, and written with
the next change.
The token is not in it.
"""

from __future__ import annotations

import json
import logging
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from skipstone.errors import SkipstoneError
from skipstone.server.job import ENDED, Job, JobRequest, State, moment

__all__ = ["Store"]

LOG = logging.getLogger("skipstone")
_VERSION = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS jobs (
  id INTEGER PRIMARY KEY, action TEXT NOT NULL, tbl TEXT, workload TEXT, arguments TEXT NOT NULL,
  state TEXT NOT NULL, created_at TEXT NOT NULL, started_at TEXT, ended_at TEXT, headline TEXT, error TEXT,
  what TEXT NOT NULL, done INTEGER NOT NULL, total INTEGER NOT NULL, result TEXT);
CREATE INDEX IF NOT EXISTS jobs_by_table ON jobs (tbl, action, id);
CREATE INDEX IF NOT EXISTS jobs_by_state ON jobs (state);
CREATE INDEX IF NOT EXISTS jobs_with_result ON jobs (action = 'query', id) WHERE result IS NOT NULL;
CREATE TABLE IF NOT EXISTS lines (job INTEGER NOT NULL, time TEXT NOT NULL, text TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS lines_by_job ON lines (job);
CREATE TABLE IF NOT EXISTS tables (id TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS workloads (id TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
_COLUMNS = (
    "id, action, tbl, workload, arguments, state, created_at, started_at, ended_at, headline, error, "
    "what, done, total, result IS NOT NULL"
)
_MOST_NUMBER = 2**63 - 1
_MOST_RESULTS, _MOST_QUERY_RESULTS = 2_000, 50


class Store:
    """The server's file; any thread may use it."""

    def __init__(self, path: Path) -> None:
        """Open or create the file; one that cannot be used is a sentence."""
        self._path = path
        self._lock = threading.Lock()
        self._late: dict[int, tuple[Job, str | None]] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._base = sqlite3.connect(path, check_same_thread=False, timeout=10, isolation_level=None)
            path.chmod(0o600)
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute("PRAGMA synchronous=NORMAL")
            version = self._base.execute("PRAGMA user_version").fetchone()[0]
            if version > _VERSION:
                raise SkipstoneError(f"{path} was written by a newer skipstone; upgrade skipstone.")
            self._base.executescript(_SCHEMA)
            self._base.execute(f"PRAGMA user_version={_VERSION}")
        except (sqlite3.Error, OSError) as problem:
            raise SkipstoneError(f"{path} cannot be used for the server's history ({problem}).") from problem

    def close(self) -> None:
        """Write what is left and close the file."""
        with self._lock:
            self._write_late()
            self._base.close()

    def interrupt(self, why: str) -> int:
        """Mark the jobs that were queued or running; how many there were."""
        with self._changes() as base:
            found = base.execute(
                "UPDATE jobs SET state = ?, error = ?, ended_at = ? WHERE state IN (?, ?)",
                (State.INTERRUPTED, why, moment(), State.QUEUED, State.RUNNING),
            )
            return found.rowcount

    def next_id(self) -> int:
        """The number of the next job."""
        return 1 + int(self._one("SELECT coalesce(max(id), 0) FROM jobs")[0])

    def save(self, job: Job, result: str | None = None) -> None:
        """Write a job; if that fails it is tried again with the next."""
        with self._lock:
            before = self._late.get(job.id)
            self._late[job.id] = (job, result if result is not None or before is None else before[1])
            self._write_late()

    def _write_late(self) -> None:
        try:
            for job, result in list(self._late.values()):
                self._base.execute(
                    "INSERT INTO jobs VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (id) DO UPDATE SET "
                    "state=excluded.state, started_at=excluded.started_at, ended_at=excluded.ended_at, "
                    "headline=excluded.headline, error=excluded.error, what=excluded.what, "
                    "done=excluded.done, total=excluded.total, result=coalesce(excluded.result, result)",
                    (*_values(job), result),
                )
                del self._late[job.id]
                if result is not None:
                    self._forget_results(job.request.action == "query")
        except sqlite3.Error as problem:
            LOG.warning("The history of jobs cannot be written now: %s.", problem)

    def _forget_results(self, queries: bool) -> None:
        """Keep the newest results only; those of queries are rows of tables, and fewer are kept."""
        self._base.execute(
            "UPDATE jobs SET result = NULL WHERE result IS NOT NULL AND (action = 'query') = ? AND id <= ("
            "SELECT id FROM jobs WHERE result IS NOT NULL AND (action = 'query') = ? ORDER BY id DESC "
            "LIMIT 1 OFFSET ?)",
            (queries, queries, _MOST_QUERY_RESULTS if queries else _MOST_RESULTS),
        )

    def add_line(self, job: int, time: str, text: str) -> None:
        """Write a line of a job's log; a line that cannot be written is lost."""
        with self._lock:
            try:
                self._base.execute("INSERT INTO lines VALUES (?, ?, ?)", (job, time, text))
            except sqlite3.Error as problem:
                LOG.warning("The log of a job cannot be written now: %s.", problem)

    def lines(self, job: int, most: int = 2_000) -> list[dict[str, object]]:
        """The newest lines of a job's log, oldest first."""
        rows = self._all(
            "SELECT time, text FROM lines WHERE job = ? ORDER BY rowid DESC LIMIT ?", (job, most)
        )
        return [{"time": time, "text": text} for time, text in reversed(rows)]

    def job(self, number: int) -> Job | None:
        """A job by its number."""
        if not 0 < number <= _MOST_NUMBER:
            return None
        if (late := self._late.get(number)) is not None:
            return late[0]
        rows = self._all(f"SELECT {_COLUMNS} FROM jobs WHERE id = ?", (number,))
        return _job(rows[0]) if rows else None

    def jobs(self, wanted: Mapping[str, str], before: int | None, most: int) -> list[Job]:
        """The newest jobs, newest first; ``wanted`` are values of ``state``, ``tbl`` and ``action``."""
        where = " AND ".join(["id < ?", *(f"{name} = ?" for name in wanted)])
        last = _MOST_NUMBER if before is None else max(min(before, _MOST_NUMBER), 0)
        query = f"SELECT {_COLUMNS} FROM jobs WHERE {where} ORDER BY id DESC LIMIT ?"
        with self._lock:
            late = {number: job for number, (job, _) in self._late.items()}
        rows = self._all(query, (last, *wanted.values(), most + len(late)))
        found = {job.id: job for job in map(_job, rows) if job.id not in late}
        found |= {job.id: job for job in late.values() if job.id < last and _is_wanted(job, wanted)}
        return [found[number] for number in sorted(found, reverse=True)[:most]]

    def result(self, number: int) -> str | None:
        """What a job returned, as JSON."""
        if not 0 < number <= _MOST_NUMBER:
            return None
        if (late := self._late.get(number)) is not None and late[1] is not None:
            return late[1]
        row = self._all("SELECT result FROM jobs WHERE id = ?", (number,))
        return None if not row or row[0][0] is None else str(row[0][0])

    def newest_result(self, table: str, action: str) -> tuple[Job, str] | None:
        """The newest job of this kind on a table that has a result, with it."""
        rows = self._all(
            f"SELECT {_COLUMNS}, result FROM jobs WHERE tbl = ? AND action = ? AND state = ? "
            "AND result IS NOT NULL ORDER BY id DESC LIMIT 1",
            (table, action, State.DONE),
        )
        return (_job(rows[0][:-1]), str(rows[0][-1])) if rows else None

    def forget_old_jobs(self, most: int) -> None:
        """Delete all but the newest ended jobs."""
        ends = ", ".join(f"'{state.value}'" for state in sorted(ENDED))
        old = f"SELECT id FROM jobs WHERE state IN ({ends}) ORDER BY id DESC LIMIT -1 OFFSET {int(most)}"
        with self._changes() as base:
            base.execute(f"DELETE FROM lines WHERE job IN ({old})")
            base.execute(f"DELETE FROM jobs WHERE id IN ({old})")

    def values(self, kind: str) -> dict[str, dict[str, object]]:
        """All tables, or all workloads, by their ids."""
        assert kind in ("tables", "workloads")
        rows = self._all(f"SELECT id, value FROM {kind}")
        return {str(key): json.loads(str(text)) for key, text in rows}

    def put(self, kind: str, key: str, value: Mapping[str, object]) -> None:
        """Remember a table or a workload."""
        assert kind in ("tables", "workloads")
        with self._changes() as base:
            base.execute(f"INSERT OR REPLACE INTO {kind} VALUES (?, ?)", (key, json.dumps(value)))

    def forget(self, kind: str, key: str) -> None:
        """Forget a table or a workload."""
        assert kind in ("tables", "workloads")
        with self._changes() as base:
            base.execute(f"DELETE FROM {kind} WHERE id = ?", (key,))

    @contextmanager
    def _changes(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                yield self._base
            except sqlite3.Error as problem:
                raise SkipstoneError(f"{self._path} cannot be written ({problem}).") from problem

    def _all(self, query: str, values: Sequence[object] = ()) -> list[tuple[object, ...]]:
        with self._lock, closing(self._base.execute(query, values)) as found:
            return found.fetchall()

    def _one(self, query: str) -> tuple[int, ...]:
        with self._lock, closing(self._base.execute(query)) as found:
            row: tuple[int, ...] = found.fetchone()
            return row


def _is_wanted(job: Job, wanted: Mapping[str, str]) -> bool:
    known = {"state": job.state, "tbl": job.request.table, "action": job.request.action}
    return all(known[name] == value for name, value in wanted.items())


def _values(job: Job) -> tuple[object, ...]:
    request = job.request
    return (
        job.id,
        request.action,
        request.table,
        request.workload,
        json.dumps(dict(request.arguments)),
        job.state,
        job.created_at,
        job.started_at,
        job.ended_at,
        job.headline,
        job.error,
        *job.progress,
    )


def _job(row: tuple[object, ...]) -> Job:
    number, action, table, workload, arguments, state, created, started, ended = row[:9]
    headline, error, what, done, total, has_result = row[9:]
    request = JobRequest(str(action), _text(table), _text(workload), json.loads(str(arguments)))
    return Job(
        id=int(str(number)),
        request=request,
        created_at=str(created),
        state=State(str(state)),
        started_at=_text(started),
        ended_at=_text(ended),
        progress=(str(what), int(str(done)), int(str(total))),
        headline=_text(headline),
        error=_text(error),
        has_result=bool(has_result),
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)
