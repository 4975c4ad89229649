"""A server of the tests: a real one, on a port of its own, called over HTTP."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from pyspark.sql import SparkSession

from skipstone.errors import SkipstoneError
from skipstone.server.app import create_app
from skipstone.server.roots import Root
from skipstone.server.run import bound_socket
from skipstone.server.service import Service
from skipstone.server.settings import Limits, Settings

ENDS = ("done", "failed", "cancelled", "interrupted")


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def detail(self) -> str:
        assert self.headers["content-type"] == "application/problem+json", self.body
        assert self.json["status"] == self.status
        return str(self.json["detail"])


@dataclass(frozen=True)
class Client:
    port: int
    settings: Settings
    service: Service

    def call(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str | None] | None = None
    ) -> Answer:
        """Call with the token; a header of None is left out."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        sent: dict[str, str | None] = {
            "Host": f"127.0.0.1:{self.port}",
            "Authorization": f"Bearer {self.settings.token}",
            "Content-Type": "application/json",
            **(headers or {}),
        }
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                if value is not None:
                    connection.putheader(name, value)
            if data is not None:
                connection.putheader("Content-Length", str(len(data)))
            connection.endheaders(data)
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, found, response.read())
        finally:
            connection.close()

    def get(self, path: str) -> Any:
        answer = self.call("GET", path)
        assert answer.status == 200, answer.body
        return answer.json

    def start(self, action: str, table: str | None = None, **more: Any) -> int:
        answer = self.call("POST", "/api/jobs", {"action": action, "table": table, **more})
        assert answer.status == 202, answer.body
        return int(answer.json["id"])

    def ended(self, job: int, seconds: float = 180) -> Any:
        last = time.monotonic() + seconds
        while (found := self.get(f"/api/jobs/{job}"))["state"] not in ENDS:
            assert time.monotonic() < last, found
            time.sleep(0.05)
        return found

    def done(self, action: str, table: str | None = None, **more: Any) -> Any:
        """Run a job to its end and return its result."""
        job = self.ended(self.start(action, table, **more))
        assert job["state"] == "done", job
        return self.get(f"/api/jobs/{job['id']}/result")

    def query(self, sql: str, **more: Any) -> Any:
        answer = self.call("POST", "/api/queries", {"sql": sql, **more})
        assert answer.status == 202, answer.body
        return self.ended(answer.json["id"])


def no_spark() -> SparkSession:
    raise SkipstoneError("there is none in this test.")


@contextmanager
def serving(
    state: Path,
    start: Callable[[], SparkSession] = no_spark,
    roots: tuple[Root, ...] = (),
    limits: Limits | None = None,
) -> Iterator[Client]:
    """Serve until the block is left."""
    plain = Settings(state=state, roots=roots, port=0, limits=limits or Limits())
    listening = bound_socket(plain)
    port = listening.getsockname()[1]
    app = create_app(plain, start)
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", access_log=False, lifespan="on"))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listening])), daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    service = app.state.service
    service.spark.wait(120)
    try:
        yield Client(port, plain, service)
    finally:
        service.events.end()
        server.should_exit = True
        thread.join(30)
        listening.close()
