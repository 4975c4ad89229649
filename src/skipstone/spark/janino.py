"""Java sources of this package, compiled in the driver.

Spark ships the Janino compiler for its own generated code; with it a short Java class needs neither a jar
nor a build step. Each source is compiled once per JVM and sees the ones before it.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from pyspark.sql import SparkSession

__all__ = ["load_class", "new_instance"]

_loaders: dict[tuple[str, ...], Any] = {}


def load_class(spark: SparkSession, *names: str) -> Any:
    """Compile the named sources in order and return the last one's ``java.lang.Class``."""
    jvm: Any = spark._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    sources = files("skipstone.spark") / "java"
    # py4j remembers the methods of a class by its name, so a JVM must never have two classes of one name.
    machine = str(id(spark.sparkContext._gateway))
    for place, name in enumerate(names):
        key = (machine, *names[: place + 1])
        if key not in _loaders:
            compiler = jvm.org.codehaus.janino.SimpleCompiler()
            compiler.setParentClassLoader(loader)
            compiler.cook(sources.joinpath(f"{name}.java").read_text(encoding="utf-8"))
            _loaders[key] = compiler.getClassLoader()
        loader = _loaders[key]
    return loader.loadClass(f"skipstone.{names[-1]}")


def new_instance(spark: SparkSession, *names: str) -> Any:
    """An object of the last named class, which has a constructor without arguments."""
    gateway: Any = spark.sparkContext._gateway
    none = gateway.new_array(gateway.jvm.java.lang.Object, 0)
    return load_class(spark, *names).getConstructors()[0].newInstance(none)
