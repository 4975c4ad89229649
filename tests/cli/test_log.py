"""``skipstone log`` and the commands that use a table's own log."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Cli


def test_a_log_is_imported_shown_used_and_cleared(cli: Cli, orders: Path, tmp_path: Path) -> None:
    assert "has no query log yet" in cli.error("analyze", orders)
    queries = tmp_path / "queries.jsonl"
    queries.write_text(
        '{"sql": "SELECT k FROM orders WHERE k < 100", "timestamp": "2026-05-01T12:00:00", "count": 3}\n'
        '{"sql": "SELECT k FROM orders WHERE city = \'Oslo\'", "timestamp": "2026-05-02T12:00:00"}\n'
    )
    added = cli.json("log", "import", orders, "--queries", queries)
    assert added == {"added": 2, "unusable": 0, "broken": [], "left_out": []}
    first, second = cli.json("log", "show", orders)
    assert (first["count"], first["columns"], first["redacted"]) == (3, ["k"], False)
    assert "city = 'Oslo'" in second["filter_sql"]
    assert cli.json("log", "show", orders, "--limit", 1) == [second]
    assert cli.json("log", "show", orders, "--since", "2026-05-02") == [second]
    shown = cli("log", "show", orders)
    assert shown.stdout.splitlines()[-1] == "2 scans of 2."
    assert "k < 100" in shown.stdout
    assert "query log    off here, 2 scans, 2026-05-01 12:00:00 to" in cli("status", orders).stdout
    assert "4 queries on orders" in cli("analyze", orders, "--num-features", 1, "--threshold", 1).stdout
    assert "--yes" in cli.error("log", "clear", orders)
    assert cli("log", "clear", orders, "--yes").stdout == "Deleted 2 scans from the query log.\n"
    assert cli("log", "show", orders).stdout == "0 scans of 0.\n"
