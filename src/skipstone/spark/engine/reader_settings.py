"""The reader settings under which statistics hold."""

from __future__ import annotations

import re

import pyarrow.compute as pc

from skipstone.catalog.snapshot import Snapshot
from skipstone.predicate.expr import Column
from skipstone.predicate.joined_column import joined_column_of
from skipstone.predicate.partner import partners_in
from skipstone.predicate.types import Kind
from skipstone.pruning.blocks import BlockSet
from skipstone.spark.engine.open_table import OpenTable

__all__ = ["settings_of"]

_TIMESTAMPS = (Kind.TIMESTAMP, Kind.TIMESTAMP_NTZ)
_TIMESTAMP = re.compile(r'"(?:type|elementType|keyType|valueType)"\s*:\s*"timestamp(?:_ntz)?"')
_YEAR_1901 = -2_177_452_800_000_000


def settings_of(table: OpenTable, blocks: BlockSet) -> dict[str, str]:
    """The reader settings that statistics of some of the files depend on."""
    settings = table.engine.reader_settings()
    joined = any(partners_in(feature.predicate) for feature in blocks.features)
    joined = joined or any(joined_column_of(key) is not None for key in blocks.statistics)
    # What joined tables hold is not known here, so it counts as old.
    if not joined and not _has_old_timestamps(table.snapshot, blocks):
        del settings["user.timezone"]
    return settings


def _has_old_timestamps(snapshot: Snapshot, blocks: BlockSet) -> bool:
    """Whether what was read may depend on the JVM's time zone.

    Old writers and the legacy mode store timestamps before 1900 in the hybrid calendar, and Spark puts them
    into today's by that zone. Timestamps inside arrays and maps are not seen here and count as old.
    """
    known = [s for e, s in blocks.statistics.items() if isinstance(e, Column) and s.type.kind in _TIMESTAMPS]
    in_schema, in_paths = (len(_TIMESTAMP.findall(s)) for s in (snapshot.schema, snapshot.partition_schema))
    if in_schema - in_paths > len(known):
        return True
    return any(pc.any(pc.less(statistics.low, _YEAR_1901)).as_py() for statistics in known)
