"""A standalone Spark cluster of processes on the loopback address, started as docs/cluster.md says."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import time
from pathlib import Path

import pyspark
from tests.documented import blocks
from tests.processes import start

_SECONDS = 180.0


class Cluster:
    """A master and its workers, each in a process group of its own, with all files in one directory."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._master: subprocess.Popen[bytes] | None = None
        self._workers: list[subprocess.Popen[bytes]] = []
        self.url = ""

    def start(self, workers: int = 2) -> None:
        """Start the master, wait for its port, and start the workers."""
        self._master = self._run("master", _command("Master"), {"--port": "0", "--webui-port": "0"})
        self.url = self._wait_for("master", r"Starting Spark master at (spark://127\.0\.0\.1:\d+)")
        self.add_workers(workers)

    def add_workers(self, count: int) -> None:
        """Start more workers and wait until the master knows them."""
        names = [f"worker-{len(self._workers) + index}" for index in range(1, count + 1)]
        for name in names:
            *command, _ = _command("Worker")
            work = {"--work-dir": str(self._home / name)}
            self._workers.append(self._run(name, [*command, self.url], work))
        for name in names:
            self._wait_for(name, "Successfully registered with master ()")

    def kill_worker(self) -> None:
        """Kill the oldest worker that runs, and its executors with it."""
        running = next(worker for worker in self._workers if worker.poll() is None)
        _kill(running)

    def kill_workers(self) -> None:
        """Kill all of them."""
        for worker in self._workers:
            _kill(worker)

    def stop(self) -> None:
        """End every process, whatever state it is in."""
        self.kill_workers()
        if self._master is not None:
            _kill(self._master)

    def _run(self, name: str, command: list[str], other: dict[str, str]) -> subprocess.Popen[bytes]:
        for option, value in other.items():
            command[command.index(option) + 1] = value
        environ = {**os.environ, **_exports(), "SPARK_LOCAL_DIRS": str(self._home / "local")}
        # Executors are children of their worker and share its process group.
        return start(command, self._home / f"{name}.log", environ)

    def _wait_for(self, name: str, pattern: str) -> str:
        log = self._home / f"{name}.log"
        deadline = time.monotonic() + _SECONDS
        while time.monotonic() < deadline:
            if found := re.search(pattern, log.read_text(errors="replace")):
                return found[1]
            time.sleep(0.1)
        raise TimeoutError(f"{name} did not start:\n{log.read_text(errors='replace')[-3000:]}")


def _lines() -> list[str]:
    (text,) = blocks("cluster.md", "sh")
    return text.splitlines()


def _command(kind: str) -> list[str]:
    line = next(line for line in _lines() if f".{kind} " in line)
    return shlex.split(line.removesuffix("&").replace("$SPARK_HOME", pyspark.__path__[0]))


def _exports() -> dict[str, str]:
    line = next(line for line in _lines() if "SPARK_DAEMON_MEMORY" in line)
    return dict(part.split("=", 1) for part in shlex.split(line)[1:]) | {"SPARK_HOME": pyspark.__path__[0]}


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=_SECONDS)
