"""Serving: one process, one event loop, jobs in threads."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import uvicorn

from skipstone.errors import SkipstoneError
from skipstone.server.app import create_app
from skipstone.server.settings import Settings
from skipstone.spark import SparkSession

__all__ = ["bound_socket", "default_state", "serve"]

_SECONDS_TO_CLOSE = 5


def default_state() -> Path:
    """Where a server keeps its history: the user's state directory."""
    home = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(home) / "skipstone"


def serve(
    settings: Settings,
    start: Callable[[], SparkSession],
    tables: tuple[str, ...] = (),
    ready: Callable[[str], None] = lambda _: None,
) -> None:
    """Serve until stopped; ``ready`` is called with the link once the port is open."""
    listening = bound_socket(settings)
    port = listening.getsockname()[1]
    chosen = replace(settings, port=port)
    try:
        app = create_app(chosen, start)
        for source in tables:
            app.state.service.register(source)
    except BaseException:
        listening.close()
        raise
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    # Addresses are not logged: the first one has the token.
    config = uvicorn.Config(
        app,
        log_level=logging.WARNING,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_SECONDS_TO_CLOSE,
        lifespan="on",
    )
    ready(f"http://{host}:{port}/?token={settings.token}")
    asyncio.run(_Server(config).serve([listening]))


class _Server(uvicorn.Server):
    """The server, which tells those who listen for events when it ends."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams first: they would keep the server from closing."""
        app = self.config.loaded_app
        while hasattr(app, "app") and not hasattr(app, "state"):
            app = app.app
        app.state.service.events.end()
        await super().shutdown(sockets)


def bound_socket(settings: Settings) -> socket.socket:
    """A socket at the address of the settings; a sentence if it cannot be had."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # The event loop lets only sockets that say they are TCP send at once. On others the body of every answer
    # waits until the client's system has confirmed the headers, which takes it 40 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host.strip("[]"), settings.port))
        # Whoever follows the link at once waits for the server, and is not refused.
        listening.listen()
    except OSError as problem:
        listening.close()
        if problem.errno == errno.EADDRINUSE:
            raise SkipstoneError(
                f"Something else listens at port {settings.port} already; give another --port."
            ) from problem
        raise SkipstoneError(f"{settings.host} cannot be listened at ({problem.strerror}).") from problem
    return listening
