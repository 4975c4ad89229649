"""The first use of Spark by many threads at once, and what is said once Spark has stopped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.spark.bridge.first_use import THREADS

import skipstone

_SOURCES = Path(skipstone.__file__).parents[1]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """In a process of its own, for a JVM has only one first use, and others need theirs to go on."""
    folder = tmp_path_factory.mktemp("first_use")
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("first_use.py")), str(folder)],
        env=os.environ | {"PYTHONPATH": str(_SOURCES)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_threads_that_use_spark_first_all_at_once_all_skip(seen: Any) -> None:
    assert seen["failures"] == []
    assert seen["read"] == [1] * THREADS, "each table has two files, and one is read"


def test_a_stopped_session_is_named_in_one_sentence(seen: Any) -> None:
    said = "The Spark session has stopped; start a new one with skipstone.session() and use that one."
    assert seen["session"] == dict.fromkeys(("enable", "disable", "table"), said)


@pytest.mark.parametrize("when", ["stopped", "another session runs"])
def test_a_table_of_a_stopped_session_says_so_whatever_it_is_asked(seen: Any, when: str) -> None:
    (said,) = set(seen[when].values())
    assert said.startswith("The Spark session in which /")
    assert said.endswith(
        "/t1 was opened has stopped; start a new one with skipstone.session() and open the table in it "
        "again with skipstone.table()."
    )
    asked = {name.partition(" ")[0] for name in seen[when]}
    assert set(seen["public"]) == asked, "every method is asked"


def test_a_table_that_is_opened_again_in_a_new_session_skips(seen: Any) -> None:
    assert seen["opened again"] == 1
