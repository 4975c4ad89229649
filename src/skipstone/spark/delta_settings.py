"""Whether Delta is there, and the two settings without which Spark cannot use its tables.

:func:`~skipstone.spark.session.session` makes them. A session that a user has built may lack them; both take
effect only when it is built, so all that :func:`~skipstone.spark.bridge.enable.enable` can do is to say so.
"""

from __future__ import annotations

import logging

from pyspark.sql import SparkSession

from skipstone.spark.bridge.jvm import java_class

__all__ = [
    "CATALOG",
    "DELTA_CATALOG",
    "DELTA_EXTENSION",
    "EXTENSIONS",
    "has_delta",
    "listed",
    "missing",
    "warn_of_missing",
]

LOG = logging.getLogger("skipstone")
EXTENSIONS = "spark.sql.extensions"
CATALOG = "spark.sql.catalog.spark_catalog"
DELTA_EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"
DELTA_CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
_NO_CATALOG = ("", "builtin")
_warned: set[str] = set()


def has_delta(spark: SparkSession) -> bool:
    """Whether Delta is on the driver's class path."""
    try:
        loader = java_class(spark._jvm, "java.lang.Thread").currentThread().getContextClassLoader()
        loader.loadClass("org.apache.spark.sql.delta.stats.PreparedDeltaFileIndex")
    except Exception:  # noqa: BLE001 - whatever keeps the class from being loaded, Delta is not there
        return False
    return True


def listed(value: str | None) -> list[str]:
    """The parts of a setting that is a list.

    >>> listed("a, b,")
    ['a', 'b']
    """
    return [part.strip() for part in (value or "").split(",") if part.strip()]


def missing(extensions: str, catalog: str) -> tuple[str, ...]:
    """The settings, as ``name=value``, that a session with these two values lacks.

    Another catalog than Delta's may be one that wraps it, so any will do.

    >>> missing("org.example.Other", "org.example.WrapsDelta")
    ('spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension',)
    """
    found = []
    if DELTA_EXTENSION not in listed(extensions):
        found.append(f"{EXTENSIONS}={DELTA_EXTENSION}")
    if catalog in _NO_CATALOG:
        found.append(f"{CATALOG}={DELTA_CATALOG}")
    return tuple(found)


def warn_of_missing(spark: SparkSession) -> None:
    """Log once for each application what its session lacks."""
    lacking = missing(str(spark.conf.get(EXTENSIONS, "")), str(spark.conf.get(CATALOG, "")))
    application = spark.sparkContext.applicationId
    if not lacking or application in _warned:
        return
    _warned.add(application)
    LOG.warning(
        "This session has Delta's jars but not %s, so Delta tables cannot be queried in every way; "
        "set that when the session is built, or use skipstone.session().",
        " and ".join(lacking),
    )
