"""Joins without a shuffle: no exchange below the join, and the same rows as Spark's own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.e2e.checks import assert_same, assert_same_by
from tests.light_plans import settings_of

import skipstone
from skipstone.pruning.join_report import JoinReport

FILES = 8
COLUMNS = (
    "IF(id % 29 = 3, NULL, id DIV 3) AS k",
    "CAST(id DIV 3 AS INT) AS i",
    "IF(id % 29 = 3, NULL, lpad(id DIV 3, 6, '0')) AS s",
    "CAST(id DIV 3 AS DECIMAL(12, 2)) / 4 AS dec",
    "date_add(DATE'2020-01-01', CAST(id DIV 3 AS INT)) AS d",
    "timestamp_seconds((id DIV 3) * 3600) AS ts",
    "CAST(lpad(id DIV 3, 6, '0') AS BINARY) AS bin",
    "IF(id DIV 3 < 20, 7L, id DIV 3) AS skew",
    "CAST(timestamp_seconds((id DIV 3) * 3600) AS TIMESTAMP_NTZ) AS ntz",
    "CAST(id DIV 8 AS SMALLINT) AS few",
    "id % 5 AS other",
    "id AS row",
)
JOINED = {
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.skipstone.joins.grouped": "true",
    # Scans whose files a join's keys skip stay as they are.
    "spark.skipstone.joins.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
    # So little that there have to be several groups.
    "spark.skipstone.joins.hashedBytes": "9000",
}


@dataclass(frozen=True, slots=True)
class Pair:
    """Two tables by the same keys, and each has some that the other has not, as views ``a`` and ``b``."""

    tables: tuple[skipstone.Table, skipstone.Table]
    names: tuple[str, str]
    folder: Path

    @property
    def spark(self) -> SparkSession:
        return self.tables[0].spark

    def query(self, text: str) -> str:
        return text.format(a=self.names[0], b=self.names[1], folder=self.folder)

    def joins(self, text: str) -> list[JoinReport]:
        scans = self.tables[0].explain(self.query(text)).scans
        return [join for scan in scans for join in scan.joins]

    def plan(self, text: str) -> str:
        return str(self.spark.sql(self.query(text))._jdf.queryExecution().executedPlan().toString())

    def joined_in_groups(self, text: str, groups: int = 2) -> str:
        """The same rows, by a join of several groups that has no exchange below it; what explain says."""
        _, execution = assert_same_by(self.spark, self.query(text))
        # As it was before it adapted, if it did: then nothing is hidden in a stage.
        plan = str(execution.executedPlan().toString()).rpartition("== Initial Plan ==")[-1]
        assert "Exchange" not in plan.split("Join", maxsplit=1)[-1], plan
        found = self.joins(text)
        assert {join.code for join in found} == {"GROUPED"}, (text, found)
        assert int(found[0].sentence.split(" ", maxsplit=1)[0]) >= groups, found
        return found[0].sentence

    def left_to_spark(self, text: str, code: str) -> None:
        """The same rows, by Spark's own join, for a reason."""
        assert_same(self.spark, self.query(text))
        found = self.joins(text)
        assert found, text
        assert {join.code for join in found} == {code}, found


def write(spark: SparkSession, folder: Path, format_: str) -> Pair:
    names = (f"a_{format_}", f"b_{format_}")
    tables = []
    for index, name in enumerate(names):
        frame = spark.range(index * 120, 600 + index * 120, 1, FILES - index * 3).selectExpr(*COLUMNS)
        frame.write.format(format_).save(str(folder / name))
        table = skipstone.table(spark, f"{name}={folder / name}")
        table.index()
        tables.append(table)
    return Pair((tables[0], tables[1]), names, folder)


@pytest.fixture(scope="module", autouse=True)
def _joined_in_groups(spark: SparkSession) -> Iterator[None]:
    with settings_of(spark, JOINED):
        yield


