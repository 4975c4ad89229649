"""A server in a process of its own, and clients that call it."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

__all__ = ["ENDS", "ServerProcess", "polling", "served"]

ENDS = ("done", "failed", "cancelled", "interrupted")


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """Where it listens, its token, its process and when it was started."""

    port: int
    token: str
    pid: int
    started: float

    def call(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """One call on a connection of its own; the status, and what JSON it answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
            headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
            connection.request(method, path, data, headers)
            response = connection.getresponse()
            text = response.read()
            return response.status, json.loads(text) if text else None
        finally:
            connection.close()

    def get(self, path: str) -> Any:  # noqa: ANN401 - JSON
        """What a call answers that must succeed."""
        status, value = self.call("GET", path)
        if status != http.client.OK:
            raise RuntimeError(f"{path}: {value}")
        return value

    def start(self, action: str, table: str, **more: object) -> int:
        """Start a job."""
        status, job = self.call("POST", "/api/jobs", {"action": action, "table": table, **more})
        if status != http.client.ACCEPTED:
            raise RuntimeError(f"{action}: {job}")
        return int(job["id"])

    def seconds_of(self, job: int) -> float:
        """Wait for a job and return how long it ran."""
        while (found := self.get(f"/api/jobs/{job}"))["state"] not in ENDS:
            time.sleep(0.2)
        if found["state"] != "done":
            raise RuntimeError(str(found["error"]))
        from datetime import datetime

        begun, ended = (datetime.fromisoformat(found[name]) for name in ("started_at", "ended_at"))
        return (ended - begun).total_seconds()

    def cpu_seconds(self) -> float:
        """What the process has used of a core so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def memory_mb(self) -> float:
        """What the process itself holds in memory; Spark's JVM is another process."""
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8")
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        return int(found[1]) / 1e3 if found else float("nan")


@contextmanager
def served(state: Path, root: Path, tables: Sequence[str] = ()) -> Iterator[ServerProcess]:
    """Serve tables until the block is left."""
    words = [sys.executable, "-m", "skipstone.cli", "serve", "--port", "0", "--json"]
    words += ["--state", str(state), "--root", str(root)]
    words += [word for table in tables for word in ("--table", table)]
    started = time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=os.environ)
    try:
        assert process.stdout is not None
        text = ""
        while not text.rstrip().endswith("}"):
            line = process.stdout.readline()
            if not line:
                raise RuntimeError("the server did not start")
            text += line
        told = json.loads(text)
        port = urlsplit(told["link"]).port or 0
        server = ServerProcess(port, told["token"], process.pid, started)
        _until_it_answers(server)
        yield server
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def _until_it_answers(server: ServerProcess) -> None:
    while True:
        try:
            server.get("/api/jobs")
        except ConnectionError:
            time.sleep(0.01)
        else:
            return


@contextmanager
def polling(server: ServerProcess, clients: int, path: str, every: float) -> Iterator[list[float]]:
    """Clients that ask for something again and again meanwhile; the milliseconds of all answers."""
    ended = threading.Event()
    times: list[float] = []

    def poll(number: int) -> None:
        time.sleep(every * number / clients)
        while not ended.is_set():
            begun = time.perf_counter()
            server.get(path)
            times.append(1e3 * (time.perf_counter() - begun))
            ended.wait(every)

    threads = [threading.Thread(target=poll, args=(number,), daemon=True) for number in range(clients)]
    for thread in threads:
        thread.start()
    try:
        yield times
    finally:
        ended.set()
        for thread in threads:
            thread.join()
