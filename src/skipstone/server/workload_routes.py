"""Endpoints about workloads: uploading, listing and looking at queries."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field
from starlette.responses import Response

from skipstone.errors import SkipstoneError
from skipstone.server.reply import PROBLEMS, Key, TheService, reply
from skipstone.server.workloads import Upload
from skipstone.workload.queries import broken_and_left_out

__all__ = ["router"]

router = APIRouter(prefix="/api/workloads", tags=["workloads"], responses=PROBLEMS)
_MOST_UNUSED = 1_000


class About(BaseModel):
    """What the uploaded file is."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    format: Annotated[str, Field(max_length=20)] | None = None
    dialect: Annotated[str, Field(max_length=50)] = "spark"
    column: Annotated[str, Field(max_length=200)] | None = None


_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.get("")
def list_workloads(service: TheService) -> Response:
    """All workloads."""
    return reply({"workloads": [stored.to_dict() for stored in service.workloads.list()]})


@router.post("", status_code=201, openapi_extra=_BODY)
async def upload_workload(
    request: Request, service: TheService, about: Annotated[About, Query()]
) -> Response:
    """Keep the bytes of a query file."""
    data = await request.body()
    if not data:
        raise SkipstoneError(f"{about.name} is empty.")
    upload = Upload(about.name, about.dialect, about.format, about.column)
    stored = await run_in_threadpool(service.workloads.add, upload, data)
    return reply(stored.to_dict(), 201)


@router.get("/{workload}")
def show_workload(workload: Key, service: TheService) -> Response:
    """One workload."""
    return reply(service.workloads.get(workload).to_dict())


@router.get("/{workload}/queries")
def workload_queries(
    workload: Key,
    service: TheService,
    offset: Annotated[int, Query(ge=0, le=10**9)] = 0,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
) -> Response:
    """Some of its queries, and the statements that cannot be used."""
    found = service.workloads.read(workload)
    some = found.queries[offset : offset + limit]
    told = [
        {
            "position": query.position,
            "sql": query.sql,
            "count": query.count,
            "timestamp": None if query.timestamp is None else query.timestamp.isoformat(),
            "user": query.user,
        }
        for query in some
    ]
    unused = broken_and_left_out(found.broken[:_MOST_UNUSED])
    return reply({"total": len(found.queries), "queries": told, **unused})


@router.delete("/{workload}", status_code=204)
def forget_workload(workload: Key, service: TheService) -> Response:
    """Delete a workload."""
    service.workloads.forget(workload)
    return Response(status_code=204)
