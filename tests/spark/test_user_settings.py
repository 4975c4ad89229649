from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from skipstone.errors import SkipstoneError
from skipstone.spark.user_settings import (
    SUBMIT_ARGS,
    insisting_on,
    read_properties,
    submit_settings,
    user_settings,
)


def conf(directory: Path, text: str) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "spark-defaults.conf").write_text(text, encoding="utf-8")
    return directory


def test_the_defaults_of_spark_home_are_read_unless_there_is_a_directory_for_settings(tmp_path: Path) -> None:
    conf(tmp_path / "home" / "conf", "spark.master yarn\nspark.a 1")
    home = str(tmp_path / "home")
    assert user_settings({}, home) == {"spark.master": "yarn", "spark.a": "1"}
    other = conf(tmp_path / "other", "spark.master=local[3]")
    assert user_settings({"SPARK_CONF_DIR": str(other)}, home) == {"spark.master": "local[3]"}
    assert user_settings({"SPARK_CONF_DIR": str(tmp_path / "none")}, home) == {}


def test_submit_arguments_beat_the_file_and_the_file_beats_the_variable(tmp_path: Path) -> None:
    conf(tmp_path / "conf", "spark.master yarn\nspark.a 1")
    environ = {"MASTER": "local[7]"}
    assert user_settings(environ, str(tmp_path / "nowhere")) == {"spark.master": "local[7]"}
    assert user_settings(environ, str(tmp_path))["spark.master"] == "yarn"
    environ[SUBMIT_ARGS] = "--conf spark.master=local[1] --master 'local[2]' -c spark.a=2 pyspark-shell"
    assert user_settings(environ, str(tmp_path)) == {"spark.master": "local[2]", "spark.a": "2"}


def test_a_properties_file_replaces_the_defaults_unless_both_are_asked_for(tmp_path: Path) -> None:
    conf(tmp_path / "conf", "spark.a 1\nspark.b 1")
    mine = tmp_path / "mine.conf"
    mine.write_text("spark.a 2\n")
    alone = {SUBMIT_ARGS: f"--properties-file {mine} pyspark-shell"}
    assert user_settings(alone, str(tmp_path)) == {"spark.a": "2"}
    both = {SUBMIT_ARGS: f"--load-spark-defaults --properties-file={mine} pyspark-shell"}
    assert user_settings(both, str(tmp_path)) == {"spark.a": "2", "spark.b": "1"}
    with pytest.raises(SkipstoneError, match=r"gone\.conf cannot be read"):
        user_settings({SUBMIT_ARGS: "--properties-file gone.conf pyspark-shell"}, str(tmp_path))


def test_submit_arguments_that_are_no_shell_words_are_named() -> None:
    with pytest.raises(SkipstoneError, match="PYSPARK_SUBMIT_ARGS cannot be read: No closing quotation"):
        user_settings({SUBMIT_ARGS: "--conf 'spark.a=1"}, "/nowhere")


def test_options_of_spark_submit_are_settings() -> None:
    given = "--jars a.jar,b.jar --packages g:a:1 --driver-memory 2g --name me --remote sc://h pyspark-shell"
    assert submit_settings(given.split()) == {
        "spark.jars": "a.jar,b.jar",
        "spark.jars.packages": "g:a:1",
        "spark.driver.memory": "2g",
        "spark.app.name": "me",
        "spark.remote": "sc://h",
    }


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("spark.x y", "y"),
        ("spark.x\ty", "y"),
        ("  spark.x = y ", "y"),
        ("spark.x:y", "y"),
        ("spark.x", ""),
        ("spark.x a=b:c", "a=b:c"),
        ("spark.x a\\\n    b", "ab"),
        ("spark.x C:\\\\temp", "C:\\temp"),
        ("spark.x \\u00e9", "é"),
        ("# spark.x 1\n! spark.x 2\nspark.x 3", "3"),
    ],
)
def test_a_line_of_a_properties_file_is_read_as_java_reads_it(line: str, value: str) -> None:
    assert read_properties(line) == {"spark.x": value}


def test_a_jvm_that_starts_gets_our_settings_after_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    user = "--jars mine.jar --conf spark.b='1 2' pyspark-shell"
    monkeypatch.setenv(SUBMIT_ARGS, user)
    with insisting_on({"spark.jars": "mine.jar,ours.jar", "spark.b": "3"}):
        arguments = shlex.split(os.environ[SUBMIT_ARGS])
    assert arguments[-1] == "pyspark-shell"
    assert submit_settings(arguments) == {"spark.jars": "mine.jar,ours.jar", "spark.b": "3"}
    assert os.environ[SUBMIT_ARGS] == user
    monkeypatch.delenv(SUBMIT_ARGS)
    with insisting_on({"spark.b": "3"}):
        assert SUBMIT_ARGS not in os.environ
