"""Random assignments over the columns of :mod:`tests.layout.cases`, sound ones and ones that may not be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from hypothesis import strategies as st
from tests.layout.cases import CITY, DAY, KIND, KINDS, PRICE, REGION, SHIPPED, compare

from skipstone.layout.assignment import (
    Assignment,
    Clusters,
    Dimension,
    Grid,
    Node,
    Part,
    Partitioned,
    Split,
    Tree,
    VectorMap,
)
from skipstone.predicate.evaluate import order_key
from skipstone.predicate.expr import And, Column, Comparison, Expr, IsNull, Match, Not, Or, Value

BOUNDS: dict[Column, st.SearchStrategy[Value]] = {
    DAY: st.integers(0, 1000),
    SHIPPED: st.integers(0, 1000),
    KIND: st.sampled_from(KINDS) | st.text("a'\\{$\n☃\U0001f600", max_size=3),
    PRICE: st.floats(allow_nan=True, width=32).map(lambda value: value + 0.0),
    REGION: st.integers(-1, 7),
}
_ANY: st.SearchStrategy[Any] = st.one_of(
    st.integers(), st.floats(), st.text(max_size=2), st.booleans(), st.none(), st.binary(max_size=2)
)


def dimensions() -> st.SearchStrategy[Dimension]:
    def of(column: Column) -> st.SearchStrategy[Dimension]:
        values = st.lists(BOUNDS[column], max_size=4, unique_by=order_key)
        return values.map(lambda found: Dimension(column, tuple(sorted(found, key=order_key))))

    return st.sampled_from(list(BOUNDS)).flatmap(of)


def predicates() -> st.SearchStrategy[Expr]:
    atoms: st.SearchStrategy[Expr] = st.one_of(
        st.builds(lambda op, n: compare(op, DAY, n), st.sampled_from(("<", "=", ">=")), st.integers(0, 1000)),
        st.builds(lambda n: compare("=", REGION, n), st.integers(0, 7)),
        st.builds(lambda text: Match("contains", KIND, text), st.text("kind 1'\\%", min_size=1, max_size=4)),
        st.sampled_from((IsNull(SHIPPED), Comparison("<", DAY, SHIPPED), compare("=", CITY, "Bonn"))),
    )
    return st.one_of(
        atoms,
        atoms.map(Not),
        st.builds(lambda left, right: And((left, right)), atoms, atoms),
        st.builds(lambda left, right: Or((left, right)), atoms, atoms),
    )


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    blocks = draw(st.integers(1, 5))

    def node(depth: int) -> Node:
        if not depth or draw(st.booleans()):
            return draw(st.integers(0, blocks - 1))
        return Split(draw(predicates()), node(depth - 1), node(depth - 1))

    return Tree(node(4), blocks)


def numbers(draw: st.DrawFn, count: int, below: int) -> np.ndarray:
    return np.array(draw(st.lists(st.integers(0, below - 1), min_size=count, max_size=count)), np.int32)


def vectors_of(draw: st.DrawFn, features: int) -> np.ndarray:
    words = (features + 63) // 64
    found = draw(st.lists(st.integers(0, 2 ** min(features, 12) - 1), max_size=6, unique=True))
    return np.array([[word] + [0] * (words - 1) for word in found], np.uint64).reshape(-1, words)


@st.composite
def clusters(draw: st.DrawFn) -> Clusters:
    features = tuple(draw(st.lists(predicates(), min_size=1, max_size=3)))
    vectors, buckets = vectors_of(draw, len(features)), draw(st.integers(1, 3))
    return Clusters(
        features, vectors, numbers(draw, len(vectors), buckets), draw(st.integers(0, buckets - 1)), buckets
    )


@st.composite
def grids(draw: st.DrawFn, shared: Clusters | None = None) -> Grid:
    axes: list[Dimension | Clusters] = [*draw(st.lists(dimensions(), max_size=2))]
    if shared is not None or not axes:
        axes.insert(draw(st.integers(0, len(axes))), shared or draw(dimensions() | clusters()))
    blocks = draw(st.integers(1, 4))
    cells = math.prod(axis.buckets for axis in axes)
    return Grid(tuple(axes), numbers(draw, cells, blocks), blocks)


@st.composite
def vector_maps(
    draw: st.DrawFn, features: tuple[Expr, ...] | None = None, spread: Dimension | None = None
) -> VectorMap:
    features = features or tuple(draw(st.lists(predicates(), min_size=1, max_size=3)))
    vectors = vectors_of(draw, len(features))
    blocks = draw(st.integers(1, 4))
    first = numbers(draw, len(vectors), blocks)
    ways = np.array([draw(st.integers(1, blocks - start)) for start in first.tolist()], np.int32)
    return VectorMap(features, vectors, first, ways, draw(st.integers(0, blocks - 1)), blocks, spread)


@st.composite
def partitioned(draw: st.DrawFn) -> Partitioned:
    values = tuple(sorted(draw(st.lists(BOUNDS[REGION], min_size=1, max_size=4, unique=True))))  # type: ignore[type-var]
    features = tuple(draw(st.lists(predicates(), min_size=1, max_size=3)))
    spread = draw(st.none() | dimensions())
    shared = draw(clusters())
    kinds = st.one_of(trees(), grids(shared=shared), grids(), vector_maps(features, spread))
    parts: list[Part] = []
    for _ in values:
        part = draw(kinds)
        own = isinstance(part, Grid) and part.clusters not in (None, shared)
        parts.append(Tree(0, 1) if own else part)
    return Partitioned(REGION, values, tuple(parts))


def assignments() -> st.SearchStrategy[Assignment]:
    return st.one_of(trees(), grids(), vector_maps(), partitioned())


def odd_values() -> st.SearchStrategy[tuple[Value, ...]]:
    return st.lists(_ANY, max_size=3).map(tuple)
