"""Assignments: how a fitted layout maps a row to a block number.

An assignment is a plain value. The same one is evaluated by Spark, as native expressions, to rewrite a
table, to route newly inserted rows and to lay a sample out in virtual blocks; it is stored with the layout.

* :class:`Tree`: nested cuts, for the qd-tree.
* :class:`Grid`: quantile buckets of some expressions and a table from cells to blocks, for range, Z-order
  and Hilbert layouts; the curve only decides the order in which cells are gathered into blocks. One of its
  dimensions may be :class:`Clusters` of feature vectors instead.
* :class:`VectorMap`: the blocking map of SOP, from feature vectors to blocks.
* :class:`Partitioned`: one assignment inside each horizontal partition.

Every row gets a block: a cut that is not TRUE goes to ``no``, NULL has a bucket of its own, an unseen
vector goes to ``otherwise``, an unseen partition to its own last block.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skipstone.predicate.expr import Expr, Value
from skipstone.pruning.blocks import Words

__all__ = [
    "Assignment",
    "Clusters",
    "Dimension",
    "Grid",
    "Node",
    "Numbers",
    "Partitioned",
    "Split",
    "Tree",
    "VectorMap",
    "blocks_of",
]

Numbers = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Split:
    """Rows for which ``cut`` is TRUE go to ``yes``, all others to ``no``."""

    cut: Expr
    yes: Node
    no: Node


Node = Split | int
"""A split, or the number of a block."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A decision tree whose leaves are blocks."""

    root: Node
    blocks: int


@dataclass(frozen=True, slots=True)
class Dimension:
    """Buckets of an ordered expression: 0 for NULL, else 1 + the number of bounds that are <= the value.

    ``bounds`` are strictly increasing canonical values of the expression's type; NaN is above all.
    """

    expr: Expr
    bounds: tuple[Value, ...]

    @property
    def buckets(self) -> int:
        """How many buckets there are, that of NULL included."""
        return len(self.bounds) + 2


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """Buckets of feature vectors, packed as in union vectors: vector i is in ``bucket_of[i]``.

    A vector that was not seen is in bucket ``otherwise``.
    """

    features: tuple[Expr, ...]
    vectors: Words
    bucket_of: Numbers
    otherwise: int
    buckets: int


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Cells in row-major order (the last dimension varies fastest) and the block of each.

    At most one of the dimensions is a :class:`Clusters`.
    """

    dimensions: tuple[Dimension | Clusters, ...]
    block_of: Numbers
    blocks: int


@dataclass(frozen=True, slots=True, eq=False)
class VectorMap:
    """Feature vectors, packed as in union vectors, and where their rows go.

    Rows of vector ``i`` go to block ``first[i] + bucket * ways[i] // spread.buckets``: a vector with more
    rows than a block may hold is spread over ``ways[i]`` blocks along ``spread``. Where there are more blocks
    than buckets, a hash of the row spreads those of one bucket, and all rows when ``spread`` is None.
    ``ways`` is 1 for vectors with few rows.
    """

    features: tuple[Expr, ...]
    vectors: Words
    first: Numbers
    ways: Numbers
    otherwise: int
    blocks: int
    spread: Dimension | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Partitioned:
    """An assignment for each value of ``by``; their block numbers follow one another.

    Rows of a value that is not listed, NULL included, go to one further block at the end.
    """

    by: Expr
    values: tuple[Value, ...]
    parts: tuple[Assignment, ...]

    @property
    def blocks(self) -> int:
        """All blocks, the one for unlisted values included."""
        return sum(blocks_of(part) for part in self.parts) + 1


Assignment = Tree | Grid | VectorMap | Partitioned


def blocks_of(assignment: Assignment) -> int:
    """How many blocks an assignment has; their numbers start at 0."""
    return assignment.blocks
