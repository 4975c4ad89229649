"""Turning skipping on and off: sessions, threads, other rules, and where it cannot work."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.e2e.checks import assert_same, assert_skips, scan_of
from tests.e2e.conftest import Orders

import skipstone
from skipstone.spark.bridge.jvm import JavaObject


def _rules(spark: SparkSession) -> Any:
    return spark._jsparkSession.sessionState().experimentalMethods().extraOptimizations()


def _names(spark: SparkSession) -> list[str]:
    rules = _rules(spark)
    return [rules.apply(index).getClass().getName() for index in range(rules.size())]


def _foreign_rule(spark: SparkSession) -> JavaObject:
    """A rule of somebody else, which does nothing."""
    jvm: JavaObject = spark._jvm
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook(
        "public class Foreign extends org.apache.spark.sql.catalyst.rules.Rule {"
        " public org.apache.spark.sql.catalyst.trees.TreeNode apply("
        "org.apache.spark.sql.catalyst.trees.TreeNode plan) { return plan; } }"
    )
    constructor = compiler.getClassLoader().loadClass("Foreign").getConstructors()[0]
    gateway: JavaObject = spark.sparkContext._gateway
    return constructor.newInstance(gateway.new_array(jvm.java.lang.Object, 0))


def test_enabling_twice_is_harmless_and_disabling_restores_the_session(orders: Orders) -> None:
    spark = orders.table.spark
    methods = spark._jsparkSession.sessionState().experimentalMethods()
    before = _rules(spark)
    getattr(methods, "extraOptimizations_$eq")(before.prepended(_foreign_rule(spark)))
    query = f"SELECT id FROM {orders.name} WHERE id < 10"
    try:
        skipstone.enable(spark)
        assert skipstone.enable(spark) is spark
        assert [name for name in _names(spark) if "skipstone" in name.lower()] == ["skipstone.SkipRule"]
        assert_skips(orders.table, query, rows=10, read=1)
        skipstone.disable(spark)
        skipstone.disable(spark)
        assert _names(spark) == ["Foreign"]
        assert len(spark.sql(query).inputFiles()) == 8
        assert (
            len(spark.newSession().sql(f"SELECT id FROM parquet.`{orders.path}` WHERE id < 10").inputFiles())
            == 8
        )
        skipstone.enable(spark)
        assert "Foreign" in _names(spark)
        assert_skips(orders.table, query, rows=10, read=1)
    finally:
        getattr(methods, "extraOptimizations_$eq")(before)
        skipstone.enable(spark)


def test_the_switch_turns_it_off_for_a_session(orders: Orders) -> None:
    spark = orders.table.spark
    query = f"SELECT id FROM {orders.name} WHERE id < 10"
    spark.conf.set("spark.skipstone.enabled", "false")
    assert len(spark.sql(query).inputFiles()) == 8
    spark.conf.set("spark.skipstone.enabled", "true")
    assert len(spark.sql(query).inputFiles()) == 1


def test_a_new_session_skips_too(orders: Orders) -> None:
    new = orders.table.spark.newSession()
    format_ = orders.name.removeprefix("orders_")
    query = f"SELECT id FROM {format_}.`{orders.path}` WHERE id < 10"
    assert len(new.sql(query).collect()) == 10
    assert scan_of(orders.table, lambda: new.sql(query)).files_read == 1
    assert len(new.sql(query).inputFiles()) == 1


def test_eight_threads_at_once(orders: Orders) -> None:
    spark = orders.table.spark
    sessions = [spark if index % 2 else spark.newSession() for index in range(8)]
    format_ = orders.name.removeprefix("orders_")

    def ask(index: int) -> list[tuple[int, int]]:
        found = []
        for turn in range(3):
            start = (index * 97 + turn * 31) % 700
            frame = sessions[index].sql(
                f"SELECT id FROM {format_}.`{orders.path}` WHERE id BETWEEN {start} AND {start + 9}"
            )
            found.append((len(frame.collect()), len(frame.inputFiles())))
        return found

    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(ask, range(8)):
            assert all(rows == 10 and files in (1, 2) for rows, files in found), found


def test_a_version_of_spark_out_of_the_tested_range_is_refused(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(spark), "version", property(lambda self: "3.5.1"))
    with pytest.raises(
        skipstone.SkipstoneError, match=r"tested with Spark 4\.2\.x and this is Spark 3\.5\.1"
    ):
        skipstone.enable(spark)


def test_spark_connect_is_refused() -> None:
    class Remote:
        """What a Connect session looks like: no JVM behind it."""

        version = "4.2.0"

    with pytest.raises(skipstone.SkipstoneError, match="Spark Connect"):
        skipstone.enable(Remote())  # type: ignore[arg-type]


def test_tables_without_a_catalog_are_left_alone(spark: SparkSession, orders: Orders, tmp_path: Any) -> None:
    spark.range(0, 40, 1, 4).write.parquet(str(tmp_path / "plain"))
    query = f"SELECT id FROM parquet.`{tmp_path / 'plain'}` WHERE id < 5"
    assert_same(spark, query, rows=5)
    assert orders.table.explain(query).scans == ()
    joined = (
        f"SELECT a.id FROM {orders.name} a JOIN parquet.`{tmp_path / 'plain'}` b USING (id) WHERE a.id < 5"
    )
    assert_same(spark, joined, rows=5)
    assert scan_of(orders.table, joined).files_read == 1
