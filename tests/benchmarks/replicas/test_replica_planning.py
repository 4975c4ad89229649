"""The planning with replicas that is timed, on few files. No time is asserted here."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.replicas.planning import Shape, add_replicas, make_tables, measure, query
from benchmarks.replicas.run import figures_of
from benchmarks.skip.planning import register


def test_the_planning_that_is_timed_reads_replicas(spark: SparkSession, tmp_path: Path) -> None:
    shape = Shape(files=200, replicas=2, partitions=2)
    tables = make_tables(tmp_path, shape)
    for path in tables:
        register(spark, path)
        spark.read.format("delta").load(str(path)).createOrReplaceTempView(path.name)
    add_replicas(spark, tables[1], shape)
    found = measure(spark, shape, pairs=4, warm=1)
    assert 0 < found.queries_copied <= found.queries == 4
    assert len(found.differences) == 4
    assert [figure.bar for figure in figures_of(found)] == [20, 50]
    assert spark.sql(query("copied", 3)).collect() == spark.sql(query("alone", 3)).collect()
