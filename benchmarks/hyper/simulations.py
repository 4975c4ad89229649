"""Trees fitted on a sample and judged on more rows, without Spark: robustness, and what ranges scan.

Z-order and Hilbert are over all 16 attributes here, which no grid of the product has cells for: rows are put
in the order of the curve over their quantiles and cut into blocks of equal size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.hyper.lineitem import Range
from benchmarks.pieces import Piece
from skipstone.layout import hilbert_curve, zcurve
from skipstone.layout.assignment import Numbers
from skipstone.layout.divide_attributes import divide_attributes
from skipstone.layout.grid import Curve
from skipstone.layout.layouts import fit_layout
from skipstone.layout.numbers import block_numbers
from skipstone.layout.ranks import rank
from skipstone.layout.sample import Sample
from skipstone.layout.simulate import virtual_blocks
from skipstone.layout.table_view import TableView
from skipstone.layout.workload_view import workload_view
from skipstone.pruning.prune import prune

__all__ = [
    "BALANCES",
    "CURVES",
    "by_attribute",
    "curve_order",
    "measure_robustness",
    "simulate_layouts",
    "simulate_replicas",
]

BALANCES = {"least-allocated": "allocation", "worst": "worst", "k-d tree": "cyclic"}
CURVES: dict[str, Curve] = {"Z-order": zcurve.order_keys, "Hilbert": hilbert_curve.order_keys}
Clock = Callable[[], float]


def measure_robustness(sample: Sample, sizes: Sequence[int], clock: Clock) -> Piece:
    """Robustness, allocations and seconds to build, of each kind of tree at each number of blocks."""
    found: Piece = {}
    for blocks in sizes:
        view = _view(sample, blocks)
        for name, balance in BALANCES.items():
            started = clock()
            design = fit_layout("hyper", view, None, {"balance": balance})
            found[f"{name} {blocks}"] = {
                "blocks": design.group.assignment.blocks,
                "robustness": design.parameters["robustness"],
                "allocation": design.parameters["allocation"],
                "seconds": clock() - started,
            }
    return found


def simulate_layouts(sample: Sample, rows: Sample, ranges: Sequence[Range], blocks: int) -> Piece:
    """What the ranges scan, by attribute, under each layout."""
    found: Piece = {}
    total = len(rows)
    found["as generated"] = _scanned((np.arange(total) * blocks // total).astype(np.int32), rows, ranges)
    for name, balance in BALANCES.items():
        design = fit_layout("hyper", _view(sample, blocks), None, {"balance": balance})
        numbers = block_numbers(design.group.assignment, rows)
        found[name] = {**_scanned(numbers, rows, ranges), "note": design.note}
    for name, curve in CURVES.items():
        place = np.empty(total, np.int64)
        place[curve_order(rows, curve)] = np.arange(total)
        found[name] = _scanned((place * blocks // total).astype(np.int32), rows, ranges)
    return found


def simulate_replicas(sample: Sample, rows: Sample, ranges: Sequence[Range], blocks: int) -> Piece:
    """What the ranges scan when each goes to the best of three replicas with attributes of their own."""
    shares = divide_attributes(_view(sample, blocks), 3)
    found: Piece = {"attributes": [[expr.path[0] for expr in share] for share in shares]}  # type: ignore[union-attr]
    for name in ("least-allocated", "worst"):
        scanned = []
        for share in shares:
            columns = ",".join(expr.path[0] for expr in share)  # type: ignore[union-attr]
            options = {"balance": BALANCES[name], "columns": columns}
            design = fit_layout("hyper", _view(sample, blocks), None, options)
            scanned.append(_shares(block_numbers(design.group.assignment, rows), rows, ranges))
        found[name] = by_attribute(ranges, np.min(scanned, axis=0).tolist())
    return found


def curve_order(rows: Sample, curve: Curve) -> npt.NDArray[np.int64]:
    """The rows in the order of a curve over the quantiles of all attributes."""
    points, bits = _quantiles(rows)
    order: npt.NDArray[np.int64] = np.argsort(curve(points, bits), kind="stable")
    return order


def by_attribute(ranges: Sequence[Range], shares: Sequence[float]) -> Piece:
    """The mean of the ranges of each attribute, the mean of all attributes and the worst one, in percent."""
    found: dict[str, list[float]] = {}
    for each, share in zip(ranges, shares, strict=True):
        found.setdefault(each.attribute, []).append(100.0 * share)
    means = {name: float(np.mean(values)) for name, values in found.items()}
    return {"mean": float(np.mean(list(means.values()))), "worst": max(means.values()), "attributes": means}


def _view(sample: Sample, blocks: int) -> TableView:
    return TableView(sample, max(1, round(len(sample) * sample.scale / blocks)))


def _scanned(numbers: Numbers, rows: Sample, ranges: Sequence[Range]) -> Piece:
    return {"blocks": int(numbers.max()) + 1, **by_attribute(ranges, _shares(numbers, rows, ranges))}


def _shares(numbers: Numbers, rows: Sample, ranges: Sequence[Range]) -> list[float]:
    blocks = virtual_blocks(numbers, rows, workload_view([]), ())
    return [float(blocks.rows[~prune(each.filter, blocks).skip].sum() / len(rows)) for each in ranges]


def _quantiles(rows: Sample) -> tuple[np.ndarray, int]:
    """Each row's quantile in every attribute, in as many bits as a key can hold."""
    bits = zcurve.affordable_bits(16, len(rows.columns))
    return np.stack([_coordinates(column, bits) for column in rows.columns.values()], axis=1), bits


def _coordinates(column: pa.Array, bits: int) -> np.ndarray:
    ranked = rank(column)
    counts = np.bincount(ranked.codes, minlength=len(ranked.array))
    before = np.cumsum(counts) - counts
    coordinates: np.ndarray = ((before << bits) // len(column))[ranked.codes]
    return coordinates
