"""What a scan does with each block of its table, and why: it is read, skipped, or read from a replica.

Blocks are judged by their entries in the catalog, and then told in the order of the table's files. A file
without an entry is read, unless nothing without an entry is, or a replica has its rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from skipstone.actions.explain import pruned_by_spark
from skipstone.catalog.files import Files
from skipstone.pruning.masks import Flags
from skipstone.pruning.why_read import why_read
from skipstone.spark.bridge.question import Question
from skipstone.spark.bridge.scans import DecidedScan

__all__ = ["BlockStates", "block_states"]

READ, SKIPPED, PRUNED, UNKNOWN, REPLACED = range(5)
"""The states of a block; by name in docs/server.md."""


@dataclass(frozen=True, slots=True, eq=False)
class BlockStates:
    """The state of each block, and the number of its reason; -1 for none."""

    state: npt.NDArray[np.int8]
    reason: npt.NDArray[np.int64]
    reasons: list[dict[str, str]]

    def because(self, blocks: Flags, code: str, sentence: str) -> None:
        """Give a reason to those of the blocks that have none yet."""
        if (new := blocks & (self.reason < 0)).any():
            self.reason[new] = len(self.reasons)
            self.reasons.append({"code": code, "sentence": sentence})


def block_states(scan: DecidedScan, files: Files) -> BlockStates:
    """What became of each of a table's files."""
    found = _of_entries(scan)
    entries = files.indices_in(scan.catalog.files)
    # The last place is that of files without an entry.
    state, reason = np.append(found.state, UNKNOWN)[entries], np.append(found.reason, -1)[entries]
    told = BlockStates(state.astype(np.int8), reason, found.reasons)
    unknown = entries < 0
    if not (scan.figures.files_unindexed or scan.figures.failure):
        told.state[unknown] = PRUNED
    told.state[unknown & scan.replaced_of(files)] = REPLACED
    told.because(told.state == REPLACED, "REPLICA", "its rows are read from a replica")
    told.because(
        told.state == PRUNED,
        "LEFT_OUT_BY_SPARK",
        "partition values, or what Spark or Delta know of the file, rule it out",
    )
    if scan.figures.failure:
        told.because(np.ones(len(files), np.bool_), "FAILURE", scan.figures.failure)
    told.because(unknown, "NOT_INDEXED", "it has no entry: index to judge it")
    told.because(
        told.state == UNKNOWN, "OTHER_SETTINGS", "it was indexed under other settings of the Parquet reader"
    )
    told.because(told.state == READ, "NOT_RULED_OUT", "no condition of the query can rule it out")
    return told


def _of_entries(scan: DecidedScan) -> BlockStates:
    """The same for each entry of the catalog."""
    size = len(scan.catalog)
    told = BlockStates(np.full(size, PRUNED, np.int8), np.full(size, -1, np.int64), [])
    told.state[scan.offered] = READ
    if scan.question is None or scan.figures.failure:
        return told
    question, state = scan.question, told.state
    result = scan.decision(question).base
    partitions = frozenset(question.names.resolve((), name).path for name in scan.figures.partitions)
    pruned = pruned_by_spark(scan, question, partitions)
    foreign = scan.catalog.foreign(dict(question.settings)) & scan.offered
    state[scan.skipped & ~pruned] = SKIPPED
    state[scan.skipped & pruned] = PRUNED
    state[scan.replaced] = REPLACED
    state[foreign & (state == READ)] = UNKNOWN
    # What Spark leaves out too has the reason that skipstone would leave it out for.
    ruled_out = (state == SKIPPED) | ((state == PRUNED) & result.skip)
    for kind in (SKIPPED, PRUNED):
        mine = ruled_out & (state == kind)
        for number in np.unique(result.reason[mine]).tolist():
            why = result.reasons[number]
            told.because(mine & (result.reason == number), why.code.name, why.sentence)
    _why_read(scan, question, told)
    return told


def _why_read(scan: DecidedScan, question: Question, told: BlockStates) -> None:
    """The first reason for each block that is read."""
    result = scan.decision(question).base
    read = told.state == READ
    for why in why_read(question.filter, scan.catalog.blocks, result, read):
        told.because(why.blocks & read, why.code, why.sentence)
