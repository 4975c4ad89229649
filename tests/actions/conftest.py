from __future__ import annotations

import pytest

from skipstone.workload.queries import Query, Workload


@pytest.fixture
def log() -> Workload:
    """Two kinds of queries that recur, with a filter that min/max cannot serve among them."""
    texts = [
        f"SELECT count(*) FROM shipments WHERE mode = '{mode}' AND k < {most}"
        for mode in ("AIR", "RAIL")
        for most in (50, 100)
    ]
    texts += [f"SELECT sum(id) FROM shipments WHERE month(d) = {month} AND k >= 900" for month in (2, 3)]
    return Workload(tuple(Query(text) for text in texts * 5))
