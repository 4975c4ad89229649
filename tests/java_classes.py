"""Java classes that tests define among those of Spark and Hadoop."""

from __future__ import annotations

from pyspark.sql import SparkSession

from skipstone.spark.bridge.jvm import java_array, java_class


def define(spark: SparkSession, beside: str, source: str) -> None:
    """Compile classes into the class loader of another class, by which its own code finds them."""
    gateway, jvm = spark.sparkContext._gateway, spark._jvm
    named = java_class(jvm, "java.lang.Class").forName
    into = named(beside).getClassLoader()
    compiler = java_class(jvm, "org.codehaus.janino.SimpleCompiler")()
    compiler.setParentClassLoader(into)
    compiler.cook(source)
    (define,) = (
        each
        for each in named("java.lang.ClassLoader").getDeclaredMethods()
        if each.getName() == "defineClass"
        and len(each.getParameterTypes()) == 4
        and each.getParameterTypes()[1].getName() == "[B"
    )
    define.setAccessible(True)
    compiled = compiler.getBytecodes()
    for name in sorted(compiled.keySet(), key=len, reverse=True):
        code = compiled.get(name)
        define.invoke(into, java_array(gateway, name, code, 0, len(code)))
