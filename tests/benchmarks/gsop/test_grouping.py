from __future__ import annotations

import numpy as np

from benchmarks.gsop.grouping import time_grouping
from benchmarks.gsop.wide import Shape, wide_access

SMALL = Shape(12, 60, 6, topics=3, attributes=6, rows=1_000, blocks=40)


def test_a_wide_table_is_the_same_for_the_same_seed_and_every_query_reads_and_filters() -> None:
    one, same, other = (wide_access(SMALL, seed) for seed in (1, 1, 2))
    assert np.array_equal(one.columns, same.columns)
    assert np.array_equal(one.vectors, same.vectors)
    assert not np.array_equal(one.columns, other.columns)
    assert one.columns.shape == (60, 12)
    assert one.columns.any(axis=1).all()
    assert one.features.any(axis=1).all()
    assert one.rows == 1_000


def test_groups_cost_no_more_than_either_end() -> None:
    found = time_grouping(SMALL)
    assert found["cost"] <= min(found["one"], found["single"]) * (1 + 1e-9)
    assert found["seconds"] > 0
