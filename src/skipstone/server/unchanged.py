"""Lists that many clients ask for again and again, made once for all of them as long as nothing changes.

Fifty clients that poll should not slow the job that they wait for. A list costs milliseconds of the one
interpreter that jobs share, but it stays the same between two changes of a job, a table or a workload; those
are counted. So the bytes of a reply are kept with the count, for a second at most, and who says by
``If-None-Match`` that it has them already is sent none.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Unchanged"]

_LISTS = frozenset({"/api/jobs", "/api/tables", "/api/workloads", "/api/server"})
_SECONDS = 1.0
"""Spark may stop and a table may grow old without a change that is counted."""
_MOST_KEPT = 32
_MOST_BYTES = 250_000
_OK = 200

Headers = list[tuple[bytes, bytes]]


@dataclass(slots=True, eq=False)
class _Reply:
    """A reply, and when it was made."""

    revision: int
    made: float
    headers: Headers = field(default_factory=list)
    body: bytes = b""
    tag: bytes = b""


class Unchanged:
    """Answers lists out of what was answered before, behind whatever judges who may call."""

    def __init__(self, app: ASGIApp, revision: Callable[[], int]) -> None:
        """``revision`` grows with everything that lists tell of."""
        self._app = app
        self._revision = revision
        self._kept: dict[tuple[str, bytes], _Reply] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer what is known; ask the application for all else."""
        if scope["type"] != "http" or scope["method"] != "GET" or scope["path"] not in _LISTS:
            await self._app(scope, receive, send)
            return
        key = (scope["path"], scope["query_string"])
        kept = self._kept.get(key)
        if kept is None or kept.revision != self._revision() or time.monotonic() - kept.made > _SECONDS:
            kept = await self._made(scope, receive, send, key)
        if kept is not None:
            await _answer(kept, scope, send)

    async def _made(
        self, scope: Scope, receive: Receive, send: Send, key: tuple[str, bytes]
    ) -> _Reply | None:
        """A new reply; None if it was a failure, which has been sent."""
        # Read first: what changes while the reply is made is not in it for sure.
        reply = _Reply(self._revision(), time.monotonic())
        failed = False

        async def collect(message: Message) -> None:
            nonlocal failed
            if message["type"] == "http.response.start":
                failed = message["status"] != _OK
                reply.headers = list(message.get("headers", ()))
            if failed:
                await send(message)
            elif message["type"] == "http.response.body":
                reply.body += message.get("body", b"")

        await self._app(scope, receive, collect)
        if failed:
            return None
        reply.tag = b'"%s"' % hashlib.blake2b(reply.body, digest_size=12).hexdigest().encode()
        reply.headers.append((b"etag", reply.tag))
        if len(reply.body) <= _MOST_BYTES:
            if len(self._kept) >= _MOST_KEPT:
                self._kept.clear()
            self._kept[key] = reply
        return reply


async def _answer(reply: _Reply, scope: Scope, send: Send) -> None:
    known = next((value for name, value in scope["headers"] if name == b"if-none-match"), b"")
    if reply.tag in [each.strip() for each in known.split(b",")]:
        await send({"type": "http.response.start", "status": 304, "headers": [(b"etag", reply.tag)]})
        await send({"type": "http.response.body", "body": b""})
        return
    await send({"type": "http.response.start", "status": _OK, "headers": list(reply.headers)})
    await send({"type": "http.response.body", "body": reply.body})
