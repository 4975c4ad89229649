from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from skipstone.errors import SkipstoneError
from skipstone.spark.find_java import find_java, main

VERSION_OUTPUT = {
    8: 'java version "1.8.0_392"\nJava(TM) SE Runtime Environment (build 1.8.0_392-b08)',
    11: 'openjdk version "11.0.22" 2024-01-16',
    17: 'openjdk version "17.0.15" 2025-04-15',
    21: 'openjdk version "21" 2023-09-19 LTS',
    25: 'Picked up JAVA_TOOL_OPTIONS: -Dsome="x"\nopenjdk version "25-ea" 2025-09-16',
}


def fake_java(directory: Path, output: str, code: int = 0) -> Path:
    """A home with a bin/java that prints like a real one, on stderr."""
    java = directory / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{output}\nEND\nexit {code}\n")
    java.chmod(0o755)
    return java


@pytest.mark.parametrize("major", [17, 21, 25])
def test_a_new_enough_java_is_found_through_java_home(tmp_path: Path, major: int) -> None:
    java = fake_java(tmp_path, VERSION_OUTPUT[major])
    found = find_java({"JAVA_HOME": str(tmp_path), "PATH": "/nowhere"})
    assert (found.path, found.major) == (java, major)


def test_without_java_home_the_path_is_searched(tmp_path: Path) -> None:
    java = fake_java(tmp_path, VERSION_OUTPUT[17])
    assert find_java({"PATH": str(java.parent)}).path == java


def test_java_home_wins_over_the_path_because_spark_does_the_same(tmp_path: Path) -> None:
    fake_java(tmp_path / "old", VERSION_OUTPUT[11])
    new = fake_java(tmp_path / "new", VERSION_OUTPUT[17])
    with pytest.raises(SkipstoneError, match="found Java 11"):
        find_java({"JAVA_HOME": str(tmp_path / "old"), "PATH": str(new.parent)})


@pytest.mark.parametrize("major", [8, 11])
def test_an_old_java_is_refused_with_its_version_its_path_and_the_remedy(tmp_path: Path, major: int) -> None:
    java = fake_java(tmp_path, VERSION_OUTPUT[major])
    with pytest.raises(SkipstoneError) as raised:
        find_java({"JAVA_HOME": str(tmp_path)})
    assert str(raised.value) == (
        f"skipstone needs Java 17 or newer, but found Java {major} at {java}; install a JDK 17 or newer "
        "(for example the package openjdk-17-jre-headless) or set JAVA_HOME."
    )


def test_no_java_at_all_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(SkipstoneError, match=r"found none; install a JDK 17 .* or set JAVA_HOME\.$"):
        find_java({"PATH": str(tmp_path)})


def test_a_java_home_without_java_is_named(tmp_path: Path) -> None:
    with pytest.raises(SkipstoneError, match="has no bin/java") as raised:
        find_java({"JAVA_HOME": str(tmp_path)})
    assert str(tmp_path) in str(raised.value)


@pytest.mark.parametrize(
    ("output", "code"),
    [
        ("The operation couldn't be completed. Unable to locate a Java Runtime.", 1),
        ("", 0),
        ('openjdk version "17.0.15"\nerror: could not load libjvm.so', 127),
    ],
)
def test_a_java_that_does_not_run_is_refused(tmp_path: Path, output: str, code: int) -> None:
    fake_java(tmp_path, output, code)
    with pytest.raises(SkipstoneError, match="does not say its version; install"):
        find_java({"JAVA_HOME": str(tmp_path)})


def test_a_file_that_is_no_program_is_refused(tmp_path: Path) -> None:
    fake_java(tmp_path, "").write_bytes(b"\x00\x01 no program")
    with pytest.raises(SkipstoneError, match="does not say its version"):
        find_java({"JAVA_HOME": str(tmp_path)})


def test_the_command_prints_one_sentence_and_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert main() == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_the_machine_check_needs_nothing_installed(tmp_path: Path) -> None:
    """It runs before anything is: -I and -S leave the standard library and nothing else."""
    script = Path(__file__).parents[2] / ".ci" / "check_machine.py"
    command = [sys.executable, "-I", "-S", str(script)]
    fake_java(tmp_path / "good", VERSION_OUTPUT[17])
    fake_java(tmp_path / "bad", VERSION_OUTPUT[8])
    good, bad = (
        subprocess.run(
            command, env={"JAVA_HOME": str(tmp_path / name)}, capture_output=True, text=True, check=False
        )
        for name in ("good", "bad")
    )
    assert (good.returncode, good.stderr) == (0, "")
    assert bad.returncode == 1
    assert bad.stderr.startswith("skipstone needs Java 17 or newer, but found Java 8")
