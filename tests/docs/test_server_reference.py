"""docs/server.md has every endpoint, every action with its arguments, every limit and every state."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from skipstone.server.app import create_app
from skipstone.server.block_states import PRUNED, READ, REPLACED, SKIPPED, UNKNOWN
from skipstone.server.job import State
from skipstone.server.job_kinds import KINDS
from skipstone.server.settings import Settings

TEXT = (Path(__file__).parents[2] / "docs" / "server.md").read_text(encoding="utf-8")


def test_every_endpoint_is_described(tmp_path: Path) -> None:
    described = re.sub(r"\?[^`\s]*", "", TEXT)
    app = create_app(Settings(state=tmp_path), lambda: pytest.fail("Spark is not needed"))
    calls = {
        f"{method.upper()} {path}" for path, methods in app.openapi()["paths"].items() for method in methods
    }
    app.state.service.end()
    assert len(calls) > 25
    assert [call for call in sorted(calls) if f"`{call}" not in described] == []


@pytest.mark.parametrize("name", KINDS)
def test_every_action_is_described_with_exactly_its_arguments(name: str) -> None:
    (line,) = re.findall(rf"(?m)^\| `{name}` \| (.*) \|$", TEXT)
    described = set(re.findall(r"`(\w+)`", line.partition("; its result")[0]))
    assert described == set(KINDS[name].arguments.model_fields)


def test_every_state_is_described() -> None:
    assert all(f"`{state.value}`" in TEXT for state in State)
    for number, words in {
        READ: "read",
        SKIPPED: "skipped by skipstone",
        PRUNED: "left out by Spark or Delta",
        UNKNOWN: "read\n  without statistics",
        REPLACED: "its rows are read from a replica",
    }.items():
        assert f"{number} {words}" in TEXT
