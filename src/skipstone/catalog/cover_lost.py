"""Which horizontal partitions to read for base files that are missing, so that as few as possible stay lost.

Partitions that cover a common file exclude each other, so to take the best one first may leave a file without
any, although another choice covers all. Missing files are therefore looked at one by one, those that fewest
partitions cover first, and each of these is tried, the one that gains most first: a search for an exact
cover. Where all replicas have the same partitions, the first try is right; where many overlap, the best
choice of the first ``STEPS`` is taken.

>>> files = {0: frozenset({1, 2}), 1: frozenset({1}), 2: frozenset({2, 3})}
>>> cover_lost({1: (0, 1), 2: (0, 2), 3: (2,)}, files)
(2, 1)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

__all__ = ["STEPS", "cover_lost"]

STEPS = 2_000


def cover_lost(
    candidates: Mapping[int, Sequence[int]], files: Mapping[int, frozenset[int]], steps: int = STEPS
) -> tuple[int, ...]:
    """The partitions to read, no two of which cover a common file.

    ``candidates`` has the partitions of each missing file, best first, and ``files`` the files of each
    partition.
    """
    order = sorted(candidates, key=lambda file: (len(candidates[file]), file))
    best: tuple[int, ...] = ()
    fewest = len(order) + 1
    # Each entry: the position in the order, the files that are covered, the partitions, the files given up.
    stack: list[tuple[int, frozenset[int], tuple[int, ...], int]] = [(0, frozenset(), (), 0)]
    while stack and fewest and steps:
        position, taken, chosen, lost = stack.pop()
        steps -= 1
        while position < len(order) and order[position] in taken:
            position += 1
        if lost >= fewest:
            continue
        if position == len(order):
            best, fewest = chosen, lost
            continue
        stack.append((position + 1, taken, chosen, lost + 1))
        possible = [part for part in candidates[order[position]] if files[part].isdisjoint(taken)]
        stack += [(position + 1, taken | files[part], (*chosen, part), lost) for part in reversed(possible)]
    return best
