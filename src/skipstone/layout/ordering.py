"""An order of bit vectors in which neighbours share their bits.

Section 4.1.2 of "Self-organising layouts for Delta" (thesis): clusters of rows are numbered so that a block
with rows of several consecutive clusters still has few bits in its union vector. That is a travelling
salesman's tour with the Hamming distance, which obeys the triangle inequality, so that visiting a minimum
spanning tree in preorder is at most twice as long as the best tour.

The tree is grown by Prim's algorithm from the vector with the fewest bits. Each step takes one vector
operation over all vertices and nothing but the current distances is kept: O(n² m) time for n vectors of m
bits, O(n) memory besides the vectors. ``weights`` make some bits count more than others.

>>> order_vectors(np.array([[1, 1, 0], [0, 0, 0], [1, 1, 1], [0, 0, 1]], bool)).tolist()
[1, 3, 0, 2]
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["order_vectors"]

Bits = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


def order_vectors(vectors: Bits, weights: Floats | None = None) -> npt.NDArray[np.int64]:
    """The indices of the vectors in the order of the tour; ties go to the lower index."""
    if not len(vectors):
        return np.zeros(0, np.int64)
    parent, joined = _spanning_tree(vectors, np.ones(vectors.shape[1]) if weights is None else weights)
    children: list[list[int]] = [[] for _ in parent]
    for vertex in joined[1:]:
        children[parent[vertex]].append(vertex)
    tour: list[int] = []
    stack = [joined[0]]
    while stack:
        vertex = stack.pop()
        tour.append(vertex)
        stack += reversed(children[vertex])
    return np.array(tour, np.int64)


def _spanning_tree(vectors: Bits, weights: Floats) -> tuple[list[int], list[int]]:
    """The parent of each vertex, and the vertices in the order in which they joined the tree."""
    values = vectors.astype(np.float64)
    own = values @ weights
    nearest = int(np.argmin(own))
    distance: Floats = np.full(len(vectors), np.inf)
    parent = np.full(len(vectors), nearest, np.int64)
    outside = np.ones(len(vectors), np.bool_)
    joined: list[int] = []
    for _ in range(len(vectors)):
        joined.append(nearest)
        outside[nearest] = False
        # |u xor v| = |u| + |v| - 2 |u and v|
        away = own + own[nearest] - 2 * (values @ (values[nearest] * weights))
        closer = outside & (away < distance)
        distance[closer], parent[closer] = away[closer], nearest
        distance[nearest] = np.inf
        nearest = int(np.argmin(np.where(outside, distance, np.inf)))
    return parent.tolist(), joined
