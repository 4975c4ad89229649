"""How the layouts depend on the workload: figure 6 of GSOP (VLDB 2016), on a table like its benchmark's.

The table has 11 columns and queries ``SELECT A1, ..., Ak FROM T WHERE filter(B, b)``. One of these is
varied at a time: ``k`` columns are selected; they are one of ``t`` templates; filters are drawn from a
pool by Zipf's law with factor ``z``; a filter holds for a share ``s`` of the rows. 100 queries are to
fit, 100 others to test. A query costs what equation 3 says, by the blocks of the real layout: cells,
tuple ids and reconstruction.
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
_ROWS, _BLOCKS, _QUERIES = 20_000, 200, 100
_FACTORS = 4
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
    bits, filtered = _filters(setting, random)
    vectors, counts = np.unique(bits, axis=0, return_counts=True)
    some = list(combinations(range(COLUMNS), setting.k))
    templates = [some[index] for index in random.permutation(len(some))[: setting.t]]
    training, test = (
        _queries(setting, templates, filtered, random, (vectors, counts.astype(np.float64))) for _ in range(2)
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


def _filters(setting: Setting, random: np.random.Generator) -> tuple[Bits, npt.NDArray[np.int64]]:
    """The pool of filters as bits of rows, and the column that each is about."""
    factors = random.random((_ROWS, _FACTORS))
    values = 0.5 * factors[:, random.integers(_FACTORS, size=COLUMNS)] + 0.5 * random.random((_ROWS, COLUMNS))
    found, filtered = [], []
    for column in range(COLUMNS):
        low, high = np.quantile(values[:, column], [setting.s, 1 - setting.s])
        start = random.random() * (1 - setting.s)
        equal = np.quantile(values[:, column], [start, start + setting.s])
        found += [
            values[:, column] < low,
            values[:, column] > high,
            (values[:, column] >= equal[0]) & (values[:, column] < equal[1]),
        ]
        filtered += [column] * 3
    return np.array(found).T, np.array(filtered, np.int64)


def _queries(
    setting: Setting,
    templates: list[tuple[int, ...]],
    filtered: npt.NDArray[np.int64],
    random: np.random.Generator,
    rows: tuple[Bits, Floats],
) -> ColumnAccess:
    """Queries that read the columns of a template and that of their filter."""
    columns = np.zeros((_QUERIES, COLUMNS), np.bool_)
    features = np.zeros((_QUERIES, len(filtered)), np.bool_)
    popular = 1.0 / np.arange(1, len(filtered) + 1) ** setting.z
    order = np.random.default_rng(7).permutation(len(filtered))
    for query in range(_QUERIES):
        filter_ = order[random.choice(len(filtered), p=popular / popular.sum())]
        columns[query, [*templates[random.integers(len(templates))], filtered[filter_]]] = True
        features[query, filter_] = True
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
