"""Options that belong together, as one object: a command takes a few of these instead of a dozen parameters.

typer makes an option of each parameter of a function. Here a parameter whose type is a dataclass stands for
one option for each of its fields, which are declared as typer's parameters are.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any, get_type_hints

import typer

__all__ = ["flat_command", "with_flat_options"]


def with_flat_options(app: typer.Typer) -> typer.Typer:
    """Let typer see the options of every command of an application one by one."""
    for command in app.registered_commands:
        if command.callback is not None:
            command.callback = flat_command(command.callback)
    for group in app.registered_groups:
        if group.typer_instance is not None:
            with_flat_options(group.typer_instance)
    return app


def flat_command(run: Callable[..., None]) -> Callable[..., None]:
    """The command with the fields of its groups instead of the groups."""
    known = inspect.signature(run, eval_str=True)
    groups: dict[str, Any] = {
        each.name: each.annotation
        for each in known.parameters.values()
        if dataclasses.is_dataclass(each.annotation)
    }

    @functools.wraps(run)
    def command(**given: Any) -> None:
        made = {
            name: group(**{field.name: given.pop(field.name) for field in dataclasses.fields(group)})
            for name, group in groups.items()
        }
        run(**given, **made)

    parameters = [flat for each in known.parameters.values() for flat in _flat(each)]
    command.__signature__ = known.replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    return command


def _flat(parameter: inspect.Parameter) -> Iterator[inspect.Parameter]:
    if not dataclasses.is_dataclass(parameter.annotation):
        yield parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        return
    hints = get_type_hints(parameter.annotation, include_extras=True)
    for field in dataclasses.fields(parameter.annotation):
        required = field.default is dataclasses.MISSING
        yield inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if required else field.default,
            annotation=hints[field.name],
        )
