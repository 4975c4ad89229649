from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.light_plans import LIGHT_PLANS

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
        check=False,
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
    assert again.conf.get("spark.sql.shuffle.partitions") == LIGHT_PLANS["spark.sql.shuffle.partitions"]


def test_the_driver_listens_on_this_machine_only(spark: SparkSession) -> None:
    conf = spark.sparkContext.getConf()
    assert conf.get("spark.driver.bindAddress") == "127.0.0.1"
    assert conf.get("spark.ui.enabled") == "false"
    assert spark.sparkContext.uiWebUrl is None


def test_what_the_user_sets_anywhere_is_kept_and_ours_is_added(tmp_path: Path) -> None:
    """In a process of its own, because a JVM takes its class path and extensions only at its start."""
    (tmp_path / "spark-defaults.conf").write_text(
        "spark.master local[1]\nspark.sql.extensions org.example.NotThere\nspark.sql.shuffle.partitions 7\n"
        "spark.sql.session.timeZone UTC\n"
    )
    (tmp_path / "mine.jar").write_bytes(b"PK\5\6" + bytes(18))  # an archive with nothing in it
    program = """
import skipstone.spark.session as s
spark = s._new_session(None, None, {"spark.sql.session.timeZone": "Asia/Tokyo"}, delta=True)
conf = spark.sparkContext.getConf()
print(spark.sparkContext.master, spark.conf.get("spark.sql.shuffle.partitions"))
print(spark.conf.get("spark.sql.session.timeZone"), spark.conf.get("spark.sql.ansi.enabled"))
print(spark.conf.get("spark.sql.extensions"))
print([jar.rpartition("/")[2].partition("_")[0] for jar in conf.get("spark.jars").split(",")][:2])
print(spark.sparkContext.appName, conf.get("spark.driver.memory"))
spark.range(3).write.format("delta").save("table")
print(spark.read.format("delta").load("table").count())
"""
    given = f"--jars {tmp_path}/mine.jar --driver-memory 700m --conf spark.sql.ansi.enabled=false"
    environ = os.environ | {"SPARK_CONF_DIR": str(tmp_path), "PYSPARK_SUBMIT_ARGS": f"{given} pyspark-shell"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=environ,
        cwd=tmp_path,
        check=False,
    )
    assert done.stdout.splitlines() == [
        "local[1] 7",
        "Asia/Tokyo false",
        "org.example.NotThere,io.delta.sql.DeltaSparkSessionExtension",
        "['mine.jar', 'delta-spark']",
        "skipstone 700m",
        "3",
    ], done.stderr


def test_a_master_that_does_not_answer_is_one_sentence_before_java_starts() -> None:
    program = "import skipstone.spark.session as s\ntry: s.session(master='spark://127.0.0.1:1')\n"
    program += "except s.SkipstoneError as e: print(e)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "The Spark master spark://127.0.0.1:1 does not answer: Connection refused.\n"
