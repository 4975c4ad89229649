"""How the layouts depend on the workload: figure 6 of GSOP (VLDB 2016), on a table like its benchmark's.

The table is that of the Big Data Benchmark: pages (address, rank, duration) joined to visits, 11 columns in
all. They are generated as that benchmark does it, so only what belongs to a page is correlated. Queries are
``SELECT A1, ..., Ak FROM T WHERE filter(B, b)`` with ``B < b``, ``B = b`` or ``B > b`` (section 7.2). One of
these is varied at a time: ``k`` columns are selected; they are one of ``t`` templates; filters are drawn from
a pool by Zipf's law with factor ``z``; a filter of the pool holds for ``s`` of the rows, give or take 0.01.
100 queries are to fit, 100 others to test. A query costs what equation 3 says, by the blocks of the real
layout: cells, tuple ids and reconstruction. The paper does not say how large its pool is: here it has 100
filters. Blocks are those of 10,000 rows of 15 millions, filled with a sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from benchmarks.pieces import Piece
from skipstone.layout.balanced_maxskip import Clustering
from skipstone.layout.column_access import Bits, ColumnAccess, Floats, Indices
from skipstone.layout.column_grouping import (
    GroupingCost,
    group_columns,
    one_group,
    single_columns,
    workload_cost,
)
from skipstone.layout.local_features import local_features
from skipstone.layout.reconstruction import MeasuredJoin, Reconstruction, sort_merge
from skipstone.layout.rows_read import block_group, rows_of_blocks

__all__ = ["RECONSTRUCTIONS", "Setting", "settings", "simulate_setting"]

COLUMNS = 11
_ROWS, _BLOCKS, _QUERIES = 100_000, 1_500, 100
_POOL, _TRIED, _WITHIN = 100, 400_000, 0.01
RECONSTRUCTIONS: Mapping[str, Reconstruction] = {
    "tuple ids": lambda rows: rows,
    "sort-merge": sort_merge,
    "measured": MeasuredJoin(1e-8, 8.5e-7),
}


@dataclass(frozen=True, slots=True)
class Setting:
    """The paper's defaults."""

    k: int = 2
    t: int = 6
    z: float = 1.1
    s: float = 0.2

    def named(self) -> str:
        """The setting as a name."""
        return ",".join(f"{name}={value:g}" for name, value in asdict(self).items())


def settings() -> dict[str, list[Setting]]:
    """The four sweeps."""
    usual = Setting()
    return {
        "k": [replace(usual, k=k) for k in (1, 2, 4, 6, 8, 10)],
        "t": [replace(usual, t=t) for t in (1, 3, 6, 15, 45)],
        "z": [replace(usual, z=z) for z in (1.1, 1.4, 1.7, 2.0)],
        "s": [replace(usual, s=s) for s in (0.05, 0.1, 0.2, 0.4)],
    }


def simulate_setting(setting: Setting, seed: int = 0) -> Piece:
    """Mean costs of the test queries in cells, by layout and reconstruction."""
    random = np.random.default_rng(seed)
    pool = _pool(setting, random)
    vectors, counts = np.unique(pool.bits, axis=0, return_counts=True)
    some = list(combinations(range(COLUMNS), setting.k))
    templates = [some[index] for index in random.permutation(len(some))[: setting.t]]
    training, test = (
        _queries(setting, templates, pool, random, (vectors, counts.astype(np.float64))) for _ in range(2)
    )
    blocks = _Blocks(training)
    found: Piece = {}
    for name, reconstruction in RECONSTRUCTIONS.items():
        cost = GroupingCost(computed=blocks, reconstruction=reconstruction)
        layouts = {
            "sop": one_group(training),
            "gsop-single": single_columns(training),
            "gsop": group_columns(training, cost).groups,
        }
        costs = {layout: workload_cost(test, groups, cost) for layout, groups in layouts.items()}
        found[name] = {layout: total / _QUERIES for layout, total in costs.items()}
        found[name]["groups"] = len(layouts["gsop"])
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Pool:
    """Filters as bits of rows, the column of each, and ``subsumed[i, j]``: j holds wherever i does."""

    bits: Bits
    column: npt.NDArray[np.int64]
    subsumed: Bits


