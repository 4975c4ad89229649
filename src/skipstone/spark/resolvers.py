"""Two ways to ask a Maven repository for jars: Spark's own Ivy, and ``mvn``.

Ivy comes with every Spark and honours ``spark.jars.ivySettings``; Maven honours ``settings.xml``, which is
where a company's mirror is usually configured. Either fetches exactly the named jars, without what they
depend on, and gives the same answer: the file of each coordinate.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

__all__ = ["ResolveError", "Resolver", "resolve_with_ivy", "resolve_with_maven"]

Resolver = Callable[[Sequence[str], Path], Mapping[str, Path]]
"""From coordinates and an empty directory to work in, to the jar of each coordinate."""

_TIMEOUT_SECONDS = 900
_LONGEST_CAUSE = 160
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_TELLING_SIGNS = ("access error", "[ERROR]", "unresolved dependency", "Exception", "Error")  # the best first
_MAVEN_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"

# Runs in a process of its own: the JVM of this one must start later, with the jars on its class path.
_IVY_PROGRAM = """
import json, sys
from pyspark import SparkConf
from pyspark.java_gateway import launch_gateway
ivy_directory, answer, *coordinates = sys.argv[1:]
conf = SparkConf(False).set("spark.jars.ivy", ivy_directory)
gateway = launch_gateway(conf)
jvm = gateway.jvm
jvm.java.lang.System.setProperty("spark.jars.ivy", ivy_directory)
resolve = jvm.org.apache.spark.util.DependencyUtils.resolveMavenDependencies
found = {}
for coordinate in coordinates:
    uri = jvm.java.net.URI.create(f"ivy://{coordinate}?transitive=false")
    found[coordinate] = resolve(uri).mkString(",")
with open(answer, "w", encoding="utf-8") as file:
    json.dump(found, file)
gateway.shutdown()
"""


class ResolveError(Exception):
    """One resolver could not deliver; another may."""


def resolve_with_ivy(coordinates: Sequence[str], work: Path) -> Mapping[str, Path]:
    """Fetch jars through the Ivy that Spark carries, with its cache inside ``work``."""
    answer = work / "answer.json"
    command = [sys.executable, "-c", _IVY_PROGRAM, str(work / "ivy"), str(answer), *coordinates]
    # What the caller set up for its own session must not leak into this JVM.
    leaky = {"PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET", "SPARK_REMOTE"}
    environ = {name: value for name, value in os.environ.items() if name not in leaky}
    _run("Spark's Ivy", command, work, environ)
    try:
        found: dict[str, str] = json.loads(answer.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ResolveError("Spark's Ivy gave no answer") from error
    return _existing("Spark's Ivy", {name: Path(path) for name, path in found.items()})


def resolve_with_maven(coordinates: Sequence[str], work: Path) -> Mapping[str, Path]:
    """Fetch jars with ``mvn``, through the user's own Maven settings."""
    mvn = shutil.which("mvn")
    if mvn is None:
        raise ResolveError("mvn is not installed")
    pom, jars = work / "pom.xml", work / "jars"
    pom.write_text(_pom(coordinates), encoding="utf-8")
    options = ["-DexcludeTransitive=true", "-Dmdep.useBaseVersion=true", f"-DoutputDirectory={jars}"]
    command = [mvn, "-q", "-B", "-C", "-f", str(pom), _MAVEN_GOAL, *options]
    _run("mvn", command, work, dict(os.environ))
    return _existing("mvn", {name: jars / _file_name(name) for name in coordinates})


def _run(who: str, command: list[str], work: Path, environ: dict[str, str]) -> None:
    try:
        done = subprocess.run(
            command, cwd=work, env=environ, capture_output=True, timeout=_TIMEOUT_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise ResolveError(f"{who} gave up after {_TIMEOUT_SECONDS} s") from error
    except OSError as error:
        raise ResolveError(f"{who} did not start: {error.strerror}") from error
    if done.returncode != 0:
        raise ResolveError(f"{who} failed: {_cause((done.stdout + done.stderr).decode(errors='replace'))}")


def _cause(output: str) -> str:
    r"""Pick from a tool's long output the line that says what went wrong.

    >>> _cause("WARN x\n\x1b[1m[ERROR] Could not resolve io.delta:a:1\n[ERROR] -> [Help 1]\n")
    'Could not resolve io.delta:a:1'
    >>> _cause(":::: ERRORS\n\tServer access error at url u (Connection refused)\nException: x")
    'Server access error at url u (Connection refused)'
    """
    lines = [line.strip() for line in _COLOUR.sub("", output).splitlines() if line.strip()]
    for sign in _TELLING_SIGNS:
        for line in lines:
            if sign in line:
                return line.removeprefix("[ERROR]").strip()[:_LONGEST_CAUSE]
    return lines[-1][:_LONGEST_CAUSE] if lines else "no output"


def _existing(who: str, found: dict[str, Path]) -> dict[str, Path]:
    for coordinate, path in found.items():
        if not path.is_file():
            raise ResolveError(f"{who} did not deliver {coordinate}")
    return found


def _file_name(coordinate: str) -> str:
    _, artifact, version = coordinate.split(":")
    return f"{artifact}-{version}.jar"


def _pom(coordinates: Sequence[str]) -> str:
    # The wildcard exclusion keeps Maven from even looking for what these jars depend on.
    exclusion = "<exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion>"
    dependencies = "\n".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version>"
        f"<exclusions>{exclusion}</exclusions></dependency>"
        for group, artifact, version in (coordinate.split(":") for coordinate in coordinates)
    )
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0">\n<modelVersion>4.0.0</modelVersion>\n'
        "<groupId>skipstone</groupId><artifactId>jars</artifactId><version>1</version><packaging>pom</packaging>\n"
        f"<dependencies>\n{dependencies}\n</dependencies>\n</project>\n"
    )
