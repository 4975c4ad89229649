"""``skipstone serve`` before Spark starts: what is refused, in one sentence."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from tests.cli.conftest import Cli


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--host", "0.0.0.0"], "say --allow-remote if that is meant"),  # noqa: S104 - that is what is refused
        (["--host", "192.0.2.1"], "say --allow-remote if that is meant"),
        (["--host", "192.0.2.1", "--allow-remote"], "cannot be listened at"),
        (["--table", "orders=/etc/passwd", "--root", "/tmp/x"], "is outside of what this server may touch"),  # noqa: S108
        (["--port", "70000"], "--port"),
    ],
)
def test_what_cannot_be_served_is_one_sentence(tmp_path: Path, words: list[str], why: str) -> None:
    done = Cli()("serve", "--state", str(tmp_path), "--port", "0", *words)
    assert done.exit_code != 0
    assert why in done.stderr
    assert "Traceback" not in done.stderr


def test_a_port_that_is_taken_is_one_sentence(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = Cli()("serve", "--state", str(tmp_path), "--port", port)
    assert done.exit_code == 1
    assert done.stderr == f"Error: Something else listens at port {port} already; give another --port.\n"
