"""The ``skipstone`` command: its sub-commands, and how any failure becomes one sentence.

Results go to standard output; progress, warnings and errors go to standard error. The exit code is 0, 1 for
a failure, 2 for a wrong call, 130 when the user stops it (Ctrl-C) and 143 when it is asked to end (SIGTERM).
With ``--json`` standard output is one document, also for an error.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

import skipstone
from skipstone.cli import (
    adapt,
    advise,
    analyze,
    auto,
    calibrate,
    demo,
    denormalise,
    explain,
    generate,
    index,
    log,
    optimize,
    repair,
    replay,
    replicas,
    replicate,
    serve,
    status,
)
from skipstone.cli.option_groups import with_flat_options
from skipstone.cli.output import (
    errors_as_json,
    fail,
    json_error,
    print_json,
    show_warnings,
    wants_json,
)
from skipstone.cli.spark_options import with_spark_options
from skipstone.cli.stopping import Stop, stoppable
from skipstone.view import one_line

__all__ = ["app"]

_DEBUG = "SKIPSTONE_DEBUG"
# What the parser complains with; depending on typer's version it is click's or typer's own.
_WRONG_CALL: Any = typer.BadParameter.__mro__[2]


class _Commands(TyperGroup):
    """The group of commands, in which no error ends in a traceback."""

    def main(
        self, args: Sequence[str] | None = None, prog_name: str | None = None, *_: object, **more: Any
    ) -> object:
        """Run the command line; with ``--json`` a wrong call is reported in JSON too."""
        standalone_mode = more.pop("standalone_mode", True)
        words = sys.argv[1:] if args is None else list(args)
        with errors_as_json(wants_json(words)):
            if not (standalone_mode and wants_json(words)):
                return super().main(args, prog_name, standalone_mode=standalone_mode, **more)
            try:
                code = super().main(args, prog_name, standalone_mode=False, **more)
            except _WRONG_CALL as problem:
                problem.show()
                code = problem.exit_code
                print_json(json_error(one_line(problem.format_message()), code))
            sys.exit(code or 0)

    def invoke(self, ctx: Any) -> object:
        """Run a command; a failure is reported in one sentence."""
        show_warnings()
        with stoppable() as stop:
            return self._invoke(ctx, stop)

    def _invoke(self, ctx: Any, stop: Stop) -> object:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            fail("Stopped.", stop.code)
        except Exception as problem:
            if stop.requested:  # such as a job that was cancelled
                fail("Stopped.", stop.code)
            if os.environ.get(_DEBUG) or _is_of_the_command_line(problem):
                raise
            # Imported late: whoever only asks for help should not wait for PySpark.
            from skipstone.spark.failures import sentence_of

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
app.command("adapt")(adapt.run)
app.command("replicate")(replicate.run)
app.command("denormalise")(denormalise.run)
app.command("replicas")(replicas.show)
app.command("refresh")(replicas.refresh)
app.command("drop")(replicas.drop)
app.command("repair")(repair.run)
app.command("generate")(generate.run)
app.add_typer(log.app, name="log")
app.command("auto")(auto.run)
app.command("calibrate")(calibrate.run)
app.command("serve")(serve.run)
with_spark_options(with_flat_options(app))
