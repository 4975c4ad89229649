"""What endpoints have in common: the service behind them, JSON replies, and how failures are described."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi import Path as InPath
from starlette.responses import Response

from skipstone.server.results import json_text
from skipstone.server.service import Service
from skipstone.server.tables import TableEntry

__all__ = ["PROBLEMS", "Entry", "JobNumber", "Key", "TheService", "reply"]


def _service(request: Request) -> Service:
    service = request.app.state.service
    assert isinstance(service, Service)
    return service


TheService = Annotated[Service, Depends(_service)]
Key = Annotated[str, InPath(min_length=1, max_length=200)]
JobNumber = Annotated[int, InPath(ge=1, le=2**53)]


def _entry(table: Key, service: TheService) -> TableEntry:
    return service.tables.get(table)


Entry = Annotated[TableEntry, Depends(_entry)]

_PROBLEM = {
    "type": "object",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
    },
    "required": ["type", "title", "status", "detail"],
}
# What FastAPI takes as the description of responses.
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"description": text, "content": {"application/problem+json": {"schema": _PROBLEM}}}
    for status, text in (
        (400, "The body is no JSON"),
        (401, "No token"),
        (403, "Called from another site"),
        (404, "There is no such thing"),
        (405, "Not a method of this address"),
        (409, "In conflict with what is there"),
        (413, "Too large"),
        (422, "Refused, and why"),
        (429, "Too many"),
        (503, "Spark is not there yet"),
    )
}


def reply(value: object, status: int = 200) -> Response:
    """The value as JSON; text is JSON already, encoded or not."""
    text = value if isinstance(value, str | bytes) else json_text(value)
    return Response(text, status, media_type="application/json")
