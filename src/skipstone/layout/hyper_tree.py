"""Growing a hyper-partitioning tree: level by level, with blocks of equal size.

"Robust Data Partitioning for Ad-hoc Query Processing" (Nguyen, MIT 2015), section 3.2. The tree is a k-d tree
with heterogeneous branching: each node has a discriminator of its own. Who chooses it is a
:class:`Discriminator`; this module sees to sizes.

In the thesis every leaf is at depth floor(log2(D/P)) and each cut is a median, so the number of blocks is a
power of two. Here a node is given a number of blocks and hands it on: one of ``k`` blocks is cut where
``ceil(k/2)/k`` of its rows lie to the left, and after the cut each side gets the blocks that its rows are
worth. With a power of two these are the thesis's medians and its full tree. With any other number there are
as many blocks as were wanted, and they are as equal; a lopsided cut (skew, few values) costs no equality
further down.

How equal: where values can be cut anywhere, sampled blocks differ by two rows. A cut of two blocks leaves at
least a fifth of their rows on either side, so a block has from 2/5 to 8/5 of the rows that a block of its
parent has on average. A node that no attribute can cut is one block, however many rows it has.

Cost: each level sorts the sampled rows by one attribute, node by node: n log n log k for n rows and k blocks.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from skipstone.layout.allocation import Allocation
from skipstone.layout.assignment import Node, Split, Tree
from skipstone.layout.attributes import Attribute, Rows
from skipstone.layout.nearest_cut import Cut
from skipstone.predicate.expr import Expr

__all__ = ["Choice", "Discriminator", "GrownTree", "OpenNode", "grow_tree"]


@dataclass(frozen=True, slots=True, eq=False)
class OpenNode:
    """A node that is to be cut: its sampled rows, and the blocks they are to become.

    ``cuts`` are how often each attribute was cut on the way to it, ``coverage`` its share of all blocks.
    """

    rows: Rows
    blocks: int
    cuts: Rows
    coverage: float = 1.0

    @property
    def depth(self) -> int:
        """From 1 on."""
        return int(self.cuts.sum()) + 1

    @property
    def share(self) -> float:
        """The share of the rows that should go to the left."""
        return (self.blocks + 1) // 2 / self.blocks


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """The number of a node's discriminator, where it is cut, and the predicate of that cut."""

    attribute: int
    cut: Cut
    predicate: Expr


class Discriminator(Protocol):
    """Chooses by which attribute, and where, a node is cut."""

    def choose(self, node: OpenNode, allocation: Allocation) -> Choice | None:
        """The choice, given what the nodes before have got; None if no attribute can cut the node."""
        ...

    def made(self, node: OpenNode, choice: Choice) -> None:
        """A node was cut so, by this choice or another's."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class GrownTree:
    """A tree with the sampled rows of each of its leaves, which are numbered from left to right.

    ``depth`` is the longest way to a leaf, ``uncut`` how many leaves should have been more than one block.
    """

    tree: Tree
    leaves: tuple[Rows, ...]
    allocation: Allocation
    depth: int
    uncut: int


@dataclass(slots=True, eq=False)
class _Growing:
    node: OpenNode
    choice: Choice | None = None
    sides: list[_Growing] = field(default_factory=list)


def grow_tree(attributes: tuple[Attribute, ...], blocks: int, discriminator: Discriminator) -> GrownTree:
    """Cut the rows of the attributes into about so many blocks, and never into more than there are rows."""
    rows = np.arange(len(attributes[0].codes), dtype=np.int64)
    wanted = max(1, min(blocks, len(rows)))
    # From as many values as blocks on, more make no difference.
    allocation = Allocation(len(attributes), [min(len(each.values), wanted) for each in attributes])
    root = _Growing(OpenNode(rows, wanted, np.zeros(len(attributes), np.int64)))
    waiting = deque([root])
    while waiting:
        growing = waiting.popleft()
        node = growing.node
        if node.blocks <= 1:
            continue
        choice = discriminator.choose(node, allocation)
        if choice is None:
            continue
        growing.choice = choice
        allocation.add(choice.attribute, node.coverage)
        discriminator.made(node, choice)
        growing.sides = [_Growing(side) for side in _sides(attributes[choice.attribute], node, choice)]
        waiting.extend(growing.sides)
    return _grown(root, allocation)


def _sides(attribute: Attribute, node: OpenNode, choice: Choice) -> tuple[OpenNode, OpenNode]:
    left = attribute.codes[node.rows] <= choice.cut.code
    worth = node.blocks * choice.cut.rows / len(node.rows)
    blocks = min(node.blocks - 1, max(1, int(worth + 0.5)))
    cuts = node.cuts.copy()
    cuts[choice.attribute] += 1
    each = node.coverage / node.blocks
    return (
        OpenNode(node.rows[left], blocks, cuts, blocks * each),
        OpenNode(node.rows[~left], node.blocks - blocks, cuts, (node.blocks - blocks) * each),
    )


def _grown(root: _Growing, allocation: Allocation) -> GrownTree:
    leaves: list[OpenNode] = []

    def built(growing: _Growing) -> Node:
        if growing.choice is None:
            leaves.append(growing.node)
            return len(leaves) - 1
        yes, no = growing.sides
        return Split(growing.choice.predicate, built(yes), built(no))

    tree = Tree(built(root), len(leaves))
    return GrownTree(
        tree=tree,
        leaves=tuple(leaf.rows for leaf in leaves),
        allocation=allocation,
        depth=max(leaf.depth for leaf in leaves) - 1,
        uncut=sum(leaf.blocks > 1 for leaf in leaves),
    )
