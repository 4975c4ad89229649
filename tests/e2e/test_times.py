"""Dates and timestamps: microseconds, calendars, time zones that change, reader modes."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from tests.e2e.checks import assert_same, assert_skips, indexed, settings, write_files

import skipstone
from skipstone.spark.bridge.jvm import JavaObject
from skipstone.workload.queries import Query, Workload

MOMENTS = ("1400-03-01 00:00:00", "1890-12-31 23:00:00", "2024-03-30 22:00:00", "2024-03-31 22:00:00")
ZONES = ("UTC", "America/Los_Angeles", "Asia/Kolkata", "Europe/Amsterdam")


@pytest.fixture(scope="module", params=["parquet", "delta"])
def times(
    request: pytest.FixtureRequest, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory
) -> skipstone.Table:
    """Four files: before 1582, before 1900, and two days of 2024; indexed under UTC."""
    path = tmp_path_factory.mktemp("times") / request.param
    moments = ", ".join(f"TIMESTAMP'{moment}'" for moment in MOMENTS)
    first = f"element_at(array({moments}), CAST(id DIV 10 AS INT) + 1)"
    spark.range(0, 40, 1, 4).selectExpr(
        "id",
        f"{first} + make_dt_interval(0, 0, 0, (id % 10) * 0.000123) AS ts",
        f"CAST({first} AS DATE) + CAST(id % 10 AS INT) AS d",
        f"CAST({first} AS TIMESTAMP_NTZ) + make_dt_interval(0, 0, 0, (id % 10) * 0.000123) AS ntz",
        *(["make_dt_interval(0, CAST(id AS INT)) AS span"] if request.param == "parquet" else []),
    ).write.format(request.param).save(str(path))
    return indexed(
        spark, "times", path, expressions=["CAST(ts AS DATE)", "hour(ts)", "date_trunc('DAY', ts)"]
    )


def test_timestamps_are_not_truncated_to_milliseconds(times: skipstone.Table) -> None:
    for kind, column in (("TIMESTAMP", "ts"), ("TIMESTAMP_NTZ", "ntz")):
        last = f"{kind}'2024-03-30 22:00:00.001107'"
        assert_skips(times, f"SELECT id FROM times WHERE {column} = {last}", rows=1, read=1)
        assert_skips(times, f"SELECT id FROM times WHERE {column} > {last}", rows=10, read=1)
        assert_skips(times, f"SELECT id FROM times WHERE {column} >= {last}", rows=11, read=2)
        assert_same(
            times.spark, f"SELECT id FROM times WHERE {column} < {kind}'2024-03-30 22:00:00.000001'", rows=21
        )


def test_dates_before_1582_and_1900_are_exact(times: skipstone.Table) -> None:
    assert_skips(times, "SELECT id FROM times WHERE d = DATE'1400-03-01'", rows=1, read=1)
    assert_skips(times, "SELECT id FROM times WHERE d < DATE'1582-10-15'", rows=10, read=1)
    assert_skips(
        times, "SELECT id FROM times WHERE d BETWEEN DATE'1800-01-01' AND DATE'1890-12-31'", rows=1, read=1
    )
    assert_skips(times, "SELECT id FROM times WHERE ts < TIMESTAMP'1400-03-01 00:00:00.0001'", rows=1, read=1)
    assert_skips(times, "SELECT id FROM times WHERE year(d) = 1400", rows=10, read=1)
    if "span" in times.frame().columns:
        assert_skips(times, "SELECT id FROM times WHERE span >= INTERVAL '35' HOUR", rows=5, read=1)


@pytest.mark.parametrize("zone", ZONES)
def test_the_session_time_zone_may_change_after_indexing(times: skipstone.Table, zone: str) -> None:
    with settings(times.spark, spark__sql__session__timeZone=zone):
        for condition in (
            "ts >= '2024-03-31 00:00:00'",
            "ts < '1891-01-01 00:00:00'",
            "CAST(ts AS DATE) = DATE'2024-03-31'",
            "CAST(ts AS DATE) = DATE'1890-12-31'",
            "hour(ts) = 0",
            "hour(ts) >= 22",
            "date_trunc('DAY', ts) = TIMESTAMP'2024-03-31 00:00:00'",
            "ts = ntz",
            "ntz >= TIMESTAMP'2024-03-31 00:00:00'",
            "d >= TIMESTAMP'2024-03-31 02:30:00'",
            "CAST(ts AS STRING) LIKE '2024-03-31%'",
            "date_format(ts, 'HH') = '23'",
            "unix_timestamp(ts) > 1711836000",
            "to_date(ts) > DATE'2024-03-30'",
            "ts BETWEEN DATE'2024-03-31' AND DATE'2024-04-01'",
        ):
            assert_same(times.spark, f"SELECT id FROM times WHERE {condition}")
        assert_skips(times, "SELECT id FROM times WHERE ts >= '2024-04-02'", rows=0)
        assert_skips(times, "SELECT id FROM times WHERE CAST(ts AS DATE) < DATE'1500-01-01'", rows=10, read=1)


def test_a_reader_mode_of_the_session_is_respected(times: skipstone.Table) -> None:
    query = "SELECT id FROM times WHERE d < DATE'1582-10-15'"
    with settings(times.spark, spark__sql__parquet__datetimeRebaseModeInRead="LEGACY"):
        assert_same(times.spark, query, rows=10)
        (scan,) = times.explain(query).scans
        assert scan.files_skipped == 0
        assert times.status().files_indexed == 0
    assert times.status().files_indexed == 4


@pytest.mark.parametrize("times", ["parquet"], indirect=True)
def test_a_reader_mode_of_one_read_is_respected(times: skipstone.Table) -> None:
    def frame() -> DataFrame:
        legacy = times.spark.read.option("datetimeRebaseMode", "LEGACY")
        return legacy.parquet(times.source).where("d < '1582-10-15'")

    assert_same(times.spark, frame)
    (scan,) = times.explain(frame()).scans
    assert scan.files_read == scan.files_total
    assert "datetimerebasemode" in scan.failure.lower()


def _old_spark_files(path: Path) -> None:
    """As Spark 2.4 wrote them: in the hybrid calendar, without a word about the writer's time zone."""
    for index, year in enumerate((1700, 1850, 2000)):
        table = pa.table({"id": [index], "ts": pa.array([datetime(year, 6, 1)], pa.timestamp("us", "UTC"))})
        write_files(
            path / f"p={index}", [table.replace_schema_metadata({"org.apache.spark.version": "2.4.8"})]
        )


