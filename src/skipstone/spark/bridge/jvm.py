"""The type of an object that lives in the JVM.

py4j finds methods by name when they are called, so no type checker can know them: this is ``Any`` under a
name. Such an object never leaves ``spark/`` (``tests/test_architecture.py``).
"""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = ["JavaObject"]

JavaObject: TypeAlias = Any
