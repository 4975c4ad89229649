"""``--master`` and ``--conf``: declared here once, for every command, since every command starts Spark."""

from __future__ import annotations

import functools
import inspect
import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Annotated

import typer

from skipstone.cli.completion import complete_master

__all__ = ["SparkOptions", "as_submit_arguments", "chosen_options", "with_spark_options"]

Master = Annotated[
    str | None,
    typer.Option(
        "--master",
        metavar="URL",
        help="Where Spark runs, such as local[4]; as spark-defaults.conf says, else on this machine.",
        autocompletion=complete_master,
    ),
]
Conf = Annotated[
    list[str] | None,
    typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark; repeatable."),
]


@dataclass(frozen=True, slots=True)
class SparkOptions:
    """What the user asked of the Spark that a command starts."""

    master: str | None = None
    config: Mapping[str, str] = field(default_factory=dict)


_NONE = SparkOptions()
_chosen: ContextVar[SparkOptions] = ContextVar("spark_options", default=_NONE)


def chosen_options() -> SparkOptions:
    """The options of the command that runs."""
    return _chosen.get()


def with_spark_options(app: typer.Typer) -> typer.Typer:
    """Give every command of an application these options."""
    for command in app.registered_commands:
        if command.callback is not None:
            command.callback = _with_options(command.callback)
    for group in app.registered_groups:
        if group.typer_instance is not None:
            with_spark_options(group.typer_instance)
    return app


def _with_options(run: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(run)
    def command(*arguments: object, master: str | None, conf: list[str] | None, **named: object) -> None:
        token = _chosen.set(SparkOptions(master, _settings(conf or ())))
        try:
            run(*arguments, **named)
        finally:
            _chosen.reset(token)

    known = inspect.signature(run, eval_str=True)
    ours = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in (("master", Master), ("conf", Conf))
    ]
    parameters = [*known.parameters.values(), *ours]
    command.__signature__ = known.replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


def _settings(given: Sequence[str]) -> dict[str, str]:
    found = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key.startswith("spark.") or key != key.strip():
            problem = f"{text} is not of the form spark.KEY=VALUE."
            raise typer.BadParameter(problem, param_hint="--conf")
        found[key] = value
    return found


@contextmanager
def as_submit_arguments() -> Iterator[None]:
    """Let the options hold for sessions that others make meanwhile, below what those set themselves."""
    options, name = chosen_options(), "PYSPARK_SUBMIT_ARGS"
    before = os.environ.get(name)
    words = shlex.split(before or "pyspark-shell")
    more = [] if options.master is None else ["--master", options.master]
    more += [word for key, value in options.config.items() for word in ("--conf", f"{key}={value}")]
    if more:
        os.environ[name] = shlex.join([*words[:-1], *more, words[-1]])
    try:
        yield
    finally:
        if before is not None:
            os.environ[name] = before
        elif more:
            del os.environ[name]
