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

An assignment that could not be written as SQL and as JSON, or that names blocks which it does not have,
cannot be made: that is a ValueError (:mod:`~skipstone.layout.assignment_checks`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skipstone.layout.assignment_checks import (
    check_count,
    check_number,
    check_numbers,
    check_predicate,
    check_values,
    check_vectors,
    check_writable,
    require,
)
from skipstone.predicate.expr import Expr, Value
from skipstone.pruning.blocks import Words

__all__ = [
    "MOST_DEPTH",
    "Assignment",
    "Clusters",
    "Dimension",
    "Grid",
    "Node",
    "Numbers",
    "Part",
    "Partitioned",
    "Split",
    "Tree",
    "VectorMap",
    "blocks_of",
]

Numbers = npt.NDArray[np.int32]
MOST_DEPTH = 200
"""Cuts on the way to a leaf at most: SQL and JSON that are nested much more deeply cannot be read."""


@dataclass(frozen=True, slots=True)
class Split:
    """Rows for which ``cut`` is TRUE go to ``yes``, all others to ``no``."""

    cut: Expr
    yes: Node
    no: Node

    def __post_init__(self) -> None:
        """Refuse what is no predicate."""
        check_predicate(self.cut)


Node = Split | int
"""A split, or the number of a block."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A decision tree whose leaves are blocks."""

    root: Node
    blocks: int

    def __post_init__(self) -> None:
        """Refuse leaves that are no blocks, and too deep a tree."""
        check_count(self.blocks, "blocks")
        stack: list[tuple[Node, int]] = [(self.root, 0)]
        while stack:
            node, depth = stack.pop()
            require(depth <= MOST_DEPTH, f"a tree is at most {MOST_DEPTH} cuts deep")
            if isinstance(node, Split):
                stack += [(node.yes, depth + 1), (node.no, depth + 1)]
            else:
                check_number(node, self.blocks, "leaf")


@dataclass(frozen=True, slots=True)
class Dimension:
    """Buckets of an ordered expression: 0 for NULL, else 1 + the number of bounds that are <= the value.

    ``bounds`` are strictly increasing canonical values of the expression's type; NaN is above all.
    """

    expr: Expr
    bounds: tuple[Value, ...]

    def __post_init__(self) -> None:
        """Refuse bounds that are out of order or of another type."""
        check_writable(self.expr)
        check_values(self.expr, self.bounds, "bounds")

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

    def __post_init__(self) -> None:
        """Refuse buckets that there are not, and a vector that occurs twice."""
        check_vectors(self.features, self.vectors)
        check_count(self.buckets, "buckets")
        check_numbers(self.bucket_of, len(self.vectors), self.buckets, "bucket_of")
        check_number(self.otherwise, self.buckets, "otherwise")

    def same_as(self, other: Clusters) -> bool:
        """Whether both put all rows into the same buckets."""
        return self is other or (
            self.features == other.features
            and (self.otherwise, self.buckets) == (other.otherwise, other.buckets)
            and np.array_equal(self.vectors, other.vectors)
            and np.array_equal(self.bucket_of, other.bucket_of)
        )


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Cells in row-major order (the last dimension varies fastest) and the block of each.

    At most one of the dimensions is a :class:`Clusters`.
    """

    dimensions: tuple[Dimension | Clusters, ...]
    block_of: Numbers
    blocks: int

    def __post_init__(self) -> None:
        """Refuse a table that has not one block for each cell."""
        require(len(self.dimensions) > 0, "a grid has at least one dimension")
        require(sum(isinstance(each, Clusters) for each in self.dimensions) <= 1, "a grid has one Clusters")
        check_count(self.blocks, "blocks")
        cells = math.prod(dimension.buckets for dimension in self.dimensions)
        check_numbers(self.block_of, cells, self.blocks, "block_of")

    @property
    def clusters(self) -> Clusters | None:
        """The dimension of feature vectors, if there is one."""
        return next((each for each in self.dimensions if isinstance(each, Clusters)), None)


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

    def __post_init__(self) -> None:
        """Refuse blocks that there are not, and a vector that occurs twice."""
        check_vectors(self.features, self.vectors)
        check_count(self.blocks, "blocks")
        check_numbers(self.first, len(self.vectors), self.blocks, "first")
        check_numbers(self.ways, len(self.vectors), self.blocks + 1, "ways")
        require(bool((self.ways > 0).all()), "each vector has at least one block")
        last = self.first.astype(np.int64) + self.ways
        require(bool((last <= self.blocks).all()), "a vector is spread over blocks that there are not")
        check_number(self.otherwise, self.blocks, "otherwise")


Part = Tree | Grid | VectorMap
"""What rows of one horizontal partition are placed by."""


@dataclass(frozen=True, slots=True, eq=False)
class Partitioned:
    """An assignment for each value of ``by``; their block numbers follow one another.

    Rows of a value that is not listed, NULL included, go to one further block at the end. One join finds the
    feature vectors of all parts, so these share their features: the same ``spread`` in all vector maps, and
    the same clusters in all grids.
    """

    by: Expr
    values: tuple[Value, ...]
    parts: tuple[Part, ...]

    def __post_init__(self) -> None:
        """Refuse values out of order, and parts that one join cannot serve."""
        check_writable(self.by)
        check_values(self.by, self.values, "values")
        require(0 < len(self.values) == len(self.parts), "each value has one part, and there is one at least")
        require(all(isinstance(part, Part) for part in self.parts), "horizontal partitions are not nested")
        maps = [part for part in self.parts if isinstance(part, VectorMap)]
        require(
            all((part.features, part.spread) == (maps[0].features, maps[0].spread) for part in maps),
            "vector maps of horizontal partitions have the same features, spread alike",
        )
        clusters = self.clusters
        require(
            all(clusters[0].same_as(other) for other in clusters[1:]),
            "horizontal partitions have no clusters of their own",
        )

    @property
    def clusters(self) -> tuple[Clusters, ...]:
        """The clusters of the parts, which are all the same."""
        found = (part.clusters for part in self.parts if isinstance(part, Grid))
        return tuple(each for each in found if each is not None)

    @property
    def blocks(self) -> int:
        """All blocks, the one for unlisted values included."""
        return sum(part.blocks for part in self.parts) + 1


Assignment = Part | Partitioned


def blocks_of(assignment: Assignment) -> int:
    """How many blocks an assignment has; their numbers start at 0."""
    return assignment.blocks
