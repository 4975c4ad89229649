"""Java sources of this package, compiled in the driver.

Spark ships the Janino compiler for its own generated code; with it a short Java class needs neither a jar
nor a build step. Each source is compiled once per JVM, by whichever thread needs it first, and sees the
ones before it.
"""

from __future__ import annotations

import threading
from importlib.resources import files
from typing import Any
from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession

__all__ = ["load_class", "new_instance"]

_loaders: WeakKeyDictionary[Any, dict[tuple[str, ...], Any]] = WeakKeyDictionary()
_lock = threading.Lock()


def load_class(spark: SparkSession, *names: str) -> Any:
    """Compile the named sources in order and return the last one's ``java.lang.Class``."""
    # py4j remembers the methods of a class by its name, so a JVM must never have two classes of one name:
    # two threads that compile the same source would break one of them for good.
    with _lock:
        return _loader(spark, names).loadClass(f"skipstone.{names[-1]}")


def _loader(spark: SparkSession, names: tuple[str, ...]) -> Any:
    jvm: Any = spark._jvm
    known = _loaders.setdefault(spark.sparkContext._gateway, {})
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    sources = files("skipstone.spark.bridge") / "java"
    for place, name in enumerate(names):
        key = names[: place + 1]
        if key not in known:
            compiler = jvm.org.codehaus.janino.SimpleCompiler()
            compiler.setParentClassLoader(loader)
            compiler.cook(sources.joinpath(f"{name}.java").read_text(encoding="utf-8"))
            known[key] = compiler.getClassLoader()
        loader = known[key]
    return loader


def new_instance(spark: SparkSession, *names: str) -> Any:
    """An object of the last named class, which has a constructor without arguments."""
    gateway: Any = spark.sparkContext._gateway
    none = gateway.new_array(gateway.jvm.java.lang.Object, 0)
    return load_class(spark, *names).getConstructors()[0].newInstance(none)
