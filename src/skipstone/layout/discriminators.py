"""Which attribute cuts a node: the least-allocated one, or the next in turn as in a k-d tree.

Section 3.2.3 of the hyper-partitioning thesis ("Robust Data Partitioning for Ad-hoc Query Processing"), and
section 3.1.3 for the conventional k-d tree, in which all nodes of a level have the same discriminator and
levels take turns. In both an attribute that cannot cut a node gives way to the one that comes next.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from skipstone.layout.allocation import Allocation
from skipstone.layout.attributes import Attribute
from skipstone.layout.hyper_tree import Choice, OpenNode
from skipstone.layout.nearest_cut import nearest_cut

__all__ = ["Cyclic", "LeastAllocated", "first_cut"]


def first_cut(attributes: tuple[Attribute, ...], order: Iterable[int], node: OpenNode) -> Choice | None:
    """The cut by the first of these attributes that can cut the node."""
    for number in order:
        attribute = attributes[number]
        cut = nearest_cut(attribute.codes[node.rows], node.share)
        if cut is not None:
            return Choice(number, cut, attribute.cut(cut.code))
    return None


@dataclass(frozen=True, slots=True, eq=False)
class LeastAllocated:
    """The attribute that has got least so far: every attribute gets its fair share."""

    attributes: tuple[Attribute, ...]

    def choose(self, node: OpenNode, allocation: Allocation) -> Choice | None:
        """The least-allocated attribute that can cut the node."""
        return first_cut(self.attributes, allocation.in_turn(node.coverage, node.cuts), node)

    def made(self, node: OpenNode, choice: Choice) -> None:
        """The allocation says all."""


@dataclass(frozen=True, slots=True, eq=False)
class Cyclic:
    """The conventional k-d tree: the attribute of a node is that of its level."""

    attributes: tuple[Attribute, ...]

    def choose(self, node: OpenNode, allocation: Allocation) -> Choice | None:
        """The attribute of the level, or the next one that can cut the node."""
        del allocation
        count = len(self.attributes)
        start = (node.depth - 1) % count
        return first_cut(self.attributes, ((start + turn) % count for turn in range(count)), node)

    def made(self, node: OpenNode, choice: Choice) -> None:
        """The depth says all."""
