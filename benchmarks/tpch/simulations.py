"""Simulations on the denormalised table: layouts at several numbers of blocks, and the paper's sweeps.

The sweeps are those of SIGMOD'14 sections 7.3.2, 7.3.3 and 7.4.2: the size of a block and the number of
features. The paper's Conviva log is not public; a workload generated from column metadata takes its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from benchmarks.pieces import Piece
from benchmarks.tpch.queries import TABLE
from benchmarks.tpch.simulator import Simulator
from benchmarks.tpch.values import BRANDS, REGIONS, SEGMENTS, SHIP_MODES, TYPES
from skipstone.errors import SkipstoneError
from skipstone.layout.assignment import Numbers
from skipstone.layout.balanced_maxskip import cluster
from skipstone.layout.filtered import most_filtered
from skipstone.layout.grid import GridOptions
from skipstone.layout.numbers import block_numbers
from skipstone.layout.ranks import rank
from skipstone.layout.simulate import simulate
from skipstone.layout.zorder import ZORDER
from skipstone.predicate.expr import Column, Expr, Value
from skipstone.predicate.render import to_sql
from skipstone.workload.generate import ColumnSpec, QueryForm, generate
from skipstone.workload.queries import Query, Workload

__all__ = [
    "best_columns",
    "clustering_seconds",
    "generated_workload",
    "simulate_layouts",
    "simulate_ranges",
    "sweep_block_rows",
    "sweep_features",
]

BLOCKS = (100, 1_000, 10_000)
SWEPT_BLOCKS = (100, 300, 1_000, 3_000, 10_000, 30_000)
SWEPT_FEATURES = (1, 2, 5, 10, 15, 20, 30, 40)
_CANDIDATES = 7
_SOME_ROWS = 100_000


def simulate_layouts(
    simulator: Simulator,
    layouts: Sequence[str],
    rows: int,
    clock: Callable[[], float],
    blocks: Sequence[int] = BLOCKS,
) -> Piece:
    """Each layout at each number of blocks, with the seconds that fitting took."""
    found: Piece = {}
    for name in layouts:
        for number in blocks:
            fitting = simulator.fitting(max(1, rows // number))
            started = clock()
            try:
                design = fitting.fit(name)
            except SkipstoneError as problem:
                found[f"{name} {number}"] = {"problem": str(problem)}
                continue
            seconds = clock() - started
            found[f"{name} {number}"] = {**asdict(simulator.judge(fitting, design)), "fit_seconds": seconds}
    return found


def simulate_ranges(simulator: Simulator) -> Piece:
    """The paper's range1 (orders by day) and range2 (month × region × segment × quantity)."""
    day = _grouped(simulator, "o_orderdate", lambda value: value)
    month = _grouped(simulator, "o_orderdate", _month)
    region, segment = (_grouped(simulator, name, lambda value: value) for name in ("cr_name", "c_mktsegment"))
    quantity = _grouped(simulator, "l_quantity", lambda value: (int(float(str(value))) - 1) // 10)
    composite = ((month * 5 + region) * 5 + segment) * 5 + quantity
    return {
        name: {
            "percent_scanned": simulator.percent_scanned(numbers, ()),
            "percent_needed": simulator.percent_needed,
            "blocks": len(np.unique(numbers)),
        }
        for name, numbers in (("range1", day), ("range2", composite))
    }


def _month(days: Value) -> str:
    """A date's month; the canonical value of a date is its number of days since 1970."""
    return str(np.datetime64(int(str(days)), "D").astype("datetime64[M]"))


def _grouped(simulator: Simulator, name: str, key: Callable[[Value], object]) -> Numbers:
    """Numbers from 0 on for what ``key`` makes of a column's values."""
    column = next(
        expr for expr in simulator.rows.columns if isinstance(expr, Column) and expr.path == (name,)
    )
    ranked = rank(simulator.rows.columns[column])
    _, number = np.unique(np.array([str(key(value)) for value in ranked.values]), return_inverse=True)
    return np.asarray(number, np.int32)[ranked.codes]


def best_columns(simulator: Simulator, blocks: int, rows: int, most: int = 4) -> Piece:
    """The columns whose Z-order lets the training queries skip most, of all sets of much filtered ones."""
    fitting = simulator.fitting(max(1, rows // blocks))
    rows_drawn = len(fitting.view.sample)
    some = np.arange(0, rows_drawn, max(1, rows_drawn // _SOME_ROWS))
    view, workload = fitting.view.of_rows(some), fitting.workload.of_rows(some)
    sample = replace(view.sample, scale=view.sample.scale * rows_drawn / len(some))
    view, queries = replace(view, sample=sample), workload.queries
    candidates = [key for key, _ in most_filtered(sample, queries) if isinstance(key, Column)][:_CANDIDATES]
    tried: list[tuple[float, tuple[Expr, ...]]] = []
    for chosen in combinations(candidates, most):
        design = ZORDER.fit(view, workload, GridOptions(chosen))
        numbers = block_numbers(design.group.assignment, sample, queries.atoms)
        tried.append((simulate(numbers, sample, queries, ()).mean, chosen))
    best = min(tried, key=lambda pair: pair[0])
    return {
        "columns": [to_sql(column) for column in best[1]],
        "percent_scanned_on_training": 100.0 * best[0],
        "candidates": [to_sql(column) for column in candidates],
    }


def sweep_block_rows(simulator: Simulator, rows: int, num_features: int = 15) -> Piece:
    """SOP with blocks of several sizes (figure 7)."""
    return {
        str(number): asdict(simulator.simulate("sop", max(1, rows // number), num_features))
        for number in SWEPT_BLOCKS
    }


def sweep_features(simulator: Simulator, block_rows: int) -> Piece:
    """SOP with several numbers of features (figures 8 and 11), as many as the workload has."""
    most = len(simulator.workload.features)
    counts = sorted({min(count, most) for count in SWEPT_FEATURES if most})
    return {str(count): asdict(simulator.simulate("sop", block_rows, count)) for count in counts}


def clustering_seconds(vectors: int, features: int, clock: Callable[[], float], seed: int = 0) -> float:
    """How long Balanced MaxSkip takes for random distinct vectors with skewed counts."""
    random = np.random.default_rng(seed)
    density = random.uniform(0.05, 0.5, features)
    bits = np.unique(random.random((2 * vectors, features)) < density, axis=0)
    bits = random.permutation(bits)[:vectors]
    counts: npt.NDArray[np.float64] = np.ceil(random.pareto(1.2, len(bits)) * 20) + 1
    weights = np.sort(random.integers(1, 100, features))[::-1].astype(np.float64)
    started = clock()
    cluster(bits, counts, weights, float(counts.sum() / 100))
    return clock() - started


def generated_workload(count: int, seed: int) -> Workload:
    """Queries from column metadata alone, with skewed constants."""
    columns = [
        ColumnSpec("l_shipmode", "string", values=SHIP_MODES),
        ColumnSpec("c_mktsegment", "string", values=SEGMENTS),
        ColumnSpec("cr_name", "string", values=REGIONS),
        ColumnSpec("p_brand", "string", values=BRANDS),
        ColumnSpec("p_type", "string", values=TYPES),
        ColumnSpec("p_size", "int", low=1, high=50),
        ColumnSpec("l_linenumber", "int", low=1, high=7),
    ]
    texts = generate(columns, count, seed, QueryForm(TABLE, "count(*)", zipf=3.0))
    return Workload(tuple(Query(text, position=index) for index, text in enumerate(texts, start=1)))
