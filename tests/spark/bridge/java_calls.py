"""Calls of Java sources that Python itself does not make: of static methods and of what is not public."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import SparkSession

from skipstone.spark.bridge.janino import load_class


def call_static(spark: SparkSession, name: str, method: str, *arguments: Any) -> Any:
    """What a static method returns."""
    return _method(load_class(spark, name), method, arguments).invoke(None, _array(spark, arguments))


def call(spark: SparkSession, instance: Any, method: str, *arguments: Any) -> Any:
    """What a method of an object returns."""
    return _method(instance.getClass(), method, arguments).invoke(instance, _array(spark, arguments))


def construct(spark: SparkSession, name: str, *arguments: Any) -> Any:
    """A new object."""
    constructors = load_class(spark, name).getDeclaredConstructors()
    (found,) = (each for each in constructors if each.getParameterCount() == len(arguments))
    found.setAccessible(True)
    return found.newInstance(_array(spark, arguments))


def _method(class_: Any, name: str, arguments: Sequence[Any]) -> Any:
    (found,) = (
        method
        for method in class_.getDeclaredMethods()
        if method.getName() == name and method.getParameterCount() == len(arguments)
    )
    found.setAccessible(True)
    return found


def _array(spark: SparkSession, arguments: Sequence[Any]) -> Any:
    gateway: Any = spark.sparkContext._gateway
    array = gateway.new_array(gateway.jvm.java.lang.Object, len(arguments))
    for index, argument in enumerate(arguments):
        array[index] = argument
    return array
