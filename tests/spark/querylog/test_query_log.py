"""What is recorded of queries that ran, and what is asked of the record."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from tests.opened import opened
from tests.spark.querylog.recording import logging, make_rows, make_table, seen, without_null_tests

import skipstone
from skipstone.predicate.expr import Literal
from skipstone.predicate.normalize import normalize_filter
from skipstone.predicate.render import to_sql
from skipstone.predicate.types import BOOLEAN
from skipstone.spark.bridge.parse_sql import TableSource, parse_queries
from skipstone.spark.bridge.runtime import runtime_of
from skipstone.spark.querylog.log_table import LogTable
from skipstone.spark.querylog.query_log import recorder_of, unlogged
from skipstone.workload.predicates import logged_filters
from skipstone.workload.queries import Query, Workload


def test_every_way_of_asking_is_recorded_and_nothing_else(
    spark: SparkSession, table: skipstone.Table, tmp_path: Path
) -> None:
    spark.range(5).write.parquet(str(tmp_path / "other"))
    started = datetime.now(UTC)
    with logging(spark, tmp_path / "spill"):
        spark.sql("SELECT city FROM logged WHERE k < 50").collect()
        table.frame().where("k BETWEEN 150 AND 159").select("day").collect()
        spark.sql("SELECT max(city) FROM logged").collect()
        # No row satisfies it: Spark replaces what has run by an empty relation.
        spark.sql("SELECT city, count(*) FROM logged WHERE k < 0 GROUP BY city").collect()
        spark.sql("SELECT * FROM logged WHERE k >= 300 LIMIT 3").collect()
        again = spark.sql("SELECT k FROM logged WHERE k < 30")
        assert again.collect() == again.collect()
        with pytest.raises(PySparkException):
            spark.sql("SELECT assert_true(k < 0) FROM logged WHERE k < 31").collect()
        cached = spark.sql("SELECT k FROM logged WHERE k < 32").cache()
        assert cached.count() == cached.count() == 32
        cached.unpersist()
        spark.read.parquet(str(tmp_path / "other")).where("id < 3").collect()
        table.explain("SELECT k FROM logged WHERE k < 33")
        table.replay(Workload((Query("SELECT k FROM logged WHERE k < 34"),)))
        with unlogged(spark):
            spark.sql("SELECT k FROM logged WHERE k < 35").collect()
        scans = table.log(started)
    assert seen(scans) == [
        ("k < 50L", 1, 100, 50),
        ("k <= 159L AND k >= 150L", 1, 100, 10),
        ("TRUE", 4, 400, 400),
        ("k < 0L", 0, 0, 0),
        ("k >= 300L", 1, scans[4].rows_read, None),
        ("k < 30L", 1, 100, 30),
        ("k < 30L", 1, 100, 30),
    ]
    assert [scan.columns for scan in scans[:3]] == [("k", "city"), ("k", "day"), ("city",)]
    assert scans[2].filter == Literal(True, BOOLEAN)
    assert {scan.files_total for scan in scans} == {4}
    files = opened(table).files
    sizes = {path[:10]: size for path, size in zip(files.paths, files.sizes.tolist(), strict=True)}
    assert scans[0].bytes_read == sizes["part-00000"]
    assert scans[2].bytes_read == sum(sizes.values())
    assert all(started <= scan.time <= datetime.now(UTC) and 0 < scan.seconds < 60 for scan in scans)
    assert {(scan.user, scan.application) for scan in scans} == {
        (spark.sparkContext.sparkUser(), spark.sparkContext.appName)
    }
    assert table.log(since=scans[3].time) == scans[3:]


def test_each_scan_of_a_join_and_of_a_subquery_is_recorded(
    spark: SparkSession, table: skipstone.Table, tmp_path: Path
) -> None:
    before = datetime.now(UTC)
    with logging(spark, tmp_path / "spill"):
        spark.sql(
            "SELECT count(*) FROM logged a JOIN logged b ON a.k = b.k + 1 WHERE a.k < 20 AND b.city = 'Oslo'"
        ).collect()
        joined = table.log(before)
        spark.sql(
            "SELECT k FROM logged WHERE k < 300 AND k > (SELECT max(k) - 5 FROM logged WHERE k < 60)"
        ).collect()
        spark.newSession().sql(
            f"SELECT k FROM delta.`{table.source}` WHERE k = 1 UNION ALL "
            f"SELECT k FROM delta.`{table.source}` WHERE k = 399"
        ).collect()
        others = table.log(before)[len(joined) :]
    assert sorted(seen(joined)) == [("city = 'Oslo'", 4, 400, 4), ("k < 20L", 1, 100, 20)]
    outer, inner = sorted(others[:2], key=lambda scan: scan.files_read, reverse=True)
    assert "k < 300L" in to_sql(outer.filter)
    assert "#" not in to_sql(outer.filter), "the same query is the same filter next time"
    assert seen((inner,)) == [("k < 60L", 1, 100, 60)]
    assert sorted(seen(others[2:])) == [("k = 1L", 1, 100, 1), ("k = 399L", 1, 100, 1)]


JOINS = (
    "SELECT l.k FROM logged l JOIN joined j ON l.k = j.k WHERE j.city = 'Oslo' AND l.k < 300",
    "SELECT k FROM logged WHERE k IN (SELECT k FROM joined WHERE city = 'Oslo' AND day < DATE'2024-03-01')",
    "SELECT l.k FROM logged l, joined j, third t WHERE l.k = j.k AND j.day = t.day AND t.city = 'Oslo'",
    "SELECT l.k FROM logged l RIGHT JOIN joined j ON l.k = j.k AND l.city = j.city WHERE j.k > 390",
    "SELECT l.k FROM logged l LEFT JOIN joined j ON l.k = j.k AND j.city = 'Oslo'",
    "SELECT k FROM logged WHERE k = (SELECT max(l.k) FROM logged l JOIN joined j ON l.k = j.k WHERE j.k < 9)",
)


def test_what_joins_ask_of_a_scan_is_recorded_as_it_is_found_in_the_text_of_the_query(
    spark: SparkSession, table: skipstone.Table, tmp_path: Path
) -> None:
    for name in ("joined", "third"):
        make_rows(spark, tmp_path / name)
        spark.read.format("delta").load(str(tmp_path / name)).createOrReplaceTempView(name)
    before = datetime.now(UTC)
    with logging(spark, tmp_path / "spill"):
        for query in JOINS:
            spark.sql(query).collect()
        scans = table.log(before)
    parsed = parse_queries(
        spark,
        Workload(tuple(map(Query, JOINS))),
        {"logged": TableSource(opened(table).snapshot.schema, table.source)},
    )
    asked = (to_sql(normalize_filter(entry.filter)) for entry in logged_filters(parsed, "logged"))
    ran, written = (
        sorted(text for text in texts if "scalar-subquery" not in text)
        for texts in ([to_sql(scan.filter) for scan in scans], asked)
    )
    assert ran == written
    assert len(ran) == len(JOINS)
    first, second, chain, outer, kept = scans[:5]
    assert "EXISTS (SELECT 1 FROM joined WHERE joined.k = k AND city = 'Oslo')" in to_sql(first.filter)
    assert to_sql(second.filter).count("EXISTS (") == 3, "both conditions at once, and each alone"
    assert to_sql(chain.filter).count("EXISTS (") == 2
    assert "EXISTS (" in to_sql(outer.filter)
    assert "EXISTS (" not in to_sql(kept.filter), "a row without a partner is in the result"
    assert [scan.rows_needed for scan in scans[:5]] == [None, None, None, None, 400]


def test_scans_inside_commands_count_and_copies_of_untouched_rows_do_not(
    spark: SparkSession, table: skipstone.Table, plain: skipstone.Table, tmp_path: Path
) -> None:
    before = datetime.now(UTC)
    changed = make_table(spark, tmp_path / "changed", "changed")
    with logging(spark, tmp_path / "spill"):
        spark.sql("INSERT INTO changed SELECT * FROM logged WHERE k BETWEEN 10 AND 19")
        spark.sql("DELETE FROM changed WHERE k = 250")
        spark.sql("UPDATE changed SET city = 'Rome' WHERE k = 251")
        spark.sql(
            "MERGE INTO changed c USING plain p ON c.k = p.k AND c.k > 390 AND p.city = 'Porto' "
            "WHEN MATCHED THEN UPDATE SET city = 'Bari'"
        )
        read = table.log(before)
        dml = changed.log()
        source = plain.log(before)
    assert seen(read) == [("k <= 19L AND k >= 10L", 1, 100, 10)]
    assert [without_null_tests(scan) for scan in dml] == ["k = 250L", "k = 251L", "k > 390L"]
    assert [scan.rows_needed for scan in dml] == [1, 1, 9]
    assert source
    assert all(scan.files_total == 4 for scan in source)


def test_literals_can_be_redacted(spark: SparkSession, table: skipstone.Table, tmp_path: Path) -> None:
    before = datetime.now(UTC)
    with logging(spark, tmp_path / "spill", redact="true"):
        spark.sql("SELECT k FROM logged WHERE k IN (7, 8, 9) AND city = 'Porto'").collect()
        (scan,) = table.log(before)
    assert scan.is_redacted
    assert "Porto" not in to_sql(scan.filter)
    assert "city = '?'" in to_sql(scan.filter)
    assert scan.rows_needed == 3


def test_a_log_from_elsewhere_is_imported_and_used(spark: SparkSession, plain: skipstone.Table) -> None:
    plain.clear_log()
    with pytest.raises(skipstone.SkipstoneError, match="has no query log yet"):
        plain.analyze()
    asked = datetime(2026, 5, 1, 12)
    queries = Workload((
        Query("SELECT city FROM plain WHERE k < 40", asked, 7, "ada", 1),
        Query("SELECT 1 FROM nowhere", position=2),
    ))  # fmt: skip
    added, unusable = plain.import_log(queries)
    assert (added, len(unusable)) == (1, 1)
    (scan,) = plain.log()
    assert (scan.time, scan.count, scan.user) == (asked.replace(tzinfo=UTC), 7, "ada")
    assert (scan.columns, without_null_tests(scan)) == (("k", "city"), "k < 40L")
    assert "k < 40" in str(plain.analyze(num_features=1, threshold=1).report)
    status = plain.status().log
    assert (status.on, status.entries, status.newest[:10]) == (False, 1, "2026-05-01")
    assert plain.clear_log() == 1
    assert plain.log() == ()


def test_the_setting_turns_the_log_on_and_the_background_appends(
    spark: SparkSession, table: skipstone.Table, tmp_path: Path
) -> None:
    before = datetime.now(UTC)
    for key, value in {
        "spark.skipstone.log": "true",
        "spark.skipstone.log.spillDirectory": str(tmp_path / "spill"),
        "spark.skipstone.log.spillSeconds": "0.1",
        "spark.skipstone.log.intervalSeconds": "0.2",
    }.items():
        spark.conf.set(key, value)
    skipstone.enable(spark)
    try:
        spark.sql("SELECT k FROM logged WHERE k < 9").collect()
        log = LogTable(spark, runtime_of(spark), opened(table).root)
        deadline = time.monotonic() + 30
        while not (found := log.read(before)) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert [scan.rows_needed for scan in found] == [9]
    finally:
        spark.conf.set("spark.skipstone.log", "false")
        skipstone.enable(spark, log=False)
    assert recorder_of(spark) is None
