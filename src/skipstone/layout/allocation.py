"""How much of a tree's partitioning each attribute gets, and how evenly.

"Robust Data Partitioning for Ad-hoc Query Processing" (Nguyen, MIT 2015), sections 3.2.3 and 6.1.1. A node
that cuts attribute i splits it two ways on the part of the table that the node covers:

    allocation(i) = sum over the nodes j that cut i of 2 * coverage(j)
    robustness    = mean of the allocations / their standard deviation

The root covers all of the table. In a full tree a node at depth d covers 1/2^(d-1); here it covers its share
of the blocks, which is the same where their number is a power of two.

The tree of figure 3.3: attribute 1 at the root, 2 and 3 below it, then 2, 4, 3 and 4.

>>> Allocation(4).with_nodes([(0, 1.0), (1, 0.5), (2, 0.5), (1, 0.25), (3, 0.25), (2, 0.25), (3, 0.25)])
Allocation(2, 1.5, 1.5, 1)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["WAYS", "Allocation", "robustness"]

WAYS = 2
"""Into how many parts a node splits an attribute: n_ij of the thesis."""
_ROUNDING = 1e-9


class Allocation:
    """The allocations of all attributes while a tree grows."""

    __slots__ = ("_values", "shares")

    def __init__(self, attributes: int, values: Sequence[int] = ()) -> None:
        """Nothing is allocated yet; ``values`` are how many values each attribute has."""
        self.shares: npt.NDArray[np.float64] = np.zeros(attributes)
        self._values = np.array(values or np.zeros(attributes), np.int64)

    def __repr__(self) -> str:
        return f"Allocation({', '.join(f'{share:g}' for share in self.shares)})"

    def add(self, attribute: int, coverage: float) -> None:
        """A node that covers this share of the table cuts this attribute."""
        self.shares[attribute] += WAYS * coverage

    def with_nodes(self, nodes: Iterable[tuple[int, float]]) -> Allocation:
        """The same with further nodes: the attribute and the coverage of each."""
        for attribute, coverage in nodes:
            self.add(attribute, coverage)
        return self

    def in_turn(self, coverage: float, cuts: npt.NDArray[np.int64]) -> Iterator[int]:
        """The attributes in the order in which they should cut a node, given how often each was cut above it.

        The least-allocated first; where allocations differ by less than the node gives, that counts as equal,
        and the attribute comes first that was cut least often on the way. For a first cut leaves half of
        the attribute's values to a block, and a second one on the same way only takes a quarter more away.
        """
        rest = self.least_first()
        while rest:
            limit = self.shares[rest[0]] + WAYS * coverage - _ROUNDING
            equal = [number for number in rest if self.shares[number] < limit]
            chosen = min(equal or rest[:1], key=lambda number: int(cuts[number]))
            rest.remove(chosen)
            yield chosen

    def least_first(self) -> list[int]:
        """The attributes, the least-allocated first; among equals those with few values, then by number.

        An attribute with few values can be cut only near the root, where nodes still have several of them.
        """
        # Shares are sums of fractions, in another order for each attribute; rounding makes equals equal.
        order: list[int] = np.lexsort((self._values, self.shares.round(9))).tolist()
        return order


def robustness(shares: npt.NDArray[np.float64]) -> float | None:
    """Mean by standard deviation; None if all are equal, which nothing exceeds."""
    deviation = float(np.std(shares)) if len(shares) else 0.0
    return float(np.mean(shares)) / deviation if deviation > 0 else None
