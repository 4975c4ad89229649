"""Who may call: the token, the Host and the Origin of every request, and the headers of every response.

A request is let in if

* its ``Host`` is an address of the server itself: a page of another name that was made to point here (DNS
  rebinding) sends its own name;
* it has no ``Origin`` or the server's own, and a browser does not say that another site sent it;
* it has the token, or the cookie that the first visit with the token set.

The functions that judge are pure; :class:`Guard` applies them to each request.
"""

from __future__ import annotations

import hmac
import secrets
import socket
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from skipstone.server.problems import problem_response
from skipstone.server.settings import Settings, is_loopback

__all__ = ["COOKIE", "Guard", "is_own_host", "is_own_origin"]

COOKIE = "skipstone"
_POLICY = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'"
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
_NOT_LOGGED_IN = (
    "<!doctype html><html lang=en><title>skipstone</title><p>This page needs the link that "
    "<code>skipstone serve</code> printed when it started."
)
_FOREIGN_SITES = ("cross-site", "same-site")


def is_own_host(host: str, settings: Settings, port: int) -> bool:
    """Whether a Host header names this server.

    Beyond loopback any address in digits does: only names can be made to point elsewhere.
    """
    try:
        parts = urlsplit(f"//{host}")
        name, given = parts.hostname or "", parts.port or 80
    except ValueError:
        return False
    if given != port or parts.username is not None or parts.path:
        return False
    if is_loopback(name) or name == settings.host.strip("[]").lower():
        return True
    return settings.allow_remote and (_is_address(name) or name == socket.gethostname().lower())


def is_own_origin(headers: Mapping[str, str]) -> bool:
    """Whether a request comes from the server's own page, or from no page at all."""
    if headers.get("sec-fetch-site", "none") in _FOREIGN_SITES:
        return False
    origin = headers.get("origin")
    return origin is None or origin == f"http://{headers.get('host', '')}"


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


class Guard:
    """Lets only the server's own clients in; counts the bytes of bodies."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        """Make the secret of the cookie, which is not the token."""
        self._app = app
        self._settings = settings
        self._cookie = secrets.token_urlsafe(32)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Judge a request before anything else sees it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = _headers(scope)
        guarded = _with_headers(send, scope["path"])
        refused = self._refusal(scope, headers)
        if refused is not None:
            await refused(scope, receive, guarded)
            return
        limits = self._settings.limits
        upload = scope["path"] == "/api/workloads"
        most = limits.upload_bytes if upload else limits.body_bytes
        if _too_long(headers.get("content-length"), most):
            await _too_large(most)(scope, receive, guarded)
            return
        await self._app(scope, _counted(receive, most), guarded)

    def _refusal(self, scope: Scope, headers: Mapping[str, str]) -> Response | None:
        server = scope.get("server") or (self._settings.host, self._settings.port)
        if not is_own_host(headers.get("host", ""), self._settings, server[1] or self._settings.port):
            return problem_response(403, "This server is not called by that name.")
        page = not scope["path"].startswith("/api/")
        if not is_own_origin(headers) and not (page and scope["method"] == "GET"):
            return problem_response(403, "A page of another site may not call this server.")
        if page and (given := parse_qs(scope["query_string"].decode("latin-1")).get("token")):
            return self._enter(given[0])
        if self._is_known(headers):
            return None
        if page:
            return HTMLResponse(_NOT_LOGGED_IN, 401)
        return problem_response(401, "This call needs the token that the server printed when it started.")

    def _enter(self, given: str) -> Response:
        """Put a cookie in the token's place, so that the address has it no longer."""
        if not _same(given, self._settings.token):
            return HTMLResponse(_NOT_LOGGED_IN, 401)
        response = RedirectResponse("/", 303)
        response.set_cookie(COOKIE, self._cookie, httponly=True, samesite="strict", path="/")
        return response

    def _is_known(self, headers: Mapping[str, str]) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and _same(given.strip(), self._settings.token):
            return True
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return cookie is not None and _same(cookie.value, self._cookie)


def _same(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())


def _headers(scope: Scope) -> dict[str, str]:
    """The headers by name; of one that occurs twice both values, so that none is overlooked."""
    found: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def _too_long(length: str | None, most: int) -> bool:
    return length is not None and length.isascii() and length.isdigit() and int(length) > most


def _too_large(most: int) -> Response:
    return problem_response(413, f"The body of this call may have {most:,} bytes.")


def _counted(receive: Receive, most: int) -> Receive:
    """Raise once more bytes have come than there may be, whatever the headers said."""
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > most:
            raise HTTPException(413, f"The body of this call may have {most:,} bytes.")
        return message

    return counted


def _with_headers(send: Send, path: str) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
            if path.startswith("/api/") or path == "/":
                headers["Cache-Control"] = "no-store"
        await send(message)

    return guarded
