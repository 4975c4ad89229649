"""The application: endpoints, the guard in front of them, and the page."""

from __future__ import annotations

import html
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path

from fastapi import APIRouter, FastAPI
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.staticfiles import StaticFiles

import skipstone
from skipstone.layout.layouts import LAYOUTS, REPLICA_LAYOUTS
from skipstone.server import job_routes, table_routes, workload_routes
from skipstone.server.guard import Guard
from skipstone.server.job import moment
from skipstone.server.job_kinds import KINDS
from skipstone.server.problems import explain_problems
from skipstone.server.reply import PROBLEMS, TheService, reply
from skipstone.server.service import Service
from skipstone.server.settings import Settings
from skipstone.server.unchanged import Unchanged
from skipstone.spark import SparkSession
from skipstone.workload.query_files import FORMATS

__all__ = ["PAGE", "create_app"]

PAGE = Path(str(files("skipstone.server"))) / "page"
_NO_PAGE = (
    "This skipstone was installed without its page (it is built from web/ by make setup); "
    "the API is at /api/docs.\n"
)
_STARTED = moment()
router = APIRouter(prefix="/api", tags=["server"], responses=PROBLEMS)


def create_app(settings: Settings, start: Callable[[], SparkSession]) -> FastAPI:
    """The application of one server; ``start`` makes or gives the Spark session that jobs run in."""
    service = Service(settings, start)

    @asynccontextmanager
    async def life(_: FastAPI) -> AsyncIterator[None]:
        service.events.begin()
        service.begin()
        yield
        service.end()

    app = FastAPI(
        title="skipstone",
        version=skipstone.__version__,
        description="Tables, workloads and jobs; docs/server.md explains them.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=life,
    )
    app.state.service = service
    explain_problems(app)
    for each in (router, table_routes.router, workload_routes.router, job_routes.router):
        app.include_router(each)
    app.add_api_route("/api/docs", lambda: _docs(app), include_in_schema=False)
    if (PAGE / "index.html").exists():
        app.mount("/", StaticFiles(directory=PAGE, html=True), "page")
    else:
        app.add_api_route("/", lambda: PlainTextResponse(_NO_PAGE), include_in_schema=False)
    # The last is the first that a request meets.
    app.add_middleware(Unchanged, revision=lambda: service.events.revision)
    app.add_middleware(Guard, settings=settings)
    return app


@router.get("/server")
def show_server(service: TheService) -> Response:
    """Version, state of Spark, roots and limits."""
    import sqlglot

    settings, limits = service.settings, service.settings.limits
    state, problem = service.spark.state()
    names = ("upload_bytes", "workloads", "query_rows", "query_bytes", "query_seconds", "queries_at_once")
    return reply(
        {
            "version": skipstone.__version__,
            "spark": state,
            "spark_problem": problem,
            "started_at": _STARTED,
            "roots": [str(root) for root in settings.roots],
            "limits": {name: getattr(limits, name) for name in (*names, "jobs_at_once", "queued_jobs")},
            "layouts": list(LAYOUTS),
            "replica_layouts": list(REPLICA_LAYOUTS),
            "dialects": sorted(name for name in sqlglot.Dialect.classes if name),
            "formats": list(FORMATS),
        }
    )


@router.get("/actions")
def list_actions() -> Response:
    """The actions that can be jobs, with their arguments."""
    return reply({"actions": [kind.to_dict(name) for name, kind in KINDS.items()]})


def _docs(app: FastAPI) -> Response:
    """The description of the API as a page without scripts."""
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8><title>skipstone: API</title>",
        "<h1>skipstone: API</h1>",
    ]
    for path, methods in app.openapi()["paths"].items():
        for method, call in methods.items():
            parts.append(f"<h2>{html.escape(method.upper())} {html.escape(path)}</h2>")
            parts.append(f"<p>{html.escape(call.get('description') or call.get('summary', ''))}</p>")
            told = {name: call[name] for name in ("parameters", "requestBody") if name in call}
            if told:
                parts.append(f"<pre>{html.escape(json.dumps(told, indent=2))}</pre>")
    parts.append("<p><a href='/api/openapi.json'>OpenAPI description</a>")
    return HTMLResponse("".join(parts))
