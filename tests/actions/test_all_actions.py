"""Every action is on the list, is a plain value, and can be asked for in Python and at the command line."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command

import skipstone
import skipstone.actions
from skipstone.actions.all_actions import ACTIONS, ENGINE_ACTIONS
from skipstone.cli.main import app

EVERY: tuple[type[Any], ...] = (*ACTIONS, *ENGINE_ACTIONS)
# Rows are a DataFrame, which only Python has.
ONLY_IN_PYTHON = {"append"}


def _defined() -> Iterator[type]:
    """The classes of the package that can be validated and run."""
    for module in pkgutil.iter_modules(skipstone.actions.__path__):
        found = importlib.import_module(f"skipstone.actions.{module.name}")
        for value in vars(found).values():
            own = inspect.isclass(value) and value.__module__ == found.__name__
            if own and "validate" in vars(value) and not getattr(value, "_is_protocol", False):
                yield value


def test_every_action_is_on_the_list() -> None:
    assert set(_defined()) == set(EVERY)
    assert len({action.name for action in EVERY}) == len(EVERY)


@pytest.mark.parametrize("action", EVERY, ids=lambda action: action.__name__)
def test_an_action_is_a_plain_value(action: type[Any]) -> None:
    assert dataclasses.is_dataclass(action)
    assert action.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert hasattr(action, "__slots__")
    assert action.__doc__
    assert not action.__doc__.startswith(f"{action.__name__}("), "not the one that dataclass makes"


@pytest.mark.parametrize("action", ACTIONS, ids=lambda action: action.__name__)
def test_an_action_has_a_method_of_a_table(action: type[Any]) -> None:
    methods = [value for name, value in vars(skipstone.Table).items() if not name.startswith("_")]
    sources = [inspect.getsource(method) for method in methods if inspect.isfunction(method)]
    made = re.compile(rf"\b{action.__name__}\(")
    assert sum(made.search(source) is not None for source in sources) == 1


@pytest.mark.parametrize("action", EVERY, ids=lambda action: action.__name__)
def test_an_action_has_a_command(action: type[Any]) -> None:
    if action.name in ONLY_IN_PYTHON:
        return
    command: Any = get_command(app)
    for word in action.name.split():
        if word.startswith("--"):
            assert word in {option for parameter in command.params for option in parameter.opts}
        else:
            command = command.commands[word]
    assert command.help


def test_every_command_is_an_action_or_a_story_of_several() -> None:
    commands = set(get_command(app).commands)  # type: ignore[attr-defined]
    assert commands - {action.name.split()[0] for action in EVERY} == {"demo", "serve"}