@pytest.fixture(scope="module")
def delta(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return write(spark, tmp_path_factory.mktemp("delta"), "delta")


@pytest.fixture(scope="module")
def parquet(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return write(spark, tmp_path_factory.mktemp("parquet"), "parquet")


TYPES = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN")


def columns(kind: str) -> str:
    return "x.*" if "SEMI" in kind or "ANTI" in kind else "x.*, y.*"


@pytest.mark.parametrize(
    ("format_", "aqe", "codegen"), [("delta", "true", "true"), ("parquet", "false", "false")]
)
def test_every_kind_of_join_answers_the_same(
    request: pytest.FixtureRequest, format_: str, aqe: str, codegen: str
) -> None:
    pair: Pair = request.getfixturevalue(format_)
    wanted = {
        "spark.sql.adaptive.enabled": aqe,
        "spark.sql.codegen.wholeStage": codegen,
        "spark.skipstone.joins.hashedBytes": "60000",
    }
    with settings_of(pair.spark, wanted):
        for kind in TYPES:
            pair.joined_in_groups(
                f"SELECT {columns(kind)} FROM (SELECT * FROM {{a}} WHERE other > 1) x {kind} {{b}} y "
                "ON x.k = y.k AND x.row < y.row + 2",
                # Every block has rows without a key, and where all of these are kept they meet in one group.
                groups=1 if kind in {"RIGHT JOIN", "FULL JOIN"} else 2,
            )


def test_what_does_not_fit_into_memory_is_sorted(delta: Pair) -> None:
    with settings_of(delta.spark, {"spark.skipstone.joins.hashedBytes": "100"}):
        for kind in TYPES:
            said = delta.joined_in_groups(
                f"SELECT {columns(kind)} FROM {{a}} x {kind} {{b}} y ON x.s = y.s AND x.other = y.other", 1
            )
            assert "sorted" in said


@pytest.mark.parametrize("key", ["i", "s", "dec", "d", "ts", "bin", "skew"])
def test_keys_of_every_type(delta: Pair, key: str) -> None:
    hashed = {"s": "20000", "bin": "60000"}.get(key, "9000")
    with settings_of(delta.spark, {"spark.skipstone.joins.hashedBytes": hashed}):
        for kind in ("JOIN", "FULL JOIN"):
            text = f"SELECT x.row, y.row FROM {{a}} x {kind} {{b}} y ON x.{key} = y.{key}"
            # Every block has rows with no text, and a full join keeps all of them.
            delta.joined_in_groups(text, groups=1 if (key, kind) == ("s", "FULL JOIN") else 2)


# As AQE, generated code and sorting, the format: with its opposite, each is tried with each type of key.
WAYS = ("0000", "0011", "0101", "0110", "1001", "1010", "1100")


@pytest.mark.parametrize("number", range(len(WAYS)))
def test_every_kind_of_join_by_keys_of_every_type_in_every_way(
    request: pytest.FixtureRequest, number: int
) -> None:
    """Duplicate keys, NULLs, keys without a partner, a skewed key; one column or two."""
    keys = ("k", "s", "dec", "d", "ntz", "bin", "few")
    for way in (WAYS[number], WAYS[number].translate({48: "1", 49: "0"})):
        aqe, codegen, sorts, parquet = (bit == "1" for bit in way)
        pair: Pair = request.getfixturevalue("parquet" if parquet else "delta")
        wanted = {
            "spark.sql.adaptive.enabled": str(aqe).lower(),
            "spark.sql.codegen.wholeStage": str(codegen).lower(),
            "spark.skipstone.joins.hashedBytes": "1" if sorts else "100000",
        }
        with settings_of(pair.spark, wanted):
            for place, kind in enumerate(TYPES):
                key = keys[(number + place) % len(keys)]
                more = f" AND x.{keys[place]} = y.{keys[place]}" if parquet else ""
                pair.joined_in_groups(
                    f"SELECT {columns(kind)} FROM {{a}} x {kind} (SELECT * FROM {{b}} WHERE other < 4) y "
                    f"ON x.{key} = y.{key}{more}",
                    1,
                )


SHAPES = {
    "grouped above": "SELECT x.d, count(*), sum(y.row) FROM {a} x JOIN {b} y ON x.k = y.k GROUP BY x.d",
    "sorted above": "SELECT x.row, y.row AS o FROM {a} x JOIN {b} y ON x.k = y.k ORDER BY 1, 2 LIMIT 7",
    "joined above": "SELECT x.row, z.row FROM {a} x JOIN {b} y ON x.k = y.k JOIN {a} z ON z.row = y.row",
    "with itself": "SELECT x.row, y.row FROM {b} x LEFT JOIN {b} y ON x.i = y.i AND y.other = 1",
    "in a subquery": "SELECT row FROM {a} WHERE row IN (SELECT x.row FROM {a} x JOIN {b} y ON x.i = y.i)",
    "twice the same": "SELECT * FROM (SELECT x.d, count(*) FROM {a} x JOIN {b} y USING (k) GROUP BY 1) p "
    "JOIN (SELECT x.d, count(*) FROM {a} x JOIN {b} y USING (k) GROUP BY 1) q USING (d)",
    "with renamed columns": "SELECT * FROM (SELECT k AS m, row AS r FROM {a}) x JOIN {b} y ON x.m = y.k",
    "united": "SELECT x.row, y.row FROM {a} x JOIN {b} y ON x.i = y.i UNION ALL "
    "SELECT x.row, y.row FROM {b} x LEFT JOIN {a} y ON x.k = y.k",
    "in fewer tasks": "SELECT /*+ COALESCE(1) */ x.row, y.row FROM {a} x JOIN {b} y ON x.i = y.i",
    "crossed": "SELECT x.row, z.n FROM {a} x JOIN {b} y ON x.i = y.i "
    "CROSS JOIN (SELECT explode(array(1, 2)) n) z",
    "limited": "SELECT count(*) FROM (SELECT x.row FROM {a} x JOIN {b} y ON x.i = y.i LIMIT 50)",
    "null-safe beside": "SELECT x.row, y.row FROM {a} x JOIN {b} y ON x.i = y.i AND x.s <=> y.s",
}


@pytest.mark.parametrize("aqe", ["true", "false"])
def test_joins_in_plans_of_every_shape(delta: Pair, aqe: str) -> None:
    with settings_of(delta.spark, {"spark.sql.adaptive.enabled": aqe}):
        for text in SHAPES.values():
            assert "GROUPED" in {join.code for join in delta.joins(text)}, text
            assert_same(delta.spark, delta.query(text))


def test_explain_says_groups_how_often_they_read_and_what_is_not_shuffled(delta: Pair) -> None:
    said = delta.joined_in_groups("SELECT x.row, y.row FROM {a} x JOIN {b} y ON x.i = y.i")
    groups, left, right, row_bytes = (
        float(each.replace(",", "")) for each in re.findall(r"\d[\d.,]*\d|\d", said)
    )
    assert groups >= 2
    assert 1 <= left <= 2
    assert right >= 1
    assert row_bytes > 1_000, "two tables of 600 rows"
    (scan, *_) = delta.tables[0].explain(delta.query("SELECT x.row FROM {a} x JOIN {b} y ON x.i = y.i")).scans
    assert "bytes of rows are not shuffled [GROUPED]" in scan.joins[0].line()


def test_a_plan_is_cached_and_run_again(delta: Pair) -> None:
    frame = delta.spark.sql(delta.query("SELECT x.row, y.i FROM {a} x JOIN {b} y ON x.k = y.k"))
    first = sorted(map(repr, frame.collect()))
    assert sorted(map(repr, frame.collect())) == first
    frame.cache()
    try:
        assert sorted(map(repr, frame.collect())) == first
        assert frame.union(frame).count() == 2 * len(first)
    finally:
        frame.unpersist()


LEFT_TO_SPARK = {
    "EMPTY": "SELECT x.row FROM {a} x JOIN {b} y ON x.k = y.k AND x.row < 0",
    "HINT": "SELECT /*+ MERGE(x) */ x.row FROM {a} x JOIN {b} y ON x.k = y.k",
    "KEY_TYPE": "SELECT x.row FROM {a} x JOIN {b} y ON x.k + 1 = y.k",
    "SCAN": "SELECT x._metadata.file_name FROM delta.`{folder}/a_delta` x JOIN {b} y ON x.k = y.k",
}


def test_what_is_unusual_is_left_to_spark_with_a_reason(delta: Pair) -> None:
    for code, text in LEFT_TO_SPARK.items():
        delta.left_to_spark(text, code)
    broadcast = {"spark.sql.autoBroadcastJoinThreshold": "10000000"}
    with settings_of(delta.spark, broadcast):
        delta.left_to_spark("SELECT x.row FROM {a} x JOIN {b} y ON x.k = y.k", "BROADCASTS")
    query = "SELECT x.row FROM {a} x JOIN {b} y ON x.k = y.k"
    for switch in ("spark.skipstone.joins.grouped", "spark.skipstone.enabled"):
        with settings_of(delta.spark, {switch: "false"}):
            assert "Exchange" in delta.plan(query)
    assert "Exchange" not in delta.plan(query)


def test_deletion_vectors_column_mapping_partitions_and_files_without_an_entry(
    spark: SparkSession, tmp_path: Path
) -> None:
    wanted = {
        "spark.databricks.delta.properties.defaults.enableDeletionVectors": "true",
        "spark.databricks.delta.properties.defaults.columnMapping.mode": "name",
    }
    with settings_of(spark, wanted):
        pair = write(spark, tmp_path, "delta")
    a, b = (f"delta.`{tmp_path / name}`" for name in pair.names)
    spark.sql(f"ALTER TABLE {a} RENAME COLUMN k TO key")
    spark.sql(f"DELETE FROM {a} WHERE i % 10 = 3")
    spark.sql(f"DELETE FROM {b} WHERE i = 50")
    spark.sql(f"INSERT INTO {b} SELECT * FROM {b} WHERE i = 60 OR k IS NULL")
    for kind in ("JOIN", "FULL JOIN", "LEFT ANTI JOIN"):
        pair.joined_in_groups(f"SELECT {columns(kind)} FROM {a} x {kind} {b} y ON x.key = y.k", 1)
