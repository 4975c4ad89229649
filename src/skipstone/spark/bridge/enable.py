"""Turning transparent skipping on and off."""

from __future__ import annotations

import threading

from pyspark.sql import SparkSession

from skipstone.errors import SkipstoneError
from skipstone.spark.bridge.runtime import Runtime, runtime_of
from skipstone.spark.delta_settings import has_delta, warn_of_missing
from skipstone.spark.querylog.log_settings import SWITCH as LOG_SWITCH
from skipstone.spark.querylog.log_settings import wanted
from skipstone.spark.querylog.query_log import start_log, stop_log
from skipstone.spark.running import require_running

__all__ = ["disable", "enable"]

TESTED = "4.2"
_injected: set[str] = set()
_lock = threading.Lock()


def enable(spark: SparkSession, log: bool | None = None) -> SparkSession:
    """Let queries of this session, and of sessions made from it, skip the blocks they do not need.

    Any table with a ``_skipstone`` catalog skips, whether it is read by path or by name, through SQL or
    the DataFrame API. Other tables, and rules that others have registered, are left as they are.

    With ``log=True`` the scans of these tables are recorded in their query logs, for all sessions of the
    application; with None the setting ``spark.skipstone.log`` decides whether that begins now.

    None of the session's own settings is changed. A warning is logged once if Delta's jars are there without
    the settings that Delta needs; ``docs/settings.md`` lists those and what else :func:`session` sets.
    """
    _check(spark)
    if has_delta(spark):
        warn_of_missing(spark)
    runtime = runtime_of(spark)
    runtime.shim.setActive(True)
    runtime.shim.install(spark._jsparkSession)
    _inject_once(spark, runtime)
    if log is not None:
        spark.conf.set(LOG_SWITCH, str(log).lower())
    if wanted(spark):
        start_log(spark, runtime)
    elif log is False:
        stop_log(spark)
    return spark


def _inject_once(spark: SparkSession, runtime: Runtime) -> None:
    """Let the sessions that are made from this one skip; what was injected cannot be taken out again."""
    application = spark.sparkContext.applicationId
    with _lock:
        if application not in _injected:
            extensions = spark._jsparkSession.extensions()
            extensions.injectPreCBORule(runtime.shim.installer())
            if runtime.early is not None:
                extensions.injectOptimizerRule(runtime.early)
            _injected.add(application)


def disable(spark: SparkSession) -> None:
    """Take the rule out of this session; stop skipping and logging in all sessions of its application."""
    _check(spark)
    stop_log(spark)
    runtime = runtime_of(spark)
    runtime.shim.setActive(False)
    runtime.shim.uninstall(spark._jsparkSession)


def _check(spark: SparkSession) -> None:
    if not hasattr(spark, "_jsparkSession"):
        raise SkipstoneError(
            "skipstone cannot work on Spark Connect, because skipping lives in the driver's own JVM; "
            "use a classic Spark session."
        )
    require_running(spark)
    if not spark.version.startswith(f"{TESTED}."):
        raise SkipstoneError(
            f"skipstone is tested with Spark {TESTED}.x and this is Spark {spark.version}; "
            f"install pyspark=={TESTED}.*."
        )
