from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from benchmarks.__main__ import app
from benchmarks.pieces import Pieces

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
JVM = {
    "_jdf",
    "_jvm",
    "_jsc",
    "_jsparkSession",
    "_gateway",
    "jvm_files",
    "jvm_opener",
    "jvm_scan",
    "listener",
    "shim",
}


def measured_costs(home: Path, clustering_seconds: float) -> list[str]:
    """The arguments of a run whose pieces were all measured before."""
    pieces = Pieces(home / "sf1" / "pieces-1000")
    pieces.measure("clustering", lambda: {"3000 x 40": clustering_seconds})
    pieces.measure("breakdown", dict)
    return ["tpch", "--only", "costs", "--data", str(home), "--output", str(home)]


def test_the_commands_are_those_of_the_makefile() -> None:
    result = CliRunner().invoke(app, ["--help"])
    makefile = (BENCHMARKS.parent / "Makefile").read_text(encoding="utf-8")
    for name in ("skip", "replicas", "log", "benefit", "replay", "tpch", "hyper", "adapt", "joins", "gsop"):
        assert f"  {name} " in result.stdout
        assert f"-m benchmarks {name}" in makefile


@pytest.mark.parametrize("words", [["nothing"], ["skip", "--sf", "1"], ["replay", "--rows", "many"]])
def test_a_wrong_call_ends_with_code_2(words: list[str]) -> None:
    assert CliRunner().invoke(app, words).exit_code == 2


def test_an_error_is_one_sentence() -> None:
    result = CliRunner().invoke(app, ["tpch", "--only", "nothing"])
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: The benchmark has no step nothing")


def test_figures_are_shown_against_their_bars(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, measured_costs(tmp_path, 2.0))
    assert result.exit_code == 0
    assert result.stdout.splitlines()[1].split()[-5:] == ["2", "s", "3", "s", "yes"]


def test_a_missed_bar_ends_with_code_1_and_the_figures_in_json(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, [*measured_costs(tmp_path, 9.0), "--json"])
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    assert [figure["holds"] for figure in report["figures"]] == [False]
    assert "the bar was missed" in report["error"]["message"]


def test_only_one_module_of_the_benchmarks_touches_the_jvm() -> None:
    touching = {
        path.relative_to(BENCHMARKS).as_posix()
        for path in BENCHMARKS.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in JVM
    }
    assert touching == {"jvm.py"}
