"""A table as it is at one version: what an action looks at, listed once."""

from __future__ import annotations

import json
from dataclasses import dataclass

from skipstone.catalog.column_names import ColumnNames
from skipstone.catalog.files import Files
from skipstone.catalog.logical_names import LogicalNames
from skipstone.pruning.blocks import Counts

__all__ = ["Snapshot"]


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """A table's root, format, schemas and files; ``version`` is Delta's, or -1.

    ``partitions`` has a text for each file of a Delta table, the same for the files of one partition.
    ``locations`` are the absolute paths of the files. Schemas are Spark's JSON.
    """

    root: str
    format: str
    schema: str
    partition_schema: str
    version: int
    files: Files
    locations: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.files)

    @property
    def is_delta(self) -> bool:
        """Whether files can be replaced in one atomic commit."""
        return self.format == "delta"

    @property
    def names(self) -> ColumnNames:
        """Which stored column a name means."""
        return ColumnNames.from_schema(self.schema)

    @property
    def logical_names(self) -> LogicalNames:
        """What a stored column is called in SQL."""
        return LogicalNames.of(self.names)

    @property
    def partition_columns(self) -> tuple[str, ...]:
        """The names of the partition columns."""
        return tuple(field["name"] for field in json.loads(self.partition_schema)["fields"])

    def has_columns_of(self, other: Snapshot) -> bool:
        """Whether both have the same columns."""
        return (self.schema, self.partition_schema) == (other.schema, other.partition_schema)

    def bytes_of(self, indices: Counts) -> int:
        """The stored bytes of the files at these indices."""
        return int(self.files.sizes[indices].sum())
