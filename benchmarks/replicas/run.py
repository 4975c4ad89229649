"""Runs the benchmark of planning with replicas and writes ``benchmarks/results/replicas.json``."""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from pathlib import Path

import skipstone
from benchmarks.figures import RESULTS, Figure, at_least, at_most, write
from benchmarks.replicas.planning import ReplicaPlanning, Shape, add_replicas, make_tables, measure
from benchmarks.skip.planning import register

__all__ = ["run"]

COMMAND = "make bench-replicas"
_SETTINGS = {"spark.sql.shuffle.partitions": "2", "spark.databricks.delta.snapshotPartitions": "2"}


def run(output: Path = RESULTS, shape: Shape | None = None) -> list[Figure]:
    """Measure, write the results and return the figures."""
    wanted = shape or Shape()
    with tempfile.TemporaryDirectory(prefix="skipstone-bench-") as folder:
        spark = skipstone.session(app_name="skipstone-bench", config=_SETTINGS)
        tables = make_tables(Path(folder), wanted)
        for path in tables:
            register(spark, path)
            spark.read.format("delta").load(str(path)).createOrReplaceTempView(path.name)
        add_replicas(spark, tables[1], wanted)
        found = measure(spark, wanted)
    return write("replicas", figures_of(found), asdict(found), output)


def figures_of(found: ReplicaPlanning) -> list[Figure]:
    """The figures and their bars; that replicas are read shows that they were planned with."""
    name = f"planning with {found.replicas} replicas of {found.files:,} files"
    share = 100 * found.queries_copied / found.queries
    return [
        at_most(name, found.overhead_milliseconds, "ms more", 20, COMMAND),
        at_least("queries that read a replica", share, "%", 50, COMMAND),
    ]
