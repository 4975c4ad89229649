"""Turning transparent skipping on and off."""

from __future__ import annotations

from pyspark.sql import SparkSession

from skipstone.errors import SkipstoneError
from skipstone.spark.runtime import runtime_of

__all__ = ["disable", "enable"]

TESTED = "4.2"
_injected: set[str] = set()


def enable(spark: SparkSession) -> SparkSession:
    """Let queries of this session, and of sessions made from it, skip the blocks they do not need.

    Any table with a ``_skipstone`` catalog skips, whether it is read by path or by name, through SQL or
    the DataFrame API. Other tables, and rules that others have registered, are left as they are.
    """
    _check(spark)
    runtime = runtime_of(spark)
    runtime.shim.setActive(True)
    runtime.shim.install(spark._jsparkSession)
    application = spark.sparkContext.applicationId
    if application not in _injected:
        spark._jsparkSession.extensions().injectPreCBORule(runtime.shim.installer())
        _injected.add(application)
    return spark


def disable(spark: SparkSession) -> None:
    """Take the rule out of this session and stop skipping in all sessions of its application."""
    _check(spark)
    runtime = runtime_of(spark)
    runtime.shim.setActive(False)
    runtime.shim.uninstall(spark._jsparkSession)


def _check(spark: SparkSession) -> None:
    if not hasattr(spark, "_jsparkSession"):
        raise SkipstoneError(
            "skipstone cannot work on Spark Connect, because skipping lives in the driver's own JVM; "
            "use a classic Spark session."
        )
    if not spark.version.startswith(f"{TESTED}."):
        raise SkipstoneError(
            f"skipstone is tested with Spark {TESTED}.x and this is Spark {spark.version}; "
            f"install pyspark=={TESTED}.*."
        )
