"""Workloads for tests of column groups: the paper's own table, and random ones."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from skipstone.layout.column_access import Bits, ColumnAccess

COLUMNS = "ABCD"
FEATURES = ("A = 'm'", "B < 0", "C LIKE 'y%'", "D = 2")
# Figure 2: t1 and t3 have A = 'm' and C LIKE 'y%', t1 and t4 have B < 0; D = 2 in t1 and t4 (example 1).
ROWS = np.array([[1, 1, 1, 1], [0, 0, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1]], np.bool_)


def reads(names: str) -> Bits:
    """The named columns."""
    return np.array([column in names for column in COLUMNS])


def access(*queries: tuple[str, tuple[int, ...], float]) -> ColumnAccess:
    """The table of figure 2 in blocks of two rows, and queries: columns, features, how often they run."""
    features = np.zeros((len(queries), len(FEATURES)), np.bool_)
    for query, (_, subsuming, _) in enumerate(queries):
        features[query, list(subsuming)] = True
    return ColumnAccess(
        vectors=ROWS,
        counts=np.ones(len(ROWS)),
        columns=np.array([reads(names) for names, _, _ in queries]),
        features=features,
        weights=np.array([weight for _, _, weight in queries]),
        block_rows=2,
    )


@st.composite
def accesses(draw: st.DrawFn) -> ColumnAccess:
    """Up to six columns and features, eight queries and twenty vectors."""
    columns, features, queries = draw(st.integers(1, 6)), draw(st.integers(1, 6)), draw(st.integers(1, 8))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    vectors = np.unique(random.random((draw(st.integers(1, 20)), features)) < 0.5, axis=0)
    read = random.random((queries, columns)) < draw(st.sampled_from([0.2, 0.5, 0.8]))
    read[np.arange(queries), random.integers(columns, size=queries)] = True
    return ColumnAccess(
        vectors=vectors,
        counts=random.integers(1, 60, len(vectors)).astype(np.float64),
        columns=read,
        features=random.random((queries, features)) < 0.4,
        weights=random.integers(1, 5, queries).astype(np.float64),
        block_rows=float(draw(st.integers(1, 40))),
        most_vectors=draw(st.sampled_from([4, 3_000])),
    )
