"""The settings that a user has chosen outside of Python, as ``spark-submit`` would find them.

From weak to strong: the environment variable ``MASTER``, ``spark-defaults.conf`` (in ``SPARK_CONF_DIR``, else
in ``SPARK_HOME/conf``) or the ``--properties-file`` that replaces it, and ``PYSPARK_SUBMIT_ARGS``. PySpark
passes what is set in Python to ``spark-submit`` as ``--conf``, which beats the file and loses to the rest.
So whoever sets a default must know what is set already. Under ``spark-submit`` itself, its JVM knows it.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from skipstone.errors import SkipstoneError

__all__ = ["SUBMIT_ARGS", "insisting_on", "read_properties", "submit_settings", "user_settings"]

SUBMIT_ARGS = "PYSPARK_SUBMIT_ARGS"
_SHELL = "pyspark-shell"
# Options of spark-submit that stand for a setting; they beat the same setting given by --conf.
_OPTIONS = {
    "--master": "spark.master",
    "--remote": "spark.remote",
    "--name": "spark.app.name",
    "--jars": "spark.jars",
    "--packages": "spark.jars.packages",
    "--driver-memory": "spark.driver.memory",
    "--driver-java-options": "spark.driver.extraJavaOptions",
}
_PROPERTY = re.compile(r"((?:\\.|[^\\=:\s])+)\s*[=:]?\s*(.*)", re.DOTALL)
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def user_settings(environ: Mapping[str, str], spark_home: str) -> dict[str, str]:
    """Everything that is set for a Spark that is about to start."""
    arguments = _arguments(environ)
    given = submit_settings(arguments)
    file = _value_of("--properties-file", arguments)
    defaults = Path(environ.get("SPARK_CONF_DIR") or Path(spark_home, "conf"), "spark-defaults.conf")
    found = {} if "MASTER" not in environ else {"spark.master": environ["MASTER"]}
    if file is None or "--load-spark-defaults" in arguments:
        found |= _properties_of(defaults) if defaults.is_file() else {}
    if file is not None:
        found |= _properties_of(Path(file))
    return found | given


def submit_settings(arguments: Sequence[str]) -> dict[str, str]:
    """The settings among the arguments of ``spark-submit``.

    >>> submit_settings(["--master", "local[2]", "--conf", "spark.x=1=2", "--verbose", "pyspark-shell"])
    {'spark.x': '1=2', 'spark.master': 'local[2]'}
    """
    by_conf: dict[str, str] = {}
    by_option: dict[str, str] = {}
    for option, value in _pairs(arguments):
        if option in ("--conf", "-c") and "=" in value:
            key, _, text = value.partition("=")
            by_conf[key] = text
        elif option in _OPTIONS:
            by_option[_OPTIONS[option]] = value
    return by_conf | by_option


@contextmanager
def insisting_on(settings: Mapping[str, str]) -> Iterator[None]:
    """Let a JVM that starts meanwhile have these settings, whatever ``PYSPARK_SUBMIT_ARGS`` says of them."""
    before = os.environ.get(SUBMIT_ARGS)
    if before is None:  # then what is set in Python holds anyway
        yield
        return
    arguments = _arguments(os.environ)
    # What stands after the application is meant for it.
    index = arguments.index(_SHELL) if _SHELL in arguments else len(arguments)
    user, rest = arguments[:index], arguments[index:] or [_SHELL]
    used = {option for option, _ in _pairs(user)}
    ours = [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
    for option, key in _OPTIONS.items():
        if option in used and key in settings:
            ours += [option, settings[key]]
    os.environ[SUBMIT_ARGS] = shlex.join([*user, *ours, *rest])
    try:
        yield
    finally:
        os.environ[SUBMIT_ARGS] = before


def read_properties(text: str) -> dict[str, str]:
    r"""The Spark settings of a file of Java properties; Spark takes no notice of others.

    >>> read_properties("# ours\nspark.master  yarn\nspark.a=b c \nspark.d: e,\\\n  f\nother 1")
    {'spark.master': 'yarn', 'spark.a': 'b c', 'spark.d': 'e,f'}
    """
    found = {}
    for line in _logical_lines(text):
        match = _PROPERTY.fullmatch(line)
        if match and (key := _unescaped(match[1])).startswith("spark."):
            found[key] = _unescaped(match[2]).strip()
    return found


def _properties_of(path: Path) -> dict[str, str]:
    try:
        return read_properties(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as problem:
        raise SkipstoneError(f"The Spark settings in {path} cannot be read: {problem}.") from problem


def _logical_lines(text: str) -> Iterator[str]:
    """Lines without comments; one that ends in a backslash goes on in the next."""
    held = ""
    for line in text.splitlines():
        stripped = line.lstrip()
        if not held and (not stripped or stripped[0] in "#!"):
            continue
        held += stripped
        if (len(held) - len(held.rstrip("\\"))) % 2:
            held = held[:-1]
            continue
        yield held
        held = ""
    if held:
        yield held


def _unescaped(text: str) -> str:
    coded = re.sub(r"\\u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), coded)


def _arguments(environ: Mapping[str, str]) -> list[str]:
    try:
        return shlex.split(environ.get(SUBMIT_ARGS, ""))
    except ValueError as problem:
        raise SkipstoneError(f"{SUBMIT_ARGS} cannot be read: {problem}.") from problem


def _pairs(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Options with what follows them, after a space or an equals sign."""
    for index, argument in enumerate(arguments):
        option, equals, value = argument.partition("=")
        if not option.startswith("-"):
            continue
        if equals:
            yield option, value
        elif index + 1 < len(arguments):
            yield option, arguments[index + 1]


def _value_of(option: str, arguments: Sequence[str]) -> str | None:
    return next((value for name, value in _pairs(arguments) if name == option), None)
