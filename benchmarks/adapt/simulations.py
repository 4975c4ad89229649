"""What adapting a tree gains, simulated on rows of 16 independent attributes.

They are laid out by ``hyper``, then adapted to a workload on three attributes. What queries scan is judged on
other rows than those that trees are fitted on, and compared with the qd-tree that is fitted for the same
queries. Of two workloads ``corner`` asks for ranges inside a third or a fifth of each of the three
attributes, ``wide`` for ranges inside 60 % of two of them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from benchmarks.adapt.least_left import least_left
from benchmarks.pieces import Piece
from skipstone.layout.adapt_tree import AdaptLimits, LaidOut, Prices, adapt_tree
from skipstone.layout.assignment import Tree
from skipstone.layout.formulas import compile_formulas
from skipstone.layout.layouts import fit_layout
from skipstone.layout.numbers import block_numbers
from skipstone.layout.sample import Sample, WorkloadView
from skipstone.layout.table_view import FitWorkload, TableView
from skipstone.layout.workload_view import workload_view
from skipstone.predicate.expr import And, Column, Comparison, Expr, Literal, Not
from skipstone.predicate.types import LONG

__all__ = ["WORKLOADS", "measure"]

ATTRIBUTES = tuple(Column((f"a{number}",), LONG) for number in range(16))
ASKED = (2, 7, 11)
VALUES = 1_000_000
BLOCK_ROWS = 10_000
QUERIES = 60
REWRITE = 3.0
"""How many times as much it costs to rewrite a row as to scan it once."""
WORKLOADS = {"corner": 0.35, "wide": 0.6}
"""How much of the second and third attribute the queries' ranges lie in; of the first it is a fifth."""
_OPS = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}


@dataclass(frozen=True, slots=True)
class Case:
    """A workload, rows to fit on and rows to judge by."""

    queries: WorkloadView
    fitted: Sample
    judged: Sample

    def read(self, numbers: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """The share of the queries that read each block, and its rows, if the judged rows lie in these."""
        order = np.argsort(numbers, kind="stable")
        begin = np.unique(numbers[order], return_index=True)[1]
        present = np.logical_or.reduceat(self.judged.bits[order], begin, axis=0)
        read = ~compile_formulas(self.queries.formulas, len(self.queries.atoms)).skipped(~present.T)
        return read.mean(axis=0), np.diff(np.append(begin, len(order)))

    def scanned(self, numbers: npt.NDArray[np.int32]) -> float:
        """The share of the judged rows that a query scans on average, if they lie in these blocks."""
        share, rows = self.read(numbers)
        return float(share @ rows / rows.sum())

    def numbers(self, tree: Tree) -> npt.NDArray[np.int32]:
        """The block of each judged row."""
        return block_numbers(tree, self.judged, self.queries.atoms)


def case(kind: str, blocks: int, seed: int) -> Case:
    """Random rows, a hundred to fit on and two hundred to judge by for each block."""
    rng = np.random.default_rng(seed)
    filters: list[Expr] = []
    for _ in range(QUERIES):
        parts: list[Expr] = []
        for number in ASKED:
            first = number == ASKED[0]
            low, high, width = (0.8, 0.95, 0.05) if first else (0.0, WORKLOADS[kind] - 0.1, 0.1)
            start = int(rng.integers(int(VALUES * low), int(VALUES * high)))
            key = ATTRIBUTES[number]
            parts.append(Comparison(">=", key, Literal(start, LONG)))
            parts.append(Comparison("<", key, Literal(start + int(VALUES * width), LONG)))
        filters.append(And(tuple(parts)))
    queries = workload_view(filters)
    fitted, judged = (_sample(rng, queries, blocks, rows) for rows in (100, 200))
    return Case(queries, fitted, judged)


def _sample(rng: np.random.Generator, queries: WorkloadView, blocks: int, rows: int) -> Sample:
    values = rng.integers(0, VALUES, (len(ATTRIBUTES), blocks * rows))
    bits = np.zeros((values.shape[1], len(queries.atoms)), np.bool_, order="F")
    for index, atom in enumerate(queries.atoms):
        compared = atom.arg if isinstance(atom, Not) else atom
        assert isinstance(compared, Comparison)
        assert isinstance(compared.left, Column)
        assert isinstance(compared.right, Literal)
        assert isinstance(compared.right.value, int)
        number = ATTRIBUTES.index(compared.left)
        bits[:, index] = _OPS[compared.op](values[number], compared.right.value) != isinstance(atom, Not)
    columns: dict[Expr, pa.Array] = {key: pa.array(values[number]) for number, key in enumerate(ATTRIBUTES)}
    return Sample(bits, columns, BLOCK_ROWS / rows)


def measure(kind: str, blocks: int, seed: int = 0) -> Piece:
    """The figures of one workload."""
    made = case(kind, blocks, seed)
    view, queries = TableView(made.fitted, BLOCK_ROWS), made.queries
    hyper = fit_layout("hyper", view, None, {}).group.assignment
    qdtree = fit_layout("qdtree", view, FitWorkload(queries), {}).group.assignment
    assert isinstance(hyper, Tree)
    assert isinstance(qdtree, Tree)
    started = time.monotonic()
    prices = Prices(np.ones(len(queries.formulas)), REWRITE)
    found = adapt_tree(LaidOut(hyper), made.fitted, queries, prices, AdaptLimits(BLOCK_ROWS))
    seconds = time.monotonic() - started
    lying = made.numbers(hyper)
    touched = np.concatenate([np.zeros(0, np.int64), *(change.units for change in found.changes)])
    inside = np.isin(lying, touched)
    after = made.scanned(np.where(inside, hyper.blocks + made.numbers(found.writing), lying))
    best = made.scanned(made.numbers(qdtree))
    others = [expr for expr in found.before if expr not in found.queried]
    return {
        "workload": kind,
        "blocks": hyper.blocks,
        "percent_rewritten": 100 * float(inside.mean()),
        "percent_scanned_before": 100 * made.scanned(lying),
        "percent_scanned_after": 100 * after,
        "percent_scanned_qdtree": 100 * best,
        "times_qdtree": after / best,
        "percent_least_left": 100 * least_left(*made.read(lying)),
        "others_mean": [
            100 * float(np.mean([each[x] for x in others])) for each in (found.before, found.after)
        ],
        "others_worst": [100 * max(each[x] for x in others) for each in (found.before, found.after)],
        "seconds": seconds,
    }
