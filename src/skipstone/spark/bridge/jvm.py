"""Objects and classes of the JVM.

py4j finds methods by name when they are called, so no type checker can know them: ``JavaObject`` is ``Any``
under a name. Such an object never leaves ``spark/`` (``tests/test_architecture.py``).
"""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = ["JavaObject", "java_array", "java_class"]

JavaObject: TypeAlias = Any


def java_class(jvm: JavaObject, name: str) -> JavaObject:
    """A class by its full name, to call its static methods or its constructor.

    Written ``jvm.org.apache.X``, py4j asks the JVM about each part of the name, and looks for a class ``org``
    in every jar of the class path and in every package that is imported there.
    """
    return getattr(jvm, name)


def java_array(gateway: JavaObject, *items: object) -> JavaObject:
    """An ``Object[]`` of these items: the arguments of a call by reflection."""
    array = gateway.new_array(java_class(gateway.jvm, "java.lang.Object"), len(items))
    for index, item in enumerate(items):
        array[index] = item
    return array
