"""A session whose tables lie on an object store: moto's server, on the loopback address.

By hand only (``make test-s3``): the jars are large. ``SKIPSTONE_S3_SERVER`` names the server's executable.
"""

from __future__ import annotations

import os
import shutil
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.documented import settings
from tests.parcels import logged
from tests.processes import start

import skipstone
from skipstone.workload.queries import Workload

_SECONDS = 180.0


@dataclass(frozen=True, slots=True)
class Server:
    """Where the server is, and where it writes down every request."""

    url: str
    requests: Path


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with an empty bucket ``lake``."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    executable = shutil.which(os.environ.get("SKIPSTONE_S3_SERVER", "moto_server"))
    assert executable, "moto_server is not installed; make test-s3 does that"
    log = tmp_path_factory.mktemp("s3") / "server.log"
    process = start([str(Path(executable).absolute()), "-H", "127.0.0.1", "-p", str(port)], log)
    try:
        url = f"http://127.0.0.1:{port}"
        _create_bucket(url)
        yield Server(url, log)
    finally:
        process.kill()
        process.wait()


def _create_bucket(url: str) -> None:
    deadline = time.monotonic() + _SECONDS
    while True:
        try:
            with urllib.request.urlopen(urllib.request.Request(f"{url}/lake", method="PUT")):
                return
        except urllib.error.URLError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


@pytest.fixture(scope="session")
def spark(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A local session with the documented settings."""
    home = tmp_path_factory.mktemp("spark")
    running = skipstone.session(
        app_name="skipstone-s3-tests",
        master="local[2]",
        config={
            **settings("object-stores.md"),
            "spark.hadoop.fs.s3a.endpoint": server.url,
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.warehouse.dir": str(home / "warehouse"),
            "spark.local.dir": str(home / "local"),
            "spark.driver.extraJavaOptions": f"-Dderby.system.home={home / 'derby'} -Duser.timezone=UTC "
            "-XX:TieredStopAtLevel=1",
        },
    )
    yield running
    running.stop()


@pytest.fixture(scope="session")
def log() -> Workload:
    """Two kinds of queries that recur."""
    return logged()
