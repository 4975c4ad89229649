"""Endpoints about jobs: starting, listing, cancelling, results and events."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field, JsonValue
from starlette.responses import Response, StreamingResponse

from skipstone.server.events import Event, event_text
from skipstone.server.job import ENDED, JobRequest, State
from skipstone.server.problems import MissingError, TooManyError
from skipstone.server.reply import PROBLEMS, JobNumber, TheService, reply

__all__ = ["router"]

router = APIRouter(prefix="/api", tags=["jobs"], responses=PROBLEMS)
_NO_RESULT = {
    State.DONE: "it is no longer kept",
    State.FAILED: "it failed",
    State.CANCELLED: "it was cancelled",
    State.INTERRUPTED: "it was interrupted",
}
_OF_JOBS = {"job": "id", "log": "job"}
"""The events about jobs, and where they name theirs."""
_HERE = Event("", {}, ": here\n\n")
_STREAM = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
Name = Annotated[str, Field(min_length=1, max_length=200)]


class NewJob(BaseModel):
    """An action to perform; see ``GET /api/actions``."""

    model_config = ConfigDict(extra="forbid")

    action: Name
    table: Name | None = None
    workload: Name | None = None
    arguments: dict[str, JsonValue] = {}


class Wanted(BaseModel):
    """Which jobs to list."""

    state: State | None = None
    table: Name | None = None
    action: Name | None = None
    limit: Annotated[int, Field(ge=1, le=1_000)] = 100
    before: Annotated[int, Field(ge=1, le=2**53)] | None = None


class NewQuery(BaseModel):
    """A query to explain and, unless ``run`` is false, to run; with ``compare`` without skipping too."""

    model_config = ConfigDict(extra="forbid")

    sql: Annotated[str, Field(min_length=1, max_length=100_000)]
    run: bool = True
    compare: bool = True


@router.post("/jobs", status_code=202)
def start_job(new: NewJob, service: TheService) -> Response:
    """Queue an action."""
    request = JobRequest(new.action, new.table, new.workload, new.arguments)
    return reply(service.submit(request).to_dict(), 202)


@router.get("/jobs")
def list_jobs(service: TheService, wanted: Annotated[Wanted, Query()]) -> Response:
    """Jobs, newest first."""
    names = {"state": wanted.state, "tbl": wanted.table, "action": wanted.action}
    live = {job.id: job for job in service.runner.live()}
    found = service.store.jobs(
        {name: str(value) for name, value in names.items() if value is not None}, wanted.before, wanted.limit
    )
    return reply({"jobs": [live.get(job.id, job).to_dict() for job in found]})


@router.get("/jobs/{job}")
def show_job(job: JobNumber, service: TheService) -> Response:
    """A job with its log."""
    found = service.runner.get(job)
    return reply({**found.to_dict(), "log": service.store.lines(job)})


@router.get("/jobs/{job}/result")
def job_result(job: JobNumber, service: TheService) -> Response:
    """What a job returned."""
    found = service.runner.get(job)
    result = service.store.result(job)
    if result is None:
        why = _NO_RESULT.get(found.state, "it has not ended yet")
        raise MissingError(f"Job {job} has no result: {why}.")
    return reply(result)


@router.post("/jobs/{job}/cancel", status_code=202)
def cancel_job(job: JobNumber, service: TheService) -> Response:
    """Ask for the end of a job."""
    return reply(service.runner.cancel(job).to_dict(), 202)


@router.post("/queries", status_code=202)
def start_query(new: NewQuery, service: TheService) -> Response:
    """Queue a query."""
    return reply(service.query(new.sql, new.run, new.compare).to_dict(), 202)


@router.get("/jobs/{job}/events", response_class=StreamingResponse)
async def job_events(job: JobNumber, service: TheService) -> Response:
    """What happens to one job, until it ends."""
    service.runner.get(job)  # there is one

    def first() -> Event:
        value = service.runner.get(job).to_dict()
        return Event("job", value, event_text(0, "job", value))

    def is_wanted(event: Event) -> bool:
        return event.kind in _OF_JOBS and event.value.get(_OF_JOBS[event.kind]) == job

    def is_last(event: Event) -> bool:
        return event.kind == "job" and event.value.get("state") in ENDED

    return await _streamed(service.events.stream(is_wanted, first, is_last))


@router.get("/events", response_class=StreamingResponse)
async def all_events(service: TheService) -> Response:
    """What happens to all jobs and tables."""
    return await _streamed(service.events.stream(lambda _: True, lambda: _HERE, lambda _: False))


async def _streamed(events: AsyncIterator[str]) -> Response:
    """A stream, once its first event is there: until then it can still be refused."""
    try:
        begun = await anext(events)
    except StopAsyncIteration as problem:  # pragma: no cover - a stream has a first event
        raise TooManyError("The server is stopping.") from problem

    async def stream() -> AsyncIterator[str]:
        yield begun
        async for text in events:
            yield text

    return StreamingResponse(stream(), headers=_STREAM, media_type="text/event-stream")
