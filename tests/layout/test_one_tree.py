"""Trees inside horizontal partitions as one tree: the same blocks, and no adaptation goes beyond one."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from tests.layout.rows_of_numbers import column

from skipstone.layout.adapt_tree import AdaptLimits, LaidOut, Prices, adapt_tree
from skipstone.layout.assignment import Dimension, Grid, Partitioned, Split, Tree
from skipstone.layout.layouts import fit_layout
from skipstone.layout.numbers import block_numbers
from skipstone.layout.one_tree import one_tree, partition_roots, with_partition_values
from skipstone.layout.sample import Sample
from skipstone.layout.table_view import TableView
from skipstone.layout.workload_view import workload_view
from skipstone.predicate.expr import And, Call, Column, Comparison, Expr, Literal
from skipstone.predicate.types import LONG

A, B, C = (column(name) for name in "abc")
PARTS = Call("pmod", (column("p"), Literal(3, LONG)), LONG)
ROWS = 6_000


def below(key: Column, value: int) -> Expr:
    return Comparison("<", key, Literal(value, LONG))


QUERIES = workload_view([And((below(A, 20), below(B, high))) for high in (10, 20, 30)])


def partitioned_rows() -> Sample:
    """Three horizontal partitions, and rows whose value is NULL."""
    rng = np.random.default_rng(3)
    columns: dict[Expr, pa.Array] = {key: pa.array(rng.integers(0, 100, ROWS)) for key in (A, B, C)}
    number = np.minimum(rng.integers(0, 20, ROWS) // 6, 3).astype(np.int32)
    bits = np.stack([_true(atom, columns) for atom in QUERIES.atoms], axis=1)
    return Sample(bits, columns, 1.0, number, (0, 1, 2), PARTS)


def _true(atom: Expr, columns: dict[Expr, pa.Array]) -> np.ndarray:
    assert isinstance(atom, Comparison)
    assert isinstance(atom.right, Literal)
    assert atom.op == "<"
    found: np.ndarray = columns[atom.left].to_numpy() < atom.right.value
    return found


def test_one_tree_has_the_blocks_of_a_tree_for_each_partition() -> None:
    sample = partitioned_rows()
    assignment = fit_layout("hyper", TableView(sample, 100), None, {}).group.assignment
    assert isinstance(assignment, Partitioned)
    tree = one_tree(assignment)
    assert tree is not None
    assert tree.blocks == assignment.blocks > 50
    numbers = block_numbers(assignment, sample)
    assert (block_numbers(tree, with_partition_values(sample, PARTS)) == numbers).all()
    assert (numbers[sample.partition == 3] == tree.blocks - 1).all(), "NULL goes to the last block"
    assert len(list(partition_roots(tree.root, PARTS))) == 4
    assert list(partition_roots(tree.root, None)) == [tree.root]


def test_what_is_no_tree_stays_none() -> None:
    grid = Grid((Dimension(B, (5,)),), np.zeros(3, np.int32), 1)
    assert one_tree(grid) is None
    assert one_tree(Partitioned(A, (1, 2), (Tree(0, 1), grid))) is None
    whole = Tree(Split(below(A, 1), 0, 1), 2)
    assert one_tree(whole) is whole


def test_blocks_of_two_partitions_are_never_pooled() -> None:
    sample = with_partition_values(partitioned_rows(), PARTS)
    tree = one_tree(fit_layout("hyper", TableView(sample, 100), None, {}).group.assignment)
    assert tree is not None
    limits = AdaptLimits(100, most_given_up=1.0)
    prices = Prices(np.full(len(QUERIES.formulas), 50.0), 0.1)
    numbers = block_numbers(tree, sample, QUERIES.atoms)
    units = np.unique(numbers)
    pools = []
    for by in (PARTS, None):
        found = adapt_tree(LaidOut(tree, by=by), sample, QUERIES, prices, limits)
        inside = [np.isin(numbers, units[change.units]) for change in found.changes]
        assert sample.partition is not None
        pools.append([set(sample.partition[rows].tolist()) for rows in inside])
    assert len(pools[0]) == 3
    assert all(len(pool) == 1 for pool in pools[0])
    assert any(len(pool) > 1 for pool in pools[1]), "without partitions they would be"
    adapted = adapt_tree(LaidOut(tree, by=PARTS), sample, QUERIES, prices, limits)
    assert len(list(partition_roots(adapted.tree.root, PARTS))) == 4, "and so it can be adapted again"
