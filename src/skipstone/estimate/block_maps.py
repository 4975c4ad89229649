"""Block maps of a simulation: for each layout its blocks, with the rows to expect and how often each is read.

They show before a rewrite what the blocks after it would look like.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skipstone.estimate.advice import CURRENT_LAYOUT
from skipstone.estimate.cost_inputs import CostInputs, known_files, read_now
from skipstone.estimate.prepared import Prepared
from skipstone.layout.assignment import Numbers, blocks_of
from skipstone.layout.contract import Design
from skipstone.layout.numbers import block_numbers
from skipstone.layout.simulate import virtual_blocks
from skipstone.pruning.blocks import BlockSet, Counts, Feature
from skipstone.pruning.prune import prune

__all__ = ["BlockMap", "block_maps"]

Floats = npt.NDArray[np.float64]
_MOST_QUERIES = 200
_MOST_BLOCKS = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class BlockMap:
    """``rows`` expected in each block, and ``times`` that queries read it, by their weights."""

    rows: Floats
    times: Floats

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return {"rows": np.round(self.rows).astype(int).tolist(), "times": np.round(self.times, 3).tolist()}


def block_maps(prepared: Prepared, designs: Mapping[str, Design], inputs: CostInputs) -> dict[str, BlockMap]:
    """The map of each fitted layout, and that of the current one: its files, by what the catalog knows.

    If it does not know all files, they are shown by the rows that were sampled of each file. Of very
    many queries the heaviest count. Column groups have no blocks in common, and so no map.
    """
    found = {}
    sample, queries = prepared.view.sample, prepared.workload.queries
    for name, design in designs.items():
        if len(design.groups) > 1:
            continue
        numbers = block_numbers(design.group.assignment, sample, queries.atoms)
        found[name] = _map(
            prepared, numbers, prepared.judging_features(design), blocks_of(design.group.assignment)
        )
    found[CURRENT_LAYOUT] = _current(prepared, inputs)
    return {name: it for name, it in found.items() if len(it.rows) <= _MOST_BLOCKS}


def _current(prepared: Prepared, inputs: CostInputs) -> BlockMap:
    known = known_files(prepared.snapshot.files, prepared.file_indices, inputs)
    if len(known.file_indices) < len(prepared.file_indices):
        files = prepared.drawn.file_of
        return _map(prepared, files, prepared.workload.features, len(prepared.file_indices))
    view, times = prepared.asked.view, np.zeros(len(known.entries))
    for index in _heaviest(view.weights):
        times += view.weights[index] * read_now(view.filters[index], known, inputs)
    return BlockMap(inputs.catalog.blocks.rows[known.entries].astype(np.float64), times)


def _heaviest(weights: Floats) -> Counts:
    return np.argsort(-weights, kind="stable")[:_MOST_QUERIES]


def _map(prepared: Prepared, numbers: Numbers, features: Sequence[Feature], size: int) -> BlockMap:
    """Blocks without a sampled row stay empty and unread."""
    sample, view = prepared.view.sample, prepared.asked.view
    blocks: BlockSet = virtual_blocks(numbers, sample, prepared.workload.queries, features)
    used = np.unique(numbers)
    size = max(size, int(used[-1]) + 1 if len(used) else 0)
    scale = prepared.total_rows / max(len(sample), 1)
    rows, times = np.zeros(size), np.zeros(size)
    rows[used] = np.bincount(numbers, minlength=size)[used] * scale
    for index in _heaviest(view.weights):
        times[used] += view.weights[index] * ~prune(view.filters[index], blocks).skip
    return BlockMap(rows, times)
