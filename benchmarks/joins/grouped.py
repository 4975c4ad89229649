"""Joins of large tables without a shuffle, against Spark's own joins of the same rows.

lineitem, orders and part are laid out by hyper-partitioning with the join keys on its first levels. Each
query runs in turns without a shuffle, by Spark's sort-merge join, over bucketed and sorted copies of the
tables, and as Spark itself would join, broadcasts included. Processor time is compared, the least of some
runs.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import skipstone
from benchmarks.cpu import cpu_seconds
from benchmarks.figures import Figure, at_least, at_most, unbarred
from benchmarks.jvm import with_shuffled_bytes
from benchmarks.pieces import Piece
from benchmarks.session_settings import SWITCH, session_settings
from skipstone.spark import SparkSession

__all__ = ["GroupedJoins", "grouped_figures"]

_KEYS = {"lineitem": "l_orderkey,l_partkey", "orders": "o_orderkey", "part": "p_partkey"}
_BUCKETS = 16
_SUMS = 4_000
"""So many bytes the sums of some dozen groups take."""
_QUERIES = {
    "orders": (
        "l_orderkey",
        (
            "SELECT count(*), sum(l_extendedprice), sum(o_totalprice), max(o_orderpriority) "
            "FROM {lineitem} JOIN {orders} ON l_orderkey = o_orderkey"
        ),
    ),
    "part": (
        "l_partkey",
        (
            "SELECT count(*), sum(l_extendedprice), sum(p_size), max(p_type) "
            "FROM {lineitem} JOIN {part} ON l_partkey = p_partkey"
        ),
    ),
}
_UNBROADCAST = {"spark.sql.autoBroadcastJoinThreshold": "-1", "spark.sql.join.preferSortMergeJoin": "true"}
_WAYS = {
    "grouped": {**_UNBROADCAST, SWITCH: "true", "spark.skipstone.joins.grouped": "true"},
    "sort-merge": {**_UNBROADCAST, SWITCH: "false"},
    "bucketed": {**_UNBROADCAST, SWITCH: "false"},
    "default": {SWITCH: "false"},
}


@dataclass(frozen=True, slots=True)
class GroupedJoins:
    """Makes tables below ``home`` from what ``source`` has, lineitem in about ``blocks`` files."""

    spark: SparkSession
    home: Path
    source: Path
    blocks: int

    def tables(self) -> Piece:
        """Each table by hyper-partitioning, and bucketed by the key of each query."""
        made: Piece = {}
        whole = self._rows("lineitem").count()
        for name, keys in _KEYS.items():
            rows = self._rows(name)
            target = self.home / f"keyed_{name}"
            shutil.rmtree(target, ignore_errors=True)
            rows.write.format("delta").save(str(target))
            table = skipstone.table(self.spark, f"keyed_{name}={target}")
            block_rows = max(1, whole // self.blocks)
            table.optimize(None, "hyper", block_rows, layout_options={"keys": keys})
            made[name] = {"rows": rows.count(), "block_rows": block_rows}
        return made

    def measured(self, pairs: int) -> Piece:
        """Every query in every way, in turns; the first round warms up."""
        for name in _KEYS:
            skipstone.table(self.spark, f"keyed_{name}={self.home / f'keyed_{name}'}")
        return {name: self._query(name, pairs) for name in _QUERIES}

    def _query(self, other: str, pairs: int) -> Piece:
        key, text = _QUERIES[other]
        other_key = _KEYS[other]
        buckets = {"lineitem": self._bucketed("lineitem", key), other: self._bucketed(other, other_key)}
        keyed = {name: f"keyed_{name}" for name in ("lineitem", other)}
        found: dict[str, Piece] = {}
        for number in range(pairs + 1):
            for way, settings in _WAYS.items():
                sql = text.format(**(buckets if way == "bucketed" else keyed))
                with session_settings(self.spark, settings):
                    run = self._run(sql)
                best = found.setdefault(way, {"cpu_seconds": float("inf"), "sql": sql})
                best |= {"answer": run["answer"], "shuffled_bytes": run["shuffled_bytes"]}
                if number:
                    best["cpu_seconds"] = min(best["cpu_seconds"], run["cpu_seconds"])
        with session_settings(self.spark, _WAYS["grouped"]):
            report = skipstone.table(self.spark, f"keyed_{other}={self.home / f'keyed_{other}'}").explain(
                text.format(**keyed)
            )
        found["explain"] = {"joins": [join.line() for scan in report.scans for join in scan.joins]}
        return found

    def _run(self, sql: str) -> Piece:
        cpu = cpu_seconds()
        rows, shuffled = with_shuffled_bytes(self.spark, lambda: self.spark.sql(sql).collect())
        return {
            "cpu_seconds": cpu_seconds() - cpu,
            "answer": [repr(row) for row in rows],
            "shuffled_bytes": shuffled,
        }

    def _bucketed(self, name: str, key: str) -> str:
        table = f"bucketed_{name}_{key}"
        target = self.home / table
        self.spark.sql(f"DROP TABLE IF EXISTS {table}")
        shutil.rmtree(target, ignore_errors=True)
        writer = self._rows(name).repartition(_BUCKETS, key).write.format("parquet")
        writer.bucketBy(_BUCKETS, key).sortBy(key).option("path", str(target)).saveAsTable(table)
        return table

    def _rows(self, name: str) -> skipstone.spark.DataFrame:
        return self.spark.read.parquet(str(self.source / f"{name}.parquet"))


def grouped_figures(measured: Mapping[str, Piece], command: str) -> list[Figure]:
    """How the processor times compare, and what was shuffled."""
    found: list[Figure] = []
    for name, ways in measured.items():
        cpu = {way: ways[way]["cpu_seconds"] for way in _WAYS}
        title = f"lineitem with {name}"
        others = sum(ways[way]["answer"] != ways["sort-merge"]["answer"] for way in _WAYS)
        found += [
            at_least(
                f"{title}: CPU of a sort-merge join over that without a shuffle",
                cpu["sort-merge"] / cpu["grouped"],
                "times",
                1.6,
                command,
            ),
            at_most(
                f"{title}: CPU without a shuffle over that of bucketed tables",
                cpu["grouped"] / cpu["bucketed"],
                "times",
                1.25,
                command,
            ),
            unbarred(
                f"{title}: CPU of Spark's default join over that without a shuffle",
                cpu["default"] / cpu["grouped"],
                "times",
                command,
            ),
            # The groups' own sums are shuffled, a row each.
            at_most(
                f"{title}: bytes shuffled, the sums of groups alone",
                ways["grouped"]["shuffled_bytes"],
                "bytes",
                _SUMS,
                command,
            ),
            unbarred(
                f"{title}: bytes shuffled by the sort-merge join",
                ways["sort-merge"]["shuffled_bytes"],
                "bytes",
                command,
            ),
            at_most(f"{title}: ways with another answer", others, "", 0, command),
        ]
    return found
