"""A table that is open for reading: its snapshot, and data frames over some of its files."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from pyspark.sql import Column, DataFrame, SparkSession

from skipstone.catalog import Catalog
from skipstone.catalog.files import Files
from skipstone.catalog.joined_store import JoinedReplicas, load_joined
from skipstone.catalog.replica_store import FolderStore, load_replicas
from skipstone.catalog.replicas import HorizontalPartition, Replicas, replicas_of
from skipstone.catalog.snapshot import Snapshot
from skipstone.errors import SkipstoneError
from skipstone.pruning.blocks import Counts
from skipstone.spark.bridge.janino import new_instance
from skipstone.spark.bridge.jvm import JavaObject
from skipstone.spark.delta_settings import has_delta
from skipstone.spark.engine.engine import Engine
from skipstone.spark.failures import SPARK_FAILURES, storage_reason

__all__ = ["OpenTable", "open_handle", "open_table", "packed_bits"]


@dataclass(frozen=True, slots=True, eq=False)
class OpenTable:
    """A snapshot with the engine that reads it. Only this package uses ``jvm_files`` and ``jvm_opener``."""

    engine: Engine
    snapshot: Snapshot
    jvm_files: JavaObject
    jvm_opener: JavaObject

    @property
    def root(self) -> str:
        """Where the table lies."""
        return self.snapshot.root

    @property
    def files(self) -> Files:
        """The table's files."""
        return self.snapshot.files

    @property
    def file_indices(self) -> Counts:
        """The indices of all files."""
        return np.arange(len(self.files))

    @property
    def catalog(self) -> Catalog:
        """What is known about the table's blocks, as last read."""
        return self.engine.catalog(self.root)

    @property
    def store(self) -> FolderStore:
        """Where the catalog is kept."""
        return self.engine.store(self.root)

    @property
    def replicas(self) -> Replicas:
        """The table's replicas, as last read."""
        return self.engine.replicas(self.root)

    def stored_replicas(self) -> Replicas:
        """The table's replicas, as they are stored now."""
        return load_replicas(self.store, self.root, self.replicas)

    def stored_joined(self) -> JoinedReplicas:
        """The joined replicas around the table, as they are stored now."""
        return load_joined(self.store, self.root)

    @property
    def state(self) -> str:
        """What identifies the table's rows and columns: a digest of its files and its schema."""
        return str(self.jvm_files.state())

    def partition(self, part: HorizontalPartition) -> OpenTable:
        """The files of a horizontal partition of a replica, to be read as those of the table."""
        entries = self.engine.runtime.entries(replicas_of((part,)))
        return open_handle(self.engine, self.jvm_files.ofReplicas(entries), self.jvm_opener)

    def refresh(self) -> None:
        """Read the table's catalog anew; raises when it is unreadable."""
        self.engine.refresh(self.root)

    def frame(self, indices: Counts, session: SparkSession | None = None) -> DataFrame:
        """All rows of the files at these indices, those behind deletion vectors included."""
        chosen = session or self.engine.spark
        bits = packed_bits(indices, len(self.files))
        return DataFrame(self.jvm_files.frame(chosen._jsparkSession, bits), chosen)

    def live(self, indices: Counts, session: SparkSession | None = None) -> DataFrame:
        """The rows that the table has in the files at these indices."""
        if not self.snapshot.is_delta:
            return self.frame(indices, session)
        chosen = session or self.engine.spark
        bits = packed_bits(indices, len(self.files))
        return DataFrame(self.jvm_files.live(chosen._jsparkSession, bits), chosen)

    def rows_in_log(self, indices: Counts) -> int | None:
        """How many rows the files at these indices have by Delta's log; None if it does not say."""
        if not self.snapshot.is_delta:
            return None
        known = int(self.jvm_files.rows(packed_bits(indices, len(self.files))))
        return None if known < 0 else known

    def no_rows(self, session: SparkSession | None = None) -> DataFrame:
        """The table's columns without any row: what expressions are resolved against."""
        return self.frame(np.zeros(0, np.int64), session)

    def per_file(self, session: SparkSession, aggregate: DataFrame) -> tuple[DataFrame, Counts]:
        """One row per file of an aggregate over a frame of this table, and the files' indices."""
        found = self.jvm_files.perFile(session._jsparkSession, aggregate._jdf)
        return DataFrame(found.rows(), session), _longs(found.files())

    def first_rows(self, session: SparkSession, frame: DataFrame, rows: int) -> DataFrame:
        """That many rows of each partition, which is each file where files are not split."""
        return DataFrame(self.jvm_files.firstRows(session._jsparkSession, frame._jdf, rows), session)

    def guarded(self, column: Column) -> Column:
        """The column, NULL where its evaluation fails."""
        return Column(self.jvm_opener.guarded(column._jc))


def packed_bits(indices: Counts, size: int) -> bytes:
    """A set of indices for the JVM's BitSet."""
    bits = np.zeros(size, np.bool_)
    bits[indices] = True
    return np.packbits(bits, bitorder="little").tobytes()


def open_table(engine: Engine, frame: DataFrame, name: str) -> OpenTable:
    """List the files of the one table that ``frame`` reads; ``name`` is for the error message."""
    opener = new_instance(
        engine.spark, "SkipstoneDeltaOpener" if has_delta(engine.spark) else "SkipstoneOpener"
    )
    try:
        handle = opener.open(frame._jdf)
    except SPARK_FAILURES as problem:
        raise SkipstoneError(
            f"The files of {name} cannot be listed ({storage_reason(problem)})."
        ) from problem
    if handle is None:
        raise SkipstoneError(f"{name} is not a Delta table or a directory of Parquet files.")
    found = open_handle(engine, handle, opener)
    if not found.root:
        raise SkipstoneError(f"{name} is several directories; a table is one.")
    return found


def open_handle(engine: Engine, handle: JavaObject, opener: JavaObject = None) -> OpenTable:
    """The table whose files the JVM has listed."""
    is_delta = "Delta" in handle.getClass().getSimpleName()
    paths = _texts(handle.paths())
    snapshot = Snapshot(
        root=handle.root(),
        format="delta" if is_delta else "parquet",
        schema=handle.schema(),
        partition_schema=handle.partitionSchema(),
        version=int(handle.version()),
        files=Files(paths, _longs(handle.sizes()), _longs(handle.times()), _vectors(handle)),
        locations=_texts(handle.absolutePaths()),
        partitions=_texts(handle.partitions()) if is_delta and paths else (),
    )
    return OpenTable(engine, snapshot, handle, opener or new_instance(engine.spark, "SkipstoneOpener"))


def _texts(data: bytes) -> tuple[str, ...]:
    """Texts from the JVM; each of them has at least one character, or all are none."""
    text = bytes(data).decode()
    return tuple(text.split("\0")) if text else ()


def _vectors(handle: JavaObject) -> tuple[str, ...]:
    """What identifies the deletion vector of each file, a text that is empty where there is none."""
    text = bytes(handle.vectors()).decode()
    # Files without a deletion vector are the rule.
    return tuple(text.split("\0")) if text.strip("\0") else ()


def _longs(data: bytes) -> Counts:
    """Numbers from the JVM."""
    return np.frombuffer(data, ">i8").astype(np.int64)
