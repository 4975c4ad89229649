"""Find the Java that Spark will start, and say in one sentence what to install when it cannot.

Spark looks at ``JAVA_HOME`` first and at ``PATH`` second; so does this module, because a check of any
other Java would prove nothing. Everything here is standard library: it runs before anything is installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from skipstone.errors import SkipstoneError

__all__ = ["MINIMUM_JAVA", "Java", "find_java", "major_version"]

MINIMUM_JAVA = 17
_REMEDY = "install a JDK 17 or newer (for example the package openjdk-17-jre-headless) or set JAVA_HOME"
_VERSION = re.compile(r'version "(\d+)(?:\.(\d+))?')


@dataclass(frozen=True, slots=True)
class Java:
    """A Java that runs: its executable and its major version."""

    path: Path
    major: int


def major_version(output: str) -> int | None:
    """Read the major version from what ``java -version`` prints.

    >>> major_version('openjdk version "17.0.15" 2025-04-15')
    17
    >>> major_version('java version "1.8.0_392"')
    8
    >>> major_version('openjdk version "24-ea" 2025-03-18')
    24
    >>> major_version("Unable to locate a Java Runtime.") is None
    True
    """
    found = _VERSION.search(output)
    if found is None:
        return None
    first, second = found.groups()
    # Up to Java 8 the major version was the second number.
    return int(second) if first == "1" and second else int(first)


def find_java(environ: Mapping[str, str] | None = None) -> Java:
    """Return the Java that Spark will use, or raise ``SkipstoneError`` when it is missing or too old."""
    path = _executable(os.environ if environ is None else environ)
    major = major_version(_version_output(path))
    if major is None:
        raise SkipstoneError(
            f"skipstone needs Java {MINIMUM_JAVA} or newer, but {path} does not say its version; {_REMEDY}."
        )
    if major < MINIMUM_JAVA:
        raise SkipstoneError(
            f"skipstone needs Java {MINIMUM_JAVA} or newer, but found Java {major} at {path}; {_REMEDY}."
        )
    return Java(path, major)


def _executable(environ: Mapping[str, str]) -> Path:
    home = environ.get("JAVA_HOME")
    if home:
        found = shutil.which("java", path=str(Path(home, "bin")))
        if found is None:
            raise SkipstoneError(
                f"skipstone needs Java {MINIMUM_JAVA} or newer, but JAVA_HOME is {home}, "
                f"which has no bin/java; {_REMEDY} to where it is."
            )
        return Path(found)
    found = shutil.which("java", path=environ.get("PATH", os.defpath))
    if found is None:
        raise SkipstoneError(f"skipstone needs Java {MINIMUM_JAVA} or newer, but found none; {_REMEDY}.")
    return Path(found)


def _version_output(path: Path) -> str:
    try:
        done = subprocess.run([str(path), "-version"], capture_output=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    # A Java that fails may still print something that looks like a version.
    return (done.stderr + done.stdout).decode(errors="replace") if done.returncode == 0 else ""


def main() -> int:
    """Check Java from the command line: silent when it is fine, one sentence when it is not."""
    try:
        find_java()
    except SkipstoneError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
