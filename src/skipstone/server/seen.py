"""A table as it was when it was last looked at: facts for lists, and its blocks for the block map."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from skipstone.catalog import Catalog
from skipstone.catalog.decide import decide
from skipstone.catalog.files import Files
from skipstone.pruning.blocks import Counts
from skipstone.workload.logged_scans import LoggedScan

__all__ = ["MOST_FILTERS", "Seen", "times_read"]

MOST_FILTERS = 200
_MOST_TOLD = 4
"""A map of 100,000 blocks is some megabytes of text."""
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """Facts as JSON, and what is known about the blocks; ``entries`` has the catalog's index of each file.

    ``times`` is how often each block would be read by the newest logged queries, out of ``asked``; None
    without any.
    """

    facts: Mapping[str, object]
    version: int
    files: Files
    catalog: Catalog
    entries: Counts
    asked: float = 0.0
    times: Floats | None = None
    _told: dict[object, bytes] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.files)

    def told(self, what: object, make: Callable[[], str]) -> bytes:
        """A text made of these blocks, as it is sent; it stays the same until the table is looked at anew."""
        if (known := self._told.get(what)) is not None:
            return known
        text = make().encode()
        if len(self._told) >= _MOST_TOLD:
            self._told.clear()
        self._told[what] = text
        return text


def times_read(
    scans: Sequence[LoggedScan], catalog: Catalog, entries: Counts, settings: Mapping[str, str]
) -> tuple[float, Floats | None]:
    """How often each file would be read by the logged queries, and how many of them were looked at.

    Of very many different filters, the most frequent count.
    """
    weights: dict[object, float] = {}
    filters = {}
    for scan in scans:
        weights[scan.filter] = weights.get(scan.filter, 0.0) + scan.count
        filters[scan.filter] = scan.filter
    chosen = sorted(filters.values(), key=lambda filter_: -weights[filter_])[:MOST_FILTERS]
    if not chosen:
        return 0.0, None
    times = np.zeros(len(catalog) + 1)
    for filter_ in chosen:
        # The last place is that of files without an entry, which are always read.
        read = np.append(~decide(filter_, catalog, settings).skip, True)
        times += weights[filter_] * read
    return float(sum(weights[filter_] for filter_ in chosen)), times[entries]
