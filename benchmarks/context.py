"""Tables as actions see them, for benchmarks that measure the parts of an action one by one."""

from __future__ import annotations

from skipstone.actions.context import Context
from skipstone.api import Table
from skipstone.spark.engine.engine import Engine
from skipstone.spark.engine.source import Source

__all__ = ["context_of"]


def context_of(table: Table, called: str | None = None) -> Context:
    """The table as it is now; ``called`` is what queries call it, by default its own name."""
    source = Source(Engine.of(table.spark), table.source, called or table.name)
    return Context(source, source.open())
