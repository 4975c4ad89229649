"""Every command and option is described, and a command in the documentation exists."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from skipstone.cli.main import app

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
REFERENCE = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
COMMANDS: dict[str, Any] = get_command(app).commands  # type: ignore[attr-defined]


def section(command: str) -> str:
    found = re.search(rf"(?ms)^## skipstone {command}$(.*?)(?=^## |\Z)", REFERENCE)
    assert found, f"docs/cli.md has no section about skipstone {command}"
    return found[1]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_section_with_an_example(command: str) -> None:
    assert f"$ skipstone {command}" in section(command), "an example with its output"
    assert COMMANDS[command].help, "and its own help"


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (name, option)
        for name, command in COMMANDS.items()
        for parameter in command.params
        for option in parameter.opts
        if option.startswith("--") and option != "--help"
    ],
)
def test_every_option_is_described(command: str, option: str) -> None:
    everywhere = REFERENCE.partition("\n## skipstone ")[0]
    assert f"`{option}" in section(command) + everywhere


@pytest.mark.parametrize("text", [README, REFERENCE], ids=["README.md", "docs/cli.md"])
def test_every_command_that_is_mentioned_exists(text: str) -> None:
    mentioned = set(re.findall(r"(?m)^(?:\$ |  )?skipstone ([a-z]+)", text))
    assert mentioned
    assert mentioned <= COMMANDS.keys()


def test_the_readme_shows_the_commands_of_every_day() -> None:
    for command in ("demo", "index", "explain", "replay", "status"):
        assert f"skipstone {command}" in README