def _table(random: np.random.Generator) -> npt.NDArray[np.float64]:
    """Values of the Big Data Benchmark as numbers in their order: pages, and visits drawn from them."""
    pages = 1_000
    page = random.integers(pages, size=_ROWS)
    address, rank = random.permutation(pages)[page], np.floor(random.random(pages) ** -0.5)[page]
    length = random.integers(1, 100, size=pages)[page]
    return np.column_stack(
        [
            address,
            rank,
            length,
            random.random(_ROWS),  # the source's address
            random.integers(15_000, size=_ROWS),  # the date
            random.random(_ROWS),  # the revenue
            random.integers(1_000, size=_ROWS),  # the user agent
            random.integers(200, size=_ROWS),  # the country
            random.integers(150, size=_ROWS),  # the language
            random.integers(1_000, size=_ROWS),  # the word that was searched for
            random.integers(1, 11, size=_ROWS),  # the duration
        ]
    ).astype(np.float64)


def _pool(setting: Setting, random: np.random.Generator) -> _Pool:
    """Filters with constants from the table, as many as wanted of those that hold for the right share."""
    values = _table(random)
    ordered = np.sort(values, axis=0)
    found: dict[tuple[int, str, float], None] = {}
    for _ in range(_TRIED):
        column, row = int(random.integers(COLUMNS)), int(random.integers(_ROWS))
        operator, constant = "<=>"[random.integers(3)], float(values[row, column])
        low, high = np.searchsorted(ordered[:, column], [constant, np.nextafter(constant, np.inf)]) / _ROWS
        share = {"<": low, "=": high - low, ">": 1 - high}[operator]
        if abs(share - setting.s) <= _WITHIN:
            found[column, operator, constant] = None
        if len(found) == _POOL:
            break
    filters = list(found)
    bits = np.array([_satisfied(values[:, column], op, constant) for column, op, constant in filters]).T
    subsumed = np.array([[_implies(one, other) for other in filters] for one in filters])
    return _Pool(bits, np.array([column for column, _, _ in filters]), subsumed)


def _satisfied(values: npt.NDArray[np.float64], operator: str, constant: float) -> Bits:
    if operator == "=":
        return np.asarray(values == constant)
    return np.asarray(values < constant if operator == "<" else values > constant)


def _implies(one: tuple[int, str, float], other: tuple[int, str, float]) -> bool:
    """Whether rows with the one have the other."""
    (column, operator, a), (of, wider, b) = one, other
    if column != of:
        return False
    if operator == "=":
        return bool({"<": a < b, "=": a == b, ">": a > b}[wider])
    return operator == wider and (a <= b if operator == "<" else a >= b)


def _queries(
    setting: Setting,
    templates: list[tuple[int, ...]],
    pool: _Pool,
    random: np.random.Generator,
    rows: tuple[Bits, Floats],
) -> ColumnAccess:
    """Queries that read the columns of a template and that of their filter."""
    columns = np.zeros((_QUERIES, COLUMNS), np.bool_)
    chosen = np.zeros(_QUERIES, np.int64)
    popular = 1.0 / np.arange(1, len(pool.column) + 1) ** setting.z
    for query in range(_QUERIES):
        # Filters of the pool stand in random order.
        chosen[query] = random.choice(len(popular), p=popular / popular.sum())
        columns[query, [*templates[random.integers(len(templates))], pool.column[chosen[query]]]] = True
    features = pool.subsumed[chosen]
    return ColumnAccess(rows[0], rows[1], columns, features, np.ones(_QUERIES), _ROWS / _BLOCKS)


@dataclass(frozen=True, slots=True, eq=False)
class _Blocks:
    """The blocks of each group, made for the training queries once, and what any queries read of them."""

    training: ColumnAccess
    made: dict[bytes, tuple[Indices, Clustering]] = field(default_factory=dict)

    def __call__(self, access: ColumnAccess, group: Bits) -> Floats:
        """The rows that each query reads."""
        key = group.tobytes()
        if key not in self.made:
            chosen = local_features(self.training, group)
            self.made[key] = chosen, block_group(self.training, group, chosen)[1]
        chosen, blocks = self.made[key]
        return rows_of_blocks(access, blocks, chosen)
