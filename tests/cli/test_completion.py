from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Cli

import skipstone
from skipstone.layout.layouts import LAYOUTS


def completed(words: str) -> set[str]:
    """What bash would offer for the last word."""
    environment = os.environ | {
        "PYTHONPATH": str(Path(skipstone.__file__).parents[1]),
        "_SKIPSTONE_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    program = (
        "import sys\nfrom skipstone.cli.main import app\n"
        "try: app(prog_name='skipstone')\n"
        "finally: assert 'pyspark' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False
    )
    assert "AssertionError" not in done.stderr, "completing needs no Spark"
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("skipstone rep", {"repair", "replay", "replicas", "replicate"}),
        ("skipstone log ", {"show", "import", "clear"}),
        ("skipstone optimize t --layout ", {"auto", *LAYOUTS}),
        ("skipstone auto t --layout s", {"sop", "selforg"}),
        ("skipstone auto t --curve h", {"hilbert"}),
        ("skipstone advise t --dialect snow", {"snowflake"}),
        ("skipstone status t --mas", {"--master"}),
        ("skipstone status t --master y", {"yarn"}),
    ],
)
def test_the_shell_completes_commands_options_and_names_without_spark(words: str, offered: set[str]) -> None:
    assert completed(words) == offered


def test_the_completion_can_be_shown_and_installed() -> None:
    text = Cli()("--help").stdout
    assert "--install-completion" in text
    assert "--show-completion" in text


def test_help_imports_neither_spark_nor_arrays() -> None:
    program = (
        "import sys\nfrom skipstone.cli.main import app\n"
        "try: app(['--help'])\n"
        "except SystemExit: print({'pyspark', 'py4j', 'numpy', 'pyarrow', 'rich'} & set(sys.modules))"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(skipstone.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=False
    )
    assert done.stdout.splitlines()[-1] == "set()", done.stdout + done.stderr