def test_zone_offsets_of_old_dates_from_old_writers(spark: SparkSession, tmp_path: Path) -> None:
    """Such timestamps are read by the JVM's own time zone, which may be another one when querying."""
    _old_spark_files(tmp_path / "old")
    table = indexed(spark, "old", tmp_path / "old")
    query = "SELECT id FROM old WHERE unix_micros(ts) = {}"
    jvm: JavaObject = spark._jvm
    zones = jvm.java.util.TimeZone
    before = zones.getDefault()
    try:
        for zone in ("UTC", "America/Los_Angeles", "Asia/Kolkata"):
            zones.setDefault(zones.getTimeZone(zone))
            for row in spark.sql("SELECT id, unix_micros(ts) AS at FROM old").collect():
                assert_same(spark, query.format(row["at"]), rows=1)
                moment = f"timestamp_micros({row['at']})"
                assert_same(spark, f"SELECT id FROM old WHERE ts = {moment}", rows=1)
    finally:
        zones.setDefault(before)
    assert_skips(table, "SELECT id FROM old WHERE ts > '1999-01-01'", rows=1, read=1)


def test_int96_timestamps_that_are_converted_by_the_session_zone(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "int96"
    tables = [
        pa.table({"ts": pa.array([datetime(2024, 1, day, 12)], pa.timestamp("us"))}) for day in (1, 2, 3)
    ]
    write_files(path, tables, use_deprecated_int96_timestamps=True)
    spark.conf.set("spark.sql.parquet.int96TimestampConversion", "true")
    table = indexed(spark, "int96", path)
    assert_skips(table, "SELECT ts FROM int96 WHERE ts = '2024-01-02 12:00:00'", rows=1, read=1)
    with settings(spark, spark__sql__session__timeZone="Asia/Tokyo"):
        assert_same(spark, "SELECT ts FROM int96 WHERE ts = '2024-01-02 12:00:00'", rows=1)


@pytest.mark.parametrize("format_", ["parquet", "delta"])
def test_nothing_is_kept_of_timestamps_in_partition_paths(
    spark: SparkSession, tmp_path: Path, format_: str
) -> None:
    path = tmp_path / "zoned"
    spark.range(0, 40, 1, 4).selectExpr(
        "id", "TIMESTAMP'2024-01-01 12:00:00' + make_interval(0, 0, 0, CAST(id DIV 10 AS INT)) AS p"
    ).write.partitionBy("p").format(format_).save(str(path))
    table = skipstone.table(spark, f"zoned={path}")
    with pytest.raises(skipstone.SkipstoneError, match="ZONED_PARTITION"):
        table.index(features=["p >= '2024-01-01 00:00:00' AND id < 20"])
    with pytest.raises(skipstone.SkipstoneError, match="ZONED_PARTITION"):
        table.index(expressions=["unix_micros(p)"])
    table.index(features=["id < 20"])
    assert "p" not in table.index(rebuild=True).columns
    assert_skips(table, "SELECT id FROM zoned WHERE id < 5 AND p < '2025-01-01'", rows=5, read=1)
    if format_ == "delta":
        asks = Query("SELECT * FROM zoned WHERE p >= '2024-01-03 00:00:00' AND id % 2 = 0", count=20)
        report = table.optimize(Workload((asks, Query("SELECT * FROM zoned WHERE id < 15"))), "qdtree", 10)
        assert report.layout_id
        status = table.status()
        assert status.features
        assert not [text for text in status.features if "p >=" in text]


def test_timestamps_in_partition_paths_follow_the_session_zone(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "zoned"
    spark.range(0, 40, 1, 4).selectExpr(
        "id", "TIMESTAMP'2024-01-01 12:00:00' + make_interval(0, 0, 0, CAST(id DIV 10 AS INT)) AS p"
    ).write.partitionBy("p").parquet(str(path))
    table = indexed(spark, "zoned", path)
    for zone in ZONES:
        with settings(spark, spark__sql__session__timeZone=zone):
            again = skipstone.table(spark, f"zoned={path}")
            assert_same(spark, "SELECT id FROM zoned WHERE p = '2024-01-02 12:00:00'", rows=10)
            assert_same(spark, "SELECT id FROM zoned WHERE p > '2024-01-03 11:00:00' OR id = 0", rows=21)
            assert again.source == table.source
    assert_skips(table, "SELECT id FROM zoned WHERE id < 5 AND p < '2025-01-01'", rows=5, read=1)
