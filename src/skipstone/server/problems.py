"""Errors as problem JSON (RFC 9457): the same sentence as the command line's, with a status."""

from __future__ import annotations

import logging
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from skipstone.errors import CancelledError, SkipstoneError, TableChangedError
from skipstone.view import one_line

__all__ = [
    "ConflictError",
    "MissingError",
    "TooManyError",
    "UnavailableError",
    "explain_problems",
    "problem_response",
    "sentence",
]

LOG = logging.getLogger("skipstone")


class MissingError(SkipstoneError):
    """There is no such thing."""


class ConflictError(SkipstoneError):
    """What is asked for does not go together with what is there."""


class TooManyError(SkipstoneError):
    """There are as many already as there may be."""


class UnavailableError(SkipstoneError):
    """Spark, or what is known of a table, is not there yet, or no longer."""


_STATUS: tuple[tuple[type[SkipstoneError], int], ...] = (
    (MissingError, 404),
    (ConflictError, 409),
    (TableChangedError, 409),
    (CancelledError, 409),
    (TooManyError, 429),
    (UnavailableError, 503),
)


_PLAIN = {404: "There is nothing at this address.", 405: "This address is not called in this way."}


def problem_response(status: int, detail: str) -> Response:
    """The sentence as problem JSON."""
    title = HTTPStatus(status).phrase
    body = {"type": "about:blank", "title": title, "status": status, "detail": one_line(detail)}
    headers = {"Retry-After": "2"} if status in (429, 503) else None
    return JSONResponse(body, status, headers, "application/problem+json")


def sentence(problem: BaseException) -> str:
    """The one sentence for any failure."""
    # Imported late: PySpark takes long, and tests of the server alone do without.
    from skipstone.spark.failures import sentence_of

    found = problem if isinstance(problem, SkipstoneError) else None
    text = str(found) if found is not None else sentence_of(problem)
    return one_line(text or f"Unexpected {type(problem).__name__}: {problem}.")


def explain_problems(app: FastAPI) -> None:
    """Let every failure of an application become problem JSON."""

    async def refused(_: Request, problem: Exception) -> Response:
        status = next((code for kind, code in _STATUS if isinstance(problem, kind)), 422)
        return problem_response(status, sentence(problem))

    async def unread(_: Request, problem: Exception) -> Response:
        assert isinstance(problem, RequestValidationError)
        return problem_response(422, _first(problem))

    async def told(_: Request, problem: Exception) -> Response:
        assert isinstance(problem, HTTPException)
        detail = str(problem.detail)
        plain = HTTPStatus(problem.status_code).phrase
        return problem_response(
            problem.status_code, _PLAIN.get(problem.status_code, detail) if detail == plain else detail
        )

    async def unexpected(_: Request, problem: Exception) -> Response:
        LOG.error("A call failed.", exc_info=problem)
        return problem_response(500, sentence(problem))

    app.add_exception_handler(SkipstoneError, refused)
    app.add_exception_handler(RequestValidationError, unread)
    app.add_exception_handler(HTTPException, told)
    app.add_exception_handler(Exception, unexpected)


def _first(problem: RequestValidationError) -> str:
    """The first thing that is wrong, by its name."""
    first = problem.errors()[0]
    where = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path"))
    what = str(first["msg"]).removeprefix("Value error, ").rstrip(".")
    return f"{where or 'The body'} cannot be used: {what}."
