"""Runs the benchmark of the server: answers while a job runs, polling, history and memory.

It writes ``benchmarks/results/server.json``.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypedDict

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.figures import Figure, at_most, unbarred, write
from benchmarks.server.process import ServerProcess, polling, served
from skipstone.progress import Progress
from skipstone.server.job import Job, JobRequest, State
from skipstone.server.store import Store

__all__ = ["Options", "run"]

COMMAND = "make bench-server"
_PAGES = (
    "/api/tables",
    "/api/tables/many",
    "/api/tables/many/blocks?column=x",
    "/api/tables/many/blocks?feature=0&paths=true",
    "/api/tables/many/blocks/77",
    "/api/jobs",
    "/api/workloads",
)
_CLIENTS, _SECONDS_BETWEEN_POLLS = 50, 1.0
_LOOKS = 5


class _Memory(TypedDict):
    """Megabytes that the process holds, and how much more of them at the end than at the beginning."""

    before_mb: float
    after_mb: float
    growth_percent: float
    held_mb: list[float]


@dataclass(frozen=True, slots=True)
class Options:
    """How large everything is; ``quick`` is tiny, to see that it runs."""

    blocks: int = 10_000
    rows: int = 2_000_000
    requests: int = 10_000
    rounds: int = 5
    quick: bool = False


def run(options: Options, output: Path, report: Progress) -> list[Figure]:
    """Measure, write the results and return the figures."""
    chosen = Options(200, 100_000, 300, 1) if options.quick else options
    with tempfile.TemporaryDirectory(prefix="skipstone-bench-") as folder:
        home = Path(folder)
        report("writing tables", 0, 5)
        _many_files(home / "data" / "many", chosen.blocks)
        _work(home / "data" / "work", chosen.rows)
        report("restarting with a day of history", 1, 5)
        restart = _restart(home)
        tables = [f"{name}={home}/data/{name}" for name in ("many", "work")]
        with served(home / "state", home / "data", tables) as server:
            report("indexing", 2, 5)
            _prepare(server)
            report("asking while a job runs", 3, 5)
            answers, job_seconds = _answers(server, home / "data" / "rewritten")
            polled = _polled(server, chosen.rounds)
            report("asking many times", 4, 5)
            memory = _memory(server, chosen.requests)
        report("asking many times", 5, 5)
    figures = [
        at_most(
            "slowest page beside an optimize", max(max(each) for each in answers.values()), "ms", 200, COMMAND
        ),
        at_most("polling slows a job by", polled["slower_percent"], "%", 5, COMMAND),
        at_most("restart with a day of history", restart["seconds"], "s", 2, COMMAND),
        unbarred("restart without a history", restart["seconds_without_history"], "s", COMMAND),
        at_most("memory growth", memory["growth_percent"], "%", 3, COMMAND),
        unbarred("memory of the server", memory["after_mb"], "MB", COMMAND),
    ]
    details = {
        "blocks": chosen.blocks,
        "answers_ms": {path: _spread(times) for path, times in answers.items()},
        "job_seconds": job_seconds,
        "polling": polled,
        "restart": restart,
        "memory": memory,
        "requests": chosen.requests,
    }
    if options.quick:
        return [unbarred(each.name, each.value, each.unit, COMMAND) for each in figures]
    return write("server", figures, details, output)


def _many_files(path: Path, blocks: int) -> None:
    """A directory of small Parquet files, one a block."""
    path.mkdir(parents=True)
    chance = np.random.default_rng(0)
    for number in range(blocks):
        x = chance.integers(0, 1_000_000, 20) // 100 + number
        columns = {"x": x, "y": chance.random(20), "s": [f"s{value % 977:03}" for value in x.tolist()]}
        pq.write_table(pa.table(columns), path / f"part-{number:05}.parquet", compression="snappy")


def _work(path: Path, rows: int) -> None:
    """A table that takes seconds to index."""
    path.mkdir(parents=True)
    chance = np.random.default_rng(1)
    for number in range(32):
        size = rows // 32
        columns = {f"c{index}": chance.integers(0, 1_000_000, size) for index in range(8)}
        pq.write_table(pa.table(columns), path / f"part-{number}.parquet")


def _restart(home: Path) -> dict[str, float]:
    """Start a server that finds a job every ten seconds of a day, each with a log and a result."""
    store, begun = Store(home / "day" / "server.sqlite"), datetime.now(UTC) - timedelta(days=1)
    store._base.execute("BEGIN")  # noqa: SLF001 - one transaction for the whole day
    for number in range(1, 8_641):
        moment = (begun + timedelta(seconds=10 * number)).isoformat()
        request = JobRequest("analyze", "many", None, {"num_features": number})
        job = Job(number, request, moment, State.DONE, None, moment, moment, has_result=True)
        store.save(job, '{"queries": "%s"}' % ("x" * 10_000))
        for line in range(10):
            store.add_line(number, moment, f"reading {line}")
    store._base.execute("COMMIT")  # noqa: SLF001 - the same
    store.close()
    size = (home / "day" / "server.sqlite").stat().st_size
    with served(home / "nothing", home / "data") as server:
        without, cpu_without = time.monotonic() - server.started, server.cpu_seconds()
    with served(home / "day", home / "data") as server:
        seconds, cpu = time.monotonic() - server.started, server.cpu_seconds()
        jobs = server.get("/api/jobs?limit=1000")["jobs"]
    if len(jobs) != 1_000:  # noqa: PLR2004 - as asked for
        raise RuntimeError("the history is not there")
    return {
        "seconds": seconds,
        "seconds_without_history": without,
        "cpu_seconds": cpu,
        "cpu_seconds_without_history": cpu_without,
        "jobs": 8_640,
        "megabytes": size / 1e6,
    }


def _prepare(server: ServerProcess) -> None:
    while server.get("/api/server")["spark"] != "ready":
        time.sleep(0.2)
    server.seconds_of(server.start("index", "many", arguments={"feature": ["x > 9000"]}))
    server.seconds_of(server.start("index", "work"))


def _answers(server: ServerProcess, output: Path) -> tuple[dict[str, list[float]], float]:
    """How long each page takes while a job rewrites a table, over and over until the job ends."""
    for path in _PAGES:
        server.get(path)
    job = server.start("optimize", "work", arguments={"layout": "hyper", "output": str(output)})
    times: dict[str, list[float]] = {path: [] for path in _PAGES}
    while server.get(f"/api/jobs/{job}")["state"] in ("queued", "running"):
        for path in _PAGES:
            begun = time.perf_counter()
            server.get(path)
            times[path].append(1e3 * (time.perf_counter() - begun))
    return times, server.seconds_of(job)


def _polled(server: ServerProcess, rounds: int) -> dict[str, float]:
    """The same job, in turn with and without clients that poll."""

    def seconds() -> float:
        return server.seconds_of(server.start("index", "work", arguments={"rebuild": True}))

    seconds()
    alone, beside, answers = [], [], 0
    for _ in range(rounds):
        alone.append(seconds())
        with polling(server, _CLIENTS, "/api/jobs?limit=20", _SECONDS_BETWEEN_POLLS) as times:
            beside.append(seconds())
        answers += len(times)
    slower = 100 * (statistics.median(beside) / statistics.median(alone) - 1)
    return {
        "slower_percent": slower,
        "alone_seconds": statistics.median(alone),
        "beside_seconds": statistics.median(beside),
        "answers": answers,
    }


def _memory(server: ServerProcess, requests: int) -> _Memory:
    """What the process holds before and after many calls of all pages.

    Looking at a table of many blocks takes memory for a moment, which the allocator keeps for the next look.
    The server looks once a minute, so that is done before: what grows then is what the calls leave.
    """
    for _ in range(_LOOKS):
        server.seconds_of(server.start("look", "many"))
    for number in range(requests // 10):
        server.get(_PAGES[number % len(_PAGES)])
    held = [server.memory_mb()]
    for number in range(requests):
        server.get(_PAGES[number % len(_PAGES)])
        if (number + 1) % (requests // 10) == 0:
            held.append(server.memory_mb())
    growth = 100 * (held[-1] / held[0] - 1)
    return {"before_mb": held[0], "after_mb": held[-1], "growth_percent": growth, "held_mb": held}


def _spread(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    return {
        "answers": len(ordered),
        "median": round(statistics.median(ordered), 2),
        "most": round(ordered[-1], 2),
    }
