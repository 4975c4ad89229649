"""``skipstone serve``: the actions behind a REST API, and the page."""

from __future__ import annotations

from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from skipstone.cli.banner import quiet_session
from skipstone.cli.tables import AsJson, named
from skipstone.path_listing import split_source

if TYPE_CHECKING:
    from skipstone.server.settings import Settings

__all__ = ["ServeOptions", "run", "serve_tables"]


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """Where to listen, and what may be touched."""

    root: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DIR", help="A directory that tables may lie in; repeatable. Those of --table by default."
        ),
    ] = None
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1"
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port; 0 for any that is free.")] = 8765
    allow_remote: Annotated[
        bool, typer.Option("--allow-remote", help="Allow an address that other machines reach.")
    ] = False
    state: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where the history is kept; in the user's directory by default."),
    ] = None


def run(
    options: ServeOptions,
    table: Annotated[
        list[str] | None,
        typer.Option("--table", metavar="NAME=PATH", help="A table to register; repeatable."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Serve a page, and a REST API, that show and do every step; stop it with Ctrl-C."""
    serve_tables(options, table or [], as_json)


def serve_tables(options: ServeOptions, tables: list[str], as_json: bool) -> None:
    """Serve until stopped."""
    # Imported late: FastAPI takes long, and no other command needs it.
    from skipstone.server.roots import as_root
    from skipstone.server.run import default_state, serve
    from skipstone.server.settings import Settings

    sources = [_absolute(source) for source in tables]
    roots = [as_root(root) for root in options.root or (split_source(source)[1] for source in sources)]
    settings = Settings(
        state=(options.state or default_state()).resolve(),
        roots=tuple(roots),
        host=options.host,
        port=options.port,
        allow_remote=options.allow_remote,
    )
    # Spark is started in another thread, which must know the options of this command.
    here = copy_context()
    start = partial(here.run, quiet_session)
    serve(settings, start, tuple(sources), lambda link: _ready(link, settings, as_json))


def _absolute(source: str) -> str:
    name, path = split_source(named(source))
    absolute = path if "://" in path else str(Path(path).absolute())
    return absolute if name is None else f"{name}={absolute}"


def _ready(link: str, settings: Settings, as_json: bool) -> None:
    if as_json:
        from skipstone.cli.output import print_json

        print_json({"link": link, "token": settings.token})
    else:
        typer.echo(f"The page is at {link} (stop with Ctrl-C)")
