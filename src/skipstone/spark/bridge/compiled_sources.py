"""The compiled Java sources, kept between processes.

In a JVM that has just started, whose own code is not compiled yet, Janino takes five seconds of a processor
for all sources. So the classes are kept as a jar in the cache directory, and the next process loads them.
The jar's name is a digest of all that they were compiled from and against: the sources, the Java version,
and the jars of Spark and Delta with their sizes and times. It is written beside its place and moved there,
so two processes that race write the same jar twice.

Nothing depends on it. Where the jar cannot be written, or what was written is damaged, sources are compiled
when a class is asked for, as they are where Delta is not there.
"""

from __future__ import annotations

import hashlib
import logging
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from py4j.protocol import Py4JError

from skipstone.spark.bridge.jvm import JavaObject, java_class
from skipstone.spark.jars import home_directory

__all__ = ["compile_all", "jar_of"]

LOG = logging.getLogger("skipstone")
_COMPILED_AGAINST = (
    "org.apache.spark.SparkContext",
    "org.apache.spark.sql.catalyst.expressions.Expression",
    "org.apache.spark.sql.classic.SparkSession",
    "org.apache.spark.sql.delta.DeltaLog",
    "org.codehaus.janino.Compiler",
)
_RESOURCES = "org.codehaus.commons.compiler.util.resource"


def jar_of(gateway: JavaObject, parent: JavaObject, sources: Mapping[str, bytes]) -> Path | None:
    """The jar of all classes, compiled now if no process has done so before; None if there can be none."""
    try:
        jar = home_directory() / "classes" / f"{_digest(gateway.jvm, parent, sources)}.jar"
        if not _is_whole(jar):
            _write(jar, compile_all(gateway, parent, sources))
    # Without Delta, or where the cache cannot be written: the sources serve as well.
    except (OSError, Py4JError) as problem:
        LOG.debug("The compiled Java sources are not kept: %s", problem)
        return None
    return jar


def compile_all(gateway: JavaObject, parent: JavaObject, sources: Mapping[str, bytes]) -> dict[str, bytes]:
    """The class files of all sources, by their paths in a jar."""
    jvm = gateway.jvm
    finder = java_class(jvm, f"{_RESOURCES}.MapResourceFinder")()
    kinds = java_class(jvm, f"{_RESOURCES}.Resource")
    resources = gateway.new_array(kinds, len(sources))
    for place, (name, text) in enumerate(sorted(sources.items())):
        finder.addResource(name, text)
        resources[place] = finder.findResource(name)
    created = java_class(jvm, f"{_RESOURCES}.MapResourceCreator")()
    loader = java_class(jvm, "org.codehaus.janino.ClassLoaderIClassLoader")(parent)
    compiler = java_class(jvm, "org.codehaus.janino.Compiler")(finder, loader)
    compiler.setClassFileFinder(java_class(jvm, f"{_RESOURCES}.ResourceFinder").EMPTY_RESOURCE_FINDER)
    compiler.setClassFileCreator(created)
    compiler.compile(resources)
    return {str(name): bytes(code) for name, code in created.getMap().items()}


def _digest(jvm: JavaObject, parent: JavaObject, sources: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256(java_class(jvm, "java.lang.System").getProperty("java.version").encode())
    for name in _COMPILED_AGAINST:
        place = parent.loadClass(name).getProtectionDomain().getCodeSource().getLocation().toString()
        jar = Path(unquote(urlsplit(place).path))
        about = jar.stat()
        digest.update(f"\0{jar}\0{about.st_size}\0{about.st_mtime_ns}".encode())
    for name, text in sorted(sources.items()):
        digest.update(f"\0{name}\0{len(text)}\0".encode() + text)
    return digest.hexdigest()[:32]


def _is_whole(jar: Path) -> bool:
    try:
        with zipfile.ZipFile(jar) as kept:
            return kept.testzip() is None
    except (FileNotFoundError, zipfile.BadZipFile):
        return False


def _write(jar: Path, classes: Mapping[str, bytes]) -> None:
    jar.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=jar.parent, prefix="writing-") as scratch:
        beside = Path(scratch) / jar.name
        with zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED) as written:
            for name, code in sorted(classes.items()):
                written.writestr(name, code)
        beside.replace(jar)
