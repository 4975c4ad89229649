"""A command that takes objects has an option for each of their fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from skipstone.cli.option_groups import flat_command, with_flat_options


@dataclass(frozen=True, slots=True)
class Size:
    rows: Annotated[int, typer.Option("--rows", min=1)]
    unit: str = "MB"


@dataclass(frozen=True, slots=True)
class Shown:
    as_json: Annotated[bool, typer.Option("--json")] = False


def run(table: str, size: Size, shown: Shown, names: list[str] | None = None) -> None:
    """Say what was given."""
    typer.echo(f"{table} {size} {shown} {names}")


@pytest.fixture(scope="module")
def app() -> typer.Typer:
    made = typer.Typer(rich_markup_mode=None)
    made.command()(run)
    return with_flat_options(made)


def test_fields_become_options_and_options_fields(app: typer.Typer) -> None:
    result = CliRunner().invoke(app, ["t", "--rows", "3", "--json", "--names", "a", "--names", "b"])
    assert result.output == "t Size(rows=3, unit='MB') Shown(as_json=True) ['a', 'b']\n"


@pytest.mark.parametrize("arguments", [["t"], ["t", "--rows", "0"], ["t", "--rows", "1", "--size", "2"]])
def test_what_is_missing_out_of_range_or_unknown_is_a_wrong_call(
    app: typer.Typer, arguments: list[str]
) -> None:
    assert CliRunner().invoke(app, arguments).exit_code == 2


def test_a_command_without_groups_stays_as_it_is() -> None:
    def plain(table: str, count: int = 3) -> None:
        assert (table, count) == ("t", 7)

    flat_command(plain)(table="t", count=7)
