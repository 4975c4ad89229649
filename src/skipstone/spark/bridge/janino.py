"""Java sources of this package, compiled in the driver.

Spark ships the Janino compiler for its own generated code; with it a Java class needs neither a jar nor a
build step. One class loader per JVM has all of them. Where Delta is there, it loads what was compiled
before (``compiled_sources.py``). Otherwise it compiles a class when it is first asked for, together with
those that it refers to, so that classes for Delta are left alone.

Executors never see these classes: nothing that is sent to them may refer to one.
"""

from __future__ import annotations

import threading
from importlib.resources import files
from weakref import WeakKeyDictionary

from pyspark.sql import SparkSession

from skipstone.spark.bridge.compiled_sources import jar_of
from skipstone.spark.bridge.jvm import JavaObject, java_array, java_class

__all__ = ["load_class", "new_instance"]

_PACKAGE = "skipstone"
_loaders: WeakKeyDictionary[JavaObject, JavaObject] = WeakKeyDictionary()
_lock = threading.Lock()


def load_class(spark: SparkSession, name: str) -> JavaObject:
    """The ``java.lang.Class`` of the source of this name."""
    # py4j remembers the methods of a class by its name, so a JVM must never have two classes of one name:
    # two threads that compile the same source would break one of them for good.
    with _lock:
        gateway = spark.sparkContext._gateway
        if gateway not in _loaders:
            _loaders[gateway] = _new_loader(gateway)
        return _loaders[gateway].loadClass(f"{_PACKAGE}.{name}")


def _new_loader(gateway: JavaObject) -> JavaObject:
    jvm = gateway.jvm
    parent = java_class(jvm, "java.lang.Thread").currentThread().getContextClassLoader()
    sources = {
        f"{_PACKAGE}/{source.name}": source.read_bytes()
        for source in (files("skipstone.spark.bridge") / "java").iterdir()
        if source.name.endswith(".java")
    }
    jar = jar_of(gateway, parent, sources)
    if jar is not None:
        urls = gateway.new_array(java_class(jvm, "java.net.URL"), 1)
        urls[0] = java_class(jvm, "java.net.URI").create(jar.as_uri()).toURL()
        return java_class(jvm, "java.net.URLClassLoader")(urls, parent)
    finder = java_class(jvm, "org.codehaus.commons.compiler.util.resource.MapResourceFinder")()
    for name, text in sources.items():
        finder.addResource(name, text)
    return java_class(jvm, "org.codehaus.janino.JavaSourceClassLoader")(parent, finder, "UTF-8")


def new_instance(spark: SparkSession, name: str) -> JavaObject:
    """An object of the named class, which has a constructor without arguments."""
    return load_class(spark, name).getConstructors()[0].newInstance(java_array(spark.sparkContext._gateway))
