"""A server in a process of its own, and clients that call it."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

__all__ = ["ENDS", "Polls", "ServerProcess", "polling", "served"]

ENDS = ("done", "failed", "cancelled", "interrupted")


@dataclass(frozen=True, slots=True)
class Polls:
    """What clients ask for, how often, and whether they keep their connection and what they were told."""

    path: str
    every: float
    kept: bool


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
        """What the process has used of a core so far, without Spark's JVM."""
        return _cpu_seconds(self.pid)

    def all_cpu_seconds(self) -> float:
        """The same with Spark's JVM."""
        below = Path(f"/proc/{self.pid}/task")
        children = {
            int(child)
            for task in below.iterdir()
            for child in (task / "children").read_text(encoding="utf-8").split()
        }
        return sum(map(_cpu_seconds, {self.pid, *children}))

    def memory_mb(self) -> float:
        """What the process itself holds in memory; Spark's JVM is another process."""
        status = Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8")
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        return int(found[1]) / 1e3 if found else float("nan")


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


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
def polling(server: ServerProcess, clients: int, polls: Polls) -> Iterator[list[float]]:
    """Clients that ask for something again and again meanwhile; the milliseconds of all answers."""
    ended = threading.Event()
    times: list[float] = []

    def poll(number: int) -> None:
        with _Client(server, polls) as client:
            ended.wait(polls.every * number / clients)
            while not ended.is_set():
                begun = time.perf_counter()
                client.ask()
                times.append(1e3 * (time.perf_counter() - begun))
                ended.wait(polls.every)

    threads = [threading.Thread(target=poll, args=(number,), daemon=True) for number in range(clients)]
    for thread in threads:
        thread.start()
    try:
        yield times
    finally:
        ended.set()
        for thread in threads:
            thread.join()


class _Client:
    """A client that costs little itself: it reads answers and does not look into them.

    With ``kept`` it asks as a browser would, on one connection and with the tag of what it has; without, it
    connects anew and is sent everything each time.
    """

    def __init__(self, server: ServerProcess, polls: Polls) -> None:
        self._address = ("127.0.0.1", server.port)
        self._kept = polls.kept
        host, token = f"127.0.0.1:{server.port}", f"Bearer {server.token}"
        self._head = f"GET {polls.path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: {token}\r\n".encode()
        self._tag = b""
        self._socket: socket.socket | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def ask(self) -> None:
        """Ask once and read the whole answer."""
        connection = self._socket or socket.create_connection(self._address, timeout=120)
        self._socket = connection
        known = b"If-None-Match: %s\r\n" % self._tag if self._tag and self._kept else b""
        connection.sendall(self._head + known + b"\r\n")
        head, _, body = _received(connection, b"").partition(b"\r\n\r\n")
        lines = head.split(b"\r\n")
        if lines[0].split()[1] not in (b"200", b"304"):
            raise RuntimeError(lines[0].decode())
        headers = dict(line.split(b": ", 1) for line in lines[1:])
        self._tag = headers[b"etag"]
        while len(body) < int(headers.get(b"content-length", b"0")):
            body = _received(connection, body)
        if not self._kept:
            self._close()

    def _close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None


def _received(connection: socket.socket, so_far: bytes) -> bytes:
    some = connection.recv(1 << 20)
    if not some:
        raise RuntimeError("the server ended a connection")
    return so_far + some
