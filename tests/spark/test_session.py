from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from skipstone.errors import SkipstoneError
from skipstone.spark.session import session


@pytest.mark.parametrize(
    ("variable", "value"), [("SPARK_REMOTE", "sc://localhost"), ("SPARK_API_MODE", "connect")]
)
def test_spark_connect_is_refused_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SkipstoneError, match="Spark Connect"):
        session()


def test_a_remote_given_as_a_setting_is_refused_too() -> None:
    with pytest.raises(SkipstoneError, match="Spark Connect"):
        session(config={"spark.remote": "sc://localhost"})


def test_without_java_the_session_says_what_to_install(tmp_path: Path) -> None:
    program = "import skipstone.spark.session as s\ntry: s.session()\nexcept Exception as e: print(e)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PATH": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2] / "src")},
        capture_output=True,
        text=True,
    )
    assert done.stdout.startswith("skipstone needs Java 17 or newer, but found none; install a JDK 17")


def test_a_session_reads_and_writes_delta_without_any_step_of_the_users(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = str(tmp_path / "table")
    spark.range(10).write.format("delta").save(path)
    spark.sql(f"DELETE FROM delta.`{path}` WHERE id < 3")
    assert spark.read.format("delta").load(path).count() == 7


def test_a_running_spark_is_reused_as_it_is(spark: SparkSession) -> None:
    again = session(app_name="other", master="local[1]")
    assert again.sparkContext is spark.sparkContext
    assert again.sparkContext.master == "local[2]"
    assert again.conf.get("spark.sql.shuffle.partitions") == "2"


def test_the_driver_listens_on_this_machine_only(spark: SparkSession) -> None:
    conf = spark.sparkContext.getConf()
    assert conf.get("spark.driver.bindAddress") == "127.0.0.1"
    assert conf.get("spark.ui.enabled") == "false"
    assert spark.sparkContext.uiWebUrl is None


def test_what_the_caller_sets_wins_and_extensions_are_added_to() -> None:
    """In a process of its own, because a JVM takes its class path and extensions only at its start."""
    program = """
import skipstone.spark.session as s
spark = s._new_session("mine", "local[1]", {
    "spark.sql.shuffle.partitions": "7",
    "spark.sql.extensions": "org.example.NotThere",
}, delta=True)
print(spark.conf.get("spark.sql.shuffle.partitions"), spark.conf.get("spark.sql.extensions"))
print(spark.sparkContext.appName, spark.sparkContext.defaultParallelism)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "7 org.example.NotThere,io.delta.sql.DeltaSparkSessionExtension",
        "mine 1",
    ]
