"""Settings under which small queries are planned quickly, and those that Spark has otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark.sql import SparkSession

# What Delta writes and checks only to find mistakes of its own; a third of what a small commit costs.
LIGHT_DELTA = {
    "spark.databricks.delta.writeChecksumFile.enabled": "false",
    "spark.databricks.delta.incrementalCommit.verify": "false",
    "spark.databricks.delta.allFilesInCrc.enabled": "false",
    "spark.databricks.delta.allFilesInCrc.verificationMode.enabled": "false",
    # Every task of so wide a plan as that of a log generates its code anew, and these tables have few files.
    "spark.databricks.delta.snapshotPartitions": "1",
    # Hundreds of tables are made; what Delta keeps of each would fill the memory with what no test needs.
    "spark.databricks.delta.delta.log.cacheSize": "50",
}
NO_STATISTICS = {"spark.databricks.delta.properties.defaults.dataSkippingNumIndexedCols": "0"}
"""New Delta tables have no statistics of Delta's own, which take it long: whatever is skipped, we skip."""
# For a few hundred rows, compiling a query costs far more than running it.
_NO_CODE = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
}
_CODE = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.sql.adaptive.enabled": "true",
}
GENERATED = {"true": _CODE, "false": _NO_CODE}
"""With generated code and plans that adapt, and without either."""
# A task of its own for some of so few rows is sent, unpacked and reported for longer than it runs.
_ONE_TASK = {"spark.sql.files.minPartitionNum": "1", "spark.sql.shuffle.partitions": "1"}
_TWO_TASKS = {"spark.sql.files.minPartitionNum": "2", "spark.sql.shuffle.partitions": "2"}
LIGHT_PLANS = _NO_CODE | _ONE_TASK
USUAL_PLANS = _CODE | _TWO_TASKS


@contextmanager
def settings_of(spark: SparkSession, wanted: Mapping[str, str]) -> Iterator[None]:
    """The session's settings for a while."""
    before = {key: spark.conf.get(key, None) for key in wanted}
    for key, value in wanted.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, old in before.items():
            spark.conf.unset(key) if old is None else spark.conf.set(key, old)
