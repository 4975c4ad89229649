from __future__ import annotations

from benchmarks.replay.measure import Tally
from benchmarks.replay.report import figures


def test_only_those_who_competed_are_compared() -> None:
    none = {"total_seconds": 90.0, "scan_seconds": 80.0, "column_bytes": 4e9, "file_bytes": 5e9}
    parts = {"insert_seconds_by_part": {"rewriting": 10.0}, "analysis_of_rewrites": 0.2}
    automatic = {"total_seconds": 40.0, "scan_seconds": 20.0, "column_bytes": 1e9, "file_bytes": 1e9, **parts}
    found = figures({"no optimisation": none, "automatic": automatic}, Tally(), "a command")
    assert {figure.name: (figure.value, figure.holds) for figure in found} == {
        "scans with different results": (0.0, True),
        "total time, no optimisation / automatic": (2.25, False),
        "volume read, no optimisation / automatic": (4.0, True),
        "scan time, no optimisation / automatic": (4.0, None),
        "bytes of files, no optimisation / automatic": (5.0, None),
        "analysis and estimation, of the rewrites": (2.0, None),
    }
