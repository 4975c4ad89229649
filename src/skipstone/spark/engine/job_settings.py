"""The settings that skipstone's own jobs depend on, whatever the user has set in the session.

Each job runs in a copy of the user's session (:mod:`~skipstone.spark.engine.session_copy`) with one of the
groups below, so what a user sets for queries never changes what is measured, drawn, written or logged. None
means that the setting is removed. What a group does not name stays the user's: above all the settings by
which Spark reads values from files, which are stored with the statistics, and those by which it parses
expressions.

| job                                          | settings            |
|----------------------------------------------|---------------------|
| statistics, sampled values for value sets    | PER_FILE            |
| samples, feature vectors, counts of rows     | DRAWN               |
| the expressions in which rows are placed     | LENIENT             |
| rewriting, appending by a layout             | IN_PLACE            |
| copies of tables, conversions, row hashes    | EXACT               |
| the query log                                | QUERY_LOG           |
| footers                                      | none: no Spark job  |
"""

from __future__ import annotations

from collections.abc import Mapping

__all__ = [
    "AUTO_COMPACT",
    "DRAWN",
    "EXACT",
    "IN_PLACE",
    "LENIENT",
    "NO_DELTA_STATISTICS",
    "PER_FILE",
    "QUERY_LOG",
    "WIDE",
    "Settings",
]

Settings = Mapping[str, str | None]

AUTO_COMPACT = "spark.databricks.delta.autoCompact.enabled"
_MIGHTY = str(1 << 42)

_WHOLE: dict[str, str | None] = {
    # A row left out for a broken or missing file would be a row lost: where a file cannot be read, jobs fail.
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
}

_COLLECTED: dict[str, str | None] = {
    # The driver's code knows Arrow's ordinary types.
    "spark.sql.execution.arrow.useLargeVarTypes": "false",
    # A limit in rows only, the default, for batches of one row would take minutes.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
}

WIDE: dict[str, str | None] = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.constraintPropagation.enabled": "false",
}
"""For hundreds of expressions at once: outside of whole-stage code they are compiled piece by piece.

What holds of the rows of a plan is not worked out for them; that takes longer than anything else.
"""

LENIENT: dict[str, str | None] = {
    # NULL where evaluation fails. Only for what nothing is concluded from, such as the blocks of rows.
    "spark.sql.ansi.enabled": "false",
}

PER_FILE: dict[str, str | None] = {
    # One partition per file, whatever its size, and no partition of several files.
    "spark.sql.files.maxPartitionBytes": _MIGHTY,
    "spark.sql.files.openCostInBytes": _MIGHTY,
    "spark.sql.files.maxPartitionNum": None,
    "spark.sql.sources.bucketing.enabled": "false",
    # An aggregate is planned as two halves, of which the first runs where the file is read.
    "spark.sql.adaptive.enabled": "false",
    # Generated code reads many columns at once; without it, aggregates of texts take far longer.
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.maxFields": "100000",
    "spark.sql.codegen.hugeMethodLimit": "65535",
    # Where code cannot be compiled after all, Spark evaluates without it.
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.codegen.fallback": "true",
    **_COLLECTED,
    **_WHOLE,
}
"""One row of aggregates for each file."""

DRAWN: dict[str, str | None] = {
    # Rows are drawn by partition and seed, so the same partitions give the same sample and the same layout.
    "spark.sql.files.maxPartitionBytes": "128MB",
    "spark.sql.files.openCostInBytes": "4MB",
    "spark.sql.files.maxPartitionNum": None,
    "spark.sql.files.minPartitionNum": None,
    "spark.sql.leafNodeDefaultParallelism": None,
    **_COLLECTED,
    **_WHOLE,
}
"""Samples, and counts of the rows that they are drawn from."""

EXACT: dict[str, str | None] = {
    # Days and times before 1900 are written as they were read, rather than refused or moved to the calendar
    # of old writers.
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInWrite": "CORRECTED",
    **_WHOLE,
}
"""Rows that must be written as they were read."""

IN_PLACE: dict[str, str | None] = {
    # Rows must stay in the partition that they were sent to, and all of them in one file.
    "spark.sql.adaptive.enabled": "false",
    "spark.databricks.delta.optimizeWrite.enabled": "false",
    "spark.databricks.delta.properties.defaults.autoOptimize.optimizeWrite": "false",
    "spark.sql.files.maxRecordsPerFile": "0",
    # Nor may Delta merge the new files right after their commit.
    AUTO_COMPACT: "false",
    # Blocking maps are joined by broadcast, which is asked for by a hint; other joins shuffle all rows once
    # more. The table that is broadcast is small, but it may wait for a busy cluster.
    "spark.sql.optimizer.disableHints": "false",
    "spark.sql.broadcastTimeout": "3600",
    # Nothing may be skipped when all rows are wanted.
    "spark.skipstone.enabled": "false",
    # Decision trees can be large.
    **WIDE,
    **EXACT,
}
"""Files written block by block."""

NO_DELTA_STATISTICS: dict[str, str | None] = {"spark.databricks.delta.stats.collect": "false"}
"""In a rewrite whose files get them when they are read back."""

QUERY_LOG: dict[str, str | None] = {
    # The log's own reads and writes neither skip nor are logged.
    "spark.skipstone.enabled": "false",
    "spark.skipstone.log": "false",
    "spark.sql.session.timeZone": "UTC",
    # A wrong bit is noticed in any page; Parquet writes checksums of them, and usually nobody looks.
    "parquet.page.write-checksum.enabled": "true",
    "parquet.page.verify-checksum.enabled": "true",
    "spark.sql.shuffle.partitions": "1",
    # VACUUM lists files with so many tasks, thousands by default.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
    AUTO_COMPACT: "true",
    "spark.databricks.delta.autoCompact.minNumFiles": "32",
    "spark.databricks.delta.properties.defaults.logRetentionDuration": "interval 1 day",
    "spark.databricks.delta.properties.defaults.deletedFileRetentionDuration": "interval 1 day",
    "spark.databricks.delta.properties.defaults.setTransactionRetentionDuration": "interval 30 days",
    # A log that only grows could never be cleaned.
    "spark.databricks.delta.properties.defaults.appendOnly": "false",
    **_COLLECTED,
}
"""The table that queries are logged in."""
