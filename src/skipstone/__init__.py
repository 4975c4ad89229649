"""skipstone reorganises Spark tables around the queries that people actually run."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skipstone.api import Table, table
    from skipstone.cancel import Cancel
    from skipstone.errors import CancelledError, SkipstoneError
    from skipstone.estimate.policy import Policy
    from skipstone.spark.bridge.enable import disable, enable
    from skipstone.spark.session import session
    from skipstone.workload.readers import read_queries

__all__ = [
    "Cancel",
    "CancelledError",
    "Policy",
    "SkipstoneError",
    "Table",
    "disable",
    "enable",
    "read_queries",
    "session",
    "table",
]
__version__ = "0.2.0.dev0"
# Loaded when they are first asked for: PySpark takes longer to import than a shell may take to complete.
_WHERE = {
    "Cancel": "skipstone.cancel",
    "CancelledError": "skipstone.errors",
    "Policy": "skipstone.estimate.policy",
    "SkipstoneError": "skipstone.errors",
    "Table": "skipstone.api",
    "disable": "skipstone.spark.bridge.enable",
    "enable": "skipstone.spark.bridge.enable",
    "read_queries": "skipstone.workload.readers",
    "session": "skipstone.spark.session",
    "table": "skipstone.api",
}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
