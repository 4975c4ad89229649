"""Runs the benchmark of the server: answers while a job runs, polling, history and memory.

It writes ``benchmarks/results/server.json``.
"""

from __future__ import annotations

import shutil
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
from benchmarks.server.process import Polls, ServerProcess, polling, served
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
_CLIENTS = 50
_SECONDS_POLLED = 10.0
_POLLED = "/api/jobs?limit=20"
_KINDS = {
    "clients that connect anew": Polls(_POLLED, 1.0, kept=False),
    "clients that keep connection and ETag": Polls(_POLLED, 1.0, kept=True),
}
_LOOKS = 5


class _Memory(TypedDict):
    """Megabytes that the process holds at first, then after as many requests once and twice."""

    before_mb: float
    warm_mb: float
    after_mb: float
    first_growth_percent: float
    growth_percent: float
    held_mb: list[float]


class _Beside(TypedDict):
    """A job alone, and beside clients of one kind."""

    slower_percent: float
    more_cpu_percent: float
    seconds: list[float]
    cpu_seconds: list[float]
    answers: int
    answer_ms: float
    clients_cpu_percent: float


class _Polled(TypedDict):
    """Jobs beside clients, and the processor time that clients take of a server without a job."""

    alone_seconds: list[float]
    alone_cpu_seconds: list[float]
    beside: dict[str, _Beside]
    core_percent: dict[str, float]


@dataclass(frozen=True, slots=True)
class Options:
    """How large everything is; ``quick`` is tiny, to see that it runs."""

    blocks: int = 10_000
    rows: int = 4_000_000
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
            polled = _polled(server, chosen.rounds, home / "data" / "polled")
            report("asking many times", 4, 5)
            memory = _memory(server, chosen.requests)
        report("asking many times", 5, 5)
    figures = [
        at_most(
            "slowest page beside an optimize", max(max(each) for each in answers.values()), "ms", 200, COMMAND
        ),
        *_polling_figures(polled),
        at_most("restart with a day of history", restart["seconds"], "s", 2, COMMAND),
        unbarred("restart without a history", restart["seconds_without_history"], "s", COMMAND),
        unbarred("memory growth, first requests", memory["first_growth_percent"], "%", COMMAND),
        at_most("memory growth, as many requests again", memory["growth_percent"], "%", 3, COMMAND),
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


def _polling_figures(polled: _Polled) -> list[Figure]:
    wall = [
        at_most(f"optimize is slower beside {_CLIENTS} {name}", it["slower_percent"], "%", 5, COMMAND)
        for name, it in polled["beside"].items()
    ]
    used = [
        unbarred(f"processor time of that, {name}", it["more_cpu_percent"], "%", COMMAND)
        for name, it in polled["beside"].items()
    ]
    cores = [
        unbarred(f"of one core, {_CLIENTS} {name} take", it, "%", COMMAND)
        for name, it in polled["core_percent"].items()
    ]
    return [*wall, *used, *cores]


def _many_files(path: Path, blocks: int) -> None:
    """A directory of small Parquet files, one a block."""
    path.mkdir(parents=True)
    chance = np.random.default_rng(0)
    for number in range(blocks):
        x = chance.integers(0, 1_000_000, 20) // 100 + number
        columns = {"x": x, "y": chance.random(20), "s": [f"s{value % 977:03}" for value in x.tolist()]}
        pq.write_table(pa.table(columns), path / f"part-{number:05}.parquet", compression="snappy")


def _work(path: Path, rows: int) -> None:
    """A table that takes seconds to rewrite."""
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


def _polled(server: ServerProcess, rounds: int, output: Path) -> _Polled:
    """The same rewrite, in turn without clients and beside clients of each kind."""
    made = 0

    def rewrite() -> tuple[float, float]:
        nonlocal made
        made += 1
        target, before = output / str(made), server.all_cpu_seconds()
        wanted = {"layout": "hyper", "output": str(target)}
        seconds = server.seconds_of(server.start("optimize", "work", arguments=wanted))
        used = server.all_cpu_seconds() - before
        shutil.rmtree(target)
        return seconds, used

    rewrite()
    alone: list[tuple[float, float]] = []
    beside: dict[str, list[tuple[float, float]]] = {name: [] for name in _KINDS}
    answers: dict[str, list[float]] = {name: [] for name in _KINDS}
    clients = dict.fromkeys(_KINDS, 0.0)
    for turn in range(rounds):
        order = [None, *_KINDS]
        for name in order[turn % len(order) :] + order[: turn % len(order)]:
            if name is None:
                alone.append(rewrite())
                continue
            before = time.process_time()
            with polling(server, _CLIENTS, _KINDS[name]) as times:
                beside[name].append(rewrite())
            clients[name] += time.process_time() - before
            answers[name] += times
    return {
        "alone_seconds": [seconds for seconds, _ in alone],
        "alone_cpu_seconds": [used for _, used in alone],
        "beside": {
            name: {
                "slower_percent": _more(*(_median(each, 0) for each in (beside[name], alone))),
                "more_cpu_percent": _more(*(_median(each, 1) for each in (beside[name], alone))),
                "seconds": [seconds for seconds, _ in beside[name]],
                "cpu_seconds": [used for _, used in beside[name]],
                "answers": len(answers[name]),
                "answer_ms": statistics.median(answers[name]),
                "clients_cpu_percent": 100 * clients[name] / sum(seconds for seconds, _ in beside[name]),
            }
            for name in _KINDS
        },
        "core_percent": _core_percent(server),
    }


def _core_percent(server: ServerProcess) -> dict[str, float]:
    """How much of one core the server takes to answer the clients of each kind, while no job runs."""
    found = {}
    for name, polls in _KINDS.items():
        with polling(server, _CLIENTS, polls):
            time.sleep(1)
            before = server.cpu_seconds()
            time.sleep(_SECONDS_POLLED)
            found[name] = 100 * (server.cpu_seconds() - before) / _SECONDS_POLLED
    return found


def _median(measured: list[tuple[float, float]], which: int) -> float:
    return statistics.median(each[which] for each in measured)


def _more(this: float, than: float) -> float:
    return 100 * (this / than - 1)


def _memory(server: ServerProcess, requests: int) -> _Memory:
    """What the process holds before and after many calls of all pages, and after as many again.

    The first calls of each kind take memory that stays: threads that answer, what the allocator keeps for
    the next answer, and of looking at a table of many blocks, which the server does once a minute. What
    grows after them is what calls leave.
    """
    for _ in range(_LOOKS):
        server.seconds_of(server.start("look", "many"))
    held = [server.memory_mb()]
    for number in range(2 * requests):
        server.get(_PAGES[number % len(_PAGES)])
        if (number + 1) % (requests // 10) == 0:
            held.append(server.memory_mb())
    before, warm, after = held[0], held[len(held) // 2], held[-1]
    return {
        "before_mb": before,
        "warm_mb": warm,
        "after_mb": after,
        "first_growth_percent": _more(warm, before),
        "growth_percent": _more(after, warm),
        "held_mb": held,
    }


def _spread(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    return {
        "answers": len(ordered),
        "median": round(statistics.median(ordered), 2),
        "most": round(ordered[-1], 2),
    }
