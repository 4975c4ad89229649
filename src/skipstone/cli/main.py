"""The ``skipstone`` command: its sub-commands, and how any failure becomes one sentence.

Results go to standard output; progress, warnings and errors go to standard error. The exit code is 0, 1 for
a failure, 2 for a wrong call, 130 when the user stops it (Ctrl-C) and 143 when it is told to end (SIGTERM).
"""

from __future__ import annotations

import errno
import os
from typing import Any

import typer
from typer.core import TyperGroup

import skipstone
from skipstone.cli import (
    advise,
    analyze,
    auto,
    bench,
    calibrate,
    demo,
    explain,
    index,
    log,
    optimize,
    replay,
    status,
)
from skipstone.cli.output import fail, show_warnings
from skipstone.spark.failures import sentence_of
from skipstone.spark.stopping import Stop, stoppable

__all__ = ["app"]

_DEBUG = "SKIPSTONE_DEBUG"


class _Commands(TyperGroup):
    """The group of commands, in which no error ends in a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; what goes wrong is told in one sentence."""
        show_warnings()
        with stoppable() as stop:
            return self._invoke(ctx, stop)

    def _invoke(self, ctx: Any, stop: Stop) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            fail("Stopped.", stop.code)
        except Exception as problem:
            if stop.requested:  # such as a job that was cancelled
                fail("Stopped.", stop.code)
            if os.environ.get(_DEBUG) or _is_of_the_command_line(problem):
                raise
            fail(
                sentence_of(problem)
                or f"Unexpected {type(problem).__name__}: {problem} (set {_DEBUG}=1 for more)."
            )


def _is_of_the_command_line(problem: Exception) -> bool:
    # typer brings its own parser along, whose exceptions (usage, exit, abort) it handles itself.
    if isinstance(problem, OSError):
        return problem.errno == errno.EPIPE
    return type(problem).__module__.partition(".")[0] in ("click", "typer")


app = typer.Typer(
    cls=_Commands,
    help="Lets Spark read only the blocks of a table that a query can need, with unchanged SQL.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"skipstone {skipstone.__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    pass


app.command("demo")(demo.run)
app.command("index")(index.run)
app.command("explain")(explain.run)
app.command("status")(status.run)
app.command("replay")(replay.run)
app.command("analyze")(analyze.run)
app.command("advise")(advise.run)
app.command("optimize")(optimize.run)
app.add_typer(log.app, name="log")
app.command("auto")(auto.run)
app.command("calibrate")(calibrate.run)
app.command("bench")(bench.run)
