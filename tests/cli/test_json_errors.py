"""With --json, standard output is one JSON document, whatever happens."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Cli

import skipstone


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["index"], "Missing argument"),
        (["frobnicate"], "No such command 'frobnicate'."),
        (["index", "t", "--no-such-option"], "No such option"),
        (["demo", "--rows", "many"], "--rows"),
        (["status", "t", "--conf", "novalue"], "novalue is not of the form spark.KEY=VALUE."),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_a_wrong_call_is_json_with_code_2(arguments: list[str], said: str) -> None:
    result = Cli()(*arguments, "--json")
    assert result.exit_code == 2
    error = json.loads(result.stdout)["error"]
    assert said in error["message"]
    assert error["code"] == 2
    assert "Error: " in result.stderr, "people are told too"


def test_a_failure_is_json_with_code_1(cli: Cli, tmp_path: Path) -> None:
    result = cli("status", tmp_path / "nowhere", "--json")
    assert result.exit_code == 1
    assert set(json.loads(result.stdout)) == {"error"}
    assert str(tmp_path / "nowhere") in json.loads(result.stdout)["error"]["message"]


def test_a_report_that_is_an_error_is_still_one_document(cli: Cli, orders: Path, tmp_path: Path) -> None:
    (tmp_path / "q.sql").write_text("SELECT FROM WHERE;")
    result = cli("replay", orders, "--queries", tmp_path / "q.sql", "--json")
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    assert report["queries"] == []
    assert len(report["broken"]) == 1
    assert "has no query that can be replayed" in report["error"]["message"]


def test_a_stopped_command_and_a_bug_are_json_too(
    monkeypatch: pytest.MonkeyPatch, cli: Cli, orders: Path
) -> None:
    for problem, code in ((KeyboardInterrupt(), 130), (ZeroDivisionError("by zero"), 1)):

        def fail(table: skipstone.Table, report: object, problem: BaseException = problem) -> None:
            raise problem

        monkeypatch.setattr(skipstone.Table, "status", fail)
        result = cli("status", orders, "--json")
        assert result.exit_code == code
        assert json.loads(result.stdout)["error"]["code"] == code


def test_without_json_nothing_but_results_goes_to_standard_output(tmp_path: Path) -> None:
    assert Cli()("index").stdout == ""
