"""Statements that cannot be used, or not wholly, are named for people and for programs."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Cli

STATEMENTS = """SELECT k FROM orders WHERE city = 'Oslo';
SELECT k FROM orders WHERE from_json(city, 'a INT').a = 1;
SELECT k FROM orders WHERE array_contains(array('Oslo', 'Lyon'), city);
"""


def test_a_statement_with_an_unusable_filter_is_named_and_the_others_are_used(
    cli: Cli, orders: Path, tmp_path: Path
) -> None:
    (tmp_path / "week.sql").write_text(STATEMENTS)
    asked = ("--queries", tmp_path / "week.sql")
    shown = cli("analyze", orders, *asked)
    assert shown.exit_code == 0, shown.stderr
    (line,) = (line for line in shown.stderr.splitlines() if line.startswith("Warning"))
    assert "week.sql, statement 2 (line 2): json_to_structs(city)" in line
    assert line.endswith("its filter is left out")
    report = cli.json("optimize", orders, *asked, "--output", tmp_path / "new", "--block-rows", "50")
    assert [broken["position"] for broken in report["broken"]] == [2]
    assert report["broken"][0]["sql"] == "SELECT k FROM orders WHERE from_json(city, 'a INT').a = 1"
