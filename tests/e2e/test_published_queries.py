"""TPC-H on its normalised tables and the Star Schema Benchmark: answers that another engine computed.

All that skipstone does with joins is on: layouts with features about joined tables, skipping by keys that are
found at run time, joins without a shuffle. SQLite reads the generated files and answers the same queries.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from tests.light_plans import settings_of

import skipstone
from benchmarks.joins.ssb_data import FACTS, SOURCES, ssb_tables
from benchmarks.joins.ssb_queries import PUBLISHED, ssb_query
from benchmarks.tpch.every_query import EVERY_QUERY
from benchmarks.tpchgen import run_tpchgen
from skipstone.workload.queries import Query, Workload

SCALE = 0.01
TPCH = {name: text.replace("{fraction}", f"{0.0001 / SCALE:.9f}") for name, text in EVERY_QUERY.items()}
STAR = {name: ssb_query(name, parameters) for name, parameters in PUBLISHED.items()}
KEYS = {"orders": "o_orderkey", "partsupp": "ps_partkey", "part": "p_partkey"}
EVERYTHING = {"spark.skipstone.joins.grouped": "true"}
BROADCASTS = {"spark.sql.autoBroadcastJoinThreshold": "40000"}
NO_BROADCAST = {"spark.sql.autoBroadcastJoinThreshold": "-1"}


@dataclass(frozen=True, slots=True)
class Answers:
    """The same tables in Spark, as views, and in SQLite."""

    spark: SparkSession
    other: sqlite3.Connection
    facts: skipstone.Table

    def agree(self, sql: str) -> int:
        """Both have the same rows; how many."""
        wanted = self.other.execute(sql.replace("DATE '", "'")).fetchall()
        found = [tuple(map(_plain, row)) for row in self.spark.sql(sql).collect()]
        assert len(found) == len(wanted), (sql, len(found), len(wanted))
        for row, theirs in zip(found, wanted, strict=True):
            assert all(map(_same, row, theirs)), (sql, row, theirs)
        return len(wanted)

    def decided(self, sqls: Sequence[str]) -> Counter[str]:
        """What was decided about the scans of queries: how many of the facts skip, and the codes of joins."""
        seen: Counter[str] = Counter()
        for sql in sqls:
            for scan in self.facts.explain(sql).scans:
                assert not scan.failure, scan.failure
                seen["skips"] += scan.root.endswith(self.facts.source) and scan.files_skipped > 0
                seen.update({join.code for join in scan.joins})
        return seen


def _plain(value: object) -> object:
    if isinstance(value, Decimal):
        return float(value)
    return value.isoformat() if isinstance(value, date) else value


def _same(value: object, other: object) -> bool:
    if isinstance(value, float) or isinstance(other, float):
        return value == pytest.approx(other, rel=1e-9, abs=1e-6)  # averages have six decimals
    return value == other


def _told(connection: sqlite3.Connection, name: str, table: pa.Table) -> None:
    """The table in SQLite: numbers with a point as REAL, dates as text."""
    columns = [_storable(column).to_pylist() for column in table.columns]
    connection.execute(f"CREATE TABLE {name} ({', '.join(table.column_names)})")
    marks = ", ".join("?" * len(columns))
    connection.executemany(f"INSERT INTO {name} VALUES ({marks})", zip(*columns, strict=True))
    for key in [each for each in table.column_names if each.endswith("key")]:
        connection.execute(f"CREATE INDEX {name}_{key} ON {name} ({key})")


def _storable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_decimal(column.type):
        return pc.cast(column, pa.float64())
    return pc.strftime(column, "%Y-%m-%d") if pa.types.is_date(column.type) else column


def _connection() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.create_function("year", 1, lambda day: int(day[:4]), deterministic=True)
    connection.execute("PRAGMA case_sensitive_like = ON")
    return connection


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tpch")
    run_tpchgen(SCALE, folder)
    return folder


@pytest.fixture(scope="module", autouse=True)
def _everything(spark: SparkSession) -> Iterator[None]:
    with settings_of(spark, EVERYTHING):
        yield


def _optimized(
    spark: SparkSession, name: str, path: Path, queries: Sequence[str], block_rows: int
) -> skipstone.Table:
    table = skipstone.table(spark, f"{name}={path}")
    table.optimize(Workload(tuple(map(Query, queries))), "qdtree", block_rows)
    assert any("EXISTS" in text for text in map(str, table.status().features))
    return table


@pytest.fixture(scope="module")
def tpch(spark: SparkSession, generated: Path) -> Answers:
    other = _connection()
    for name in SOURCES:
        _told(other, name, pq.read_table(generated / f"{name}.parquet"))
        rows = spark.read.parquet(str(generated / f"{name}.parquet"))
        if name in KEYS:
            rows = rows.repartitionByRange(4, KEYS[name])
        path = generated / "delta" / name
        rows.write.format("delta").save(str(path))
        if name in KEYS:
            skipstone.table(spark, f"{name}={path}").index()
        elif name != "lineitem":
            spark.read.format("delta").load(str(path)).createOrReplaceTempView(name)
    path = generated / "delta" / "lineitem"
    return Answers(
        spark,
        other,
        _optimized(spark, "lineitem", path, [TPCH[name] for name in ("q3", "q5", "q12", "q14")], 3_000),
    )


@pytest.fixture(scope="module")
def star(spark: SparkSession, generated: Path) -> Answers:
    other = _connection()
    sources = {name: f"parquet.`{generated / name}.parquet`" for name in SOURCES}
    for name, text in ssb_tables(sources).items():
        path = generated / "star" / name
        spark.sql(text).write.format("delta").save(str(path))
        rows = spark.read.format("delta").load(str(path))
        _told(other, name, rows.toArrow())
        if name != FACTS:
            rows.createOrReplaceTempView(name)
    facts = _optimized(
        spark,
        FACTS,
        generated / "star" / FACTS,
        [STAR[name] for name in ("q1.1", "q2.1", "q3.1", "q4.2")],
        3_000,
    )
    return Answers(spark, other, facts)


def test_the_22_queries_of_tpch_have_the_rows_that_another_engine_computes(tpch: Answers) -> None:
    with settings_of(tpch.spark, NO_BROADCAST):
        found = {name: tpch.agree(sql) for name, sql in TPCH.items()}
        seen = tpch.decided([TPCH[name] for name in ("q3", "q5", "q12")])
    assert sum(map(bool, found.values())) > 18, found
    assert seen["skips"] >= 2, seen
    assert seen["COLLECTED"] >= 1, seen


@pytest.fixture(scope="module")
def keyed(tpch: Answers, generated: Path) -> Answers:
    """The same tables, with lineitem by the keys that it is joined by, beside the one that has no order."""
    path = generated / "delta" / "keyed_lineitem"
    tpch.spark.read.parquet(str(generated / "lineitem.parquet")).write.format("delta").save(str(path))
    table = skipstone.table(tpch.spark, f"keyed_lineitem={path}")
    table.optimize(None, "hyper", 4_000, layout_options={"keys": "l_orderkey,l_partkey", "key_levels": "3"})
    tpch.other.execute("CREATE VIEW keyed_lineitem AS SELECT * FROM lineitem")
    return Answers(tpch.spark, tpch.other, table)


# Sides are scans, or scans that a small table is broadcast to; q3, q4 and q21 also skip files when they run.
GROUPED = {"-1": ("q4", "q12", "q14", "q17", "q19", "q20", "q21"), "40000": ("q3", "q5", "q7", "q8")}


@pytest.mark.parametrize("threshold", sorted(GROUPED))
@pytest.mark.parametrize("aqe", ["true", "false"])
def test_published_queries_are_joined_without_a_shuffle_and_skip_files_as_well(
    keyed: Answers, threshold: str, aqe: str
) -> None:
    queries = {name: TPCH[name].replace("lineitem", "keyed_lineitem") for name in GROUPED[threshold]}
    wanted = {"spark.sql.autoBroadcastJoinThreshold": threshold, "spark.sql.adaptive.enabled": aqe}
    with settings_of(keyed.spark, wanted):
        for name, sql in queries.items():
            keyed.agree(sql)
            seen = keyed.decided([sql])
            assert seen["GROUPED"] >= 2, (name, seen)
            if name in {"q3", "q4", "q21"}:
                assert seen["COLLECTED"] >= 1, (name, seen)


def test_the_13_queries_of_the_star_schema_benchmark_have_the_rows_that_another_engine_computes(
    star: Answers,
) -> None:
    with settings_of(star.spark, BROADCASTS):
        found = {name: star.agree(sql) for name, sql in STAR.items()}
        seen = star.decided([STAR[name] for name in ("q1.1", "q2.1", "q3.1", "q4.2")])
    assert sum(map(bool, found.values())) > 8, found
    assert seen["skips"] >= 3, seen
