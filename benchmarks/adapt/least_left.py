"""What queries scan at least, however a table is adapted, if less than half of it is rewritten.

A file that is not rewritten is read by the same queries as before. Whatever is done with the others, at best
their rows are not read at all, so the files that stay decide: what they are read is least if just those stay
that queries read least for their size. The last of these may be rewritten in part, which no adaptation can
do, so it is a bound from below.

>>> least_left(np.array([1.0, 0.0, 0.5, 0.2]), np.array([10, 10, 10, 10]))  # the second and fourth stay
0.05
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["least_left"]

_MOST_REWRITTEN = 0.5


def least_left(
    read: npt.NDArray[np.float64],
    rows: npt.NDArray[np.int64],
    sizes: npt.NDArray[np.int64] | None = None,
) -> float:
    """The share of the rows that a query scans on average of files that stay, at least.

    ``read`` is the share of the queries that read each file, ``sizes`` its bytes, by default its rows.
    """
    weights = (rows if sizes is None else sizes).astype(np.float64)
    scanned = read * rows
    order = np.argsort(scanned / weights, kind="stable")
    left = (1.0 - _MOST_REWRITTEN) * weights.sum()
    before = np.cumsum(weights[order]) - weights[order]
    stays = np.clip((left - before) / weights[order], 0.0, 1.0)
    return float(stays @ scanned[order] / rows.sum())
