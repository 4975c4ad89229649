"""The settings of the query log, all of which begin with ``spark.skipstone.log``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

from pyspark.sql import SparkSession

from skipstone.errors import SkipstoneError
from skipstone.spark.jars import home_directory

__all__ = ["SWITCH", "LogSettings", "wanted"]

SWITCH = "spark.skipstone.log"


def _switch(text: str) -> bool:
    return {"true": True, "false": False}[text.strip().lower()]


def _positive(text: str) -> float:
    number = float(text)
    if not 0 < number < float("inf"):
        raise ValueError
    return number


@dataclass(frozen=True, slots=True)
class LogSettings:
    """How the log is kept; each field is the setting ``spark.skipstone.log.FIELD`` in camel case.

    The queue is spilled to local disk every ``spill_seconds`` and whenever it holds ``queue_size`` scans, and
    what is there is appended to the tables' logs every ``interval_seconds``.
    """

    queue_size: int = 10_000
    spill_directory: str = ""
    spill_bytes: int = 64 << 20
    spill_seconds: float = 5.0
    interval_seconds: float = 300.0
    retention_days: float = 90.0
    retention_rows: int = 200_000
    redact: bool = False

    @classmethod
    def of(cls, spark: SparkSession) -> LogSettings:
        """What a session says, and the defaults for the rest."""
        given: dict[str, Any] = {"spill_directory": str(home_directory() / "query-log")}
        for field in fields(cls):
            first, *rest = field.name.split("_")
            key = f"{SWITCH}.{first}{''.join(part.title() for part in rest)}"
            text = spark.conf.get(key, None)
            if text is not None:
                given[field.name] = _read(key, text, type(field.default))
        return cls(**given)


def _read(key: str, text: str, kind: type) -> object:
    readers: dict[type, tuple[Callable[[str], object], str]] = {
        int: (lambda given: int(_positive(given)), "a number greater than 0"),
        float: (_positive, "a number greater than 0"),
        bool: (_switch, "true or false"),
        str: (str, "text"),
    }
    reader, meant = readers[kind]
    try:
        return reader(text)
    except (ValueError, KeyError):
        raise SkipstoneError(f"The setting {key} must be {meant}, and it is {text}.") from None


def wanted(spark: SparkSession) -> bool:
    """Whether the session's own settings turn the log on."""
    return bool(_read(SWITCH, spark.conf.get(SWITCH, "false") or "false", bool))
