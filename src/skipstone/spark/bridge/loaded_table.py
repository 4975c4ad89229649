"""A registered table as it was last read: its catalog and its replicas, and what they say about a scan."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from skipstone.catalog import Catalog, stamp
from skipstone.catalog.choose_copies import Choice, Skips, choose_copies
from skipstone.catalog.decide import decide
from skipstone.catalog.joined_store import JoinedReplicas, joined_stamp
from skipstone.catalog.key_share import key_share
from skipstone.catalog.replica_store import replica_stamp
from skipstone.catalog.replicas import Replicas
from skipstone.predicate.expr import Expr
from skipstone.predicate.joined_column import column_states
from skipstone.predicate.normalize import normalize
from skipstone.predicate.partner import states_in
from skipstone.predicate.readable import readable
from skipstone.pruning.blocks import Counts
from skipstone.pruning.masks import Flags
from skipstone.pruning.reasons import PruneResult
from skipstone.spark.bridge.hadoop import HadoopStore
from skipstone.spark.bridge.question import Question

__all__ = ["Decided", "LoadedTable", "stored_names"]

_NONE: Flags = np.zeros(0, np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class Decided:
    """What a scan may skip in the base and, where there are replicas, in these, and which copies it reads."""

    base: PruneResult
    own: PruneResult | None = None
    choice: Choice | None = None

    def packed(self) -> bytes:
        """As the shim reads it."""
        chosen = _NONE if self.choice is None else self.choice.chosen
        return b"".join(map(_bits, (self.base.skip, chosen, _NONE if self.own is None else self.own.skip)))


def _bits(flags: Flags) -> bytes:
    """A set of numbers behind the number of its bytes."""
    packed = np.packbits(flags, bitorder="little").tobytes()
    return len(packed).to_bytes(4, "big") + packed


@dataclass(slots=True, eq=False)
class LoadedTable:
    """Its catalog and replicas, or the sentence that says why there is no catalog.

    ``outdated`` is one that could not be read anew when it was last looked at.
    """

    version: int
    catalog: Catalog
    replicas: Replicas
    store: HadoopStore
    problem: str = ""
    outdated: bool = False
    looked_at: float = field(default_factory=time.monotonic)
    joined_replicas: JoinedReplicas = field(default_factory=JoinedReplicas)
    base_entry: Counts = field(init=False)
    _shares: dict[tuple[Expr, tuple[tuple[str, str], ...]], float | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Find the base files that replicas cover."""
        self.base_entry = self.replicas.covered.indices_in(self.catalog.files)

    @property
    def names(self) -> tuple[str, ...]:
        """The stored files that it was read from."""
        return (*self.catalog.names, *self.replicas.names, *self.joined_replicas.names)

    @property
    def joined(self) -> tuple[str, ...]:
        """The tables that something is known about through joins, by their roots."""
        found: dict[str, None] = {}
        for blocks in (self.catalog.blocks, self.replicas.catalog.blocks):
            for feature in blocks.features:
                found.update(dict.fromkeys(states_in(feature.predicate)))
            for key in blocks.statistics:
                found.update(dict.fromkeys(column_states(key)))
        return tuple(found)

    def decide(self, question: Question) -> Decided:
        """What a scan skips, and which copies of the rows it reads."""
        base = decide(question.filter, self.catalog, question.settings)
        if not len(self.replicas):
            return Decided(base)
        own = decide(question.filter, self.replicas.catalog, question.settings)
        skips = Skips(base.skip, self.base_entry, own.skip)
        asked = (question.copies, question.schema, question.settings)
        return Decided(base, own, choose_copies(self.replicas, *asked, skips))

    def key_share(self, question: Question) -> str:
        """The share of the files with keys like those of one file; or a sentence. The key is the filter."""
        key = normalize(question.filter)
        asked = (key, tuple(sorted(question.settings.items())))
        if asked not in self._shares:
            self._shares[asked] = key_share(key, self.catalog, question.settings)
        found = self._shares[asked]
        return f"nothing is known about {readable(key)}" if found is None else repr(found)


def stored_names(store: HadoopStore) -> tuple[str, ...]:
    """What is stored now, as :attr:`LoadedTable.names` has it."""
    return (*stamp(store), *replica_stamp(store), *joined_stamp(store))
