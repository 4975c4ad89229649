"""A Spark session that has Delta and skips, from one call.

Everything set here is a default: what the caller's ``config`` says wins, and a Spark that is already
running is used as it is. Nothing is looked up in a Spark Connect session, because skipping lives in the
driver's own JVM.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from pyspark import SparkContext
from pyspark.find_spark_home import _find_spark_home
from pyspark.sql import SparkSession

from skipstone.errors import SkipstoneError
from skipstone.spark.delta_settings import CATALOG, DELTA_CATALOG, DELTA_EXTENSION, EXTENSIONS, listed
from skipstone.spark.jars import DELTA_JARS, delta_jars
from skipstone.spark.java import find_java

__all__ = ["session"]

_GIB = 1 << 30
# The caller's value of these is kept and extended by Delta's, rather than put in its place.
_MERGED = frozenset({"spark.jars", EXTENSIONS, CATALOG})
_LOCAL_MASTER = re.compile(r"local(?:\[(?P<cores>\d+|\*)(?:,\s*\d+)?\])?")


def session(
    app_name: str = "skipstone",
    master: str | None = None,
    config: Mapping[str, str] | None = None,
    delta: bool = True,
    log: bool | None = None,
) -> SparkSession:
    """Return a Spark session in which queries skip, starting Spark when none is running.

    Without ``master`` the session is local, on all cores, except under ``spark-submit``, whose own choice
    holds. ``config`` wins over every default. ``delta=False`` leaves Delta and its jars out. ``log=True``
    records the queries, as :func:`skipstone.enable` does.
    """
    given = dict(config or {})
    _refuse_connect(given)
    spark = _running_session(given)
    if spark is None:
        find_java()
        spark = _new_session(app_name, master, given, delta)
    # Imported late: enabling compiles the driver-side shim, which only a session needs.
    from skipstone.spark.enable import enable

    enable(spark, log)
    return spark


def _refuse_connect(config: Mapping[str, str]) -> None:
    remote = config.get("spark.remote") or os.environ.get("SPARK_REMOTE")
    mode = config.get("spark.api.mode") or os.environ.get("SPARK_API_MODE", "")
    if remote or mode.lower() == "connect":
        raise SkipstoneError(
            "skipstone works inside the driver's JVM, which Spark Connect does not reach; unset SPARK_REMOTE "
            "and SPARK_API_MODE, or run in a classic Spark session."
        )


def _running_session(config: Mapping[str, str]) -> SparkSession | None:
    """Return the session that already runs, with the caller's own settings and none of our defaults."""
    running = SparkSession.getActiveSession()
    if running is None and SparkContext._active_spark_context is None:
        return None
    builder: SparkSession.Builder = SparkSession.builder
    for key, value in config.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _new_session(app_name: str, master: str | None, config: Mapping[str, str], delta: bool) -> SparkSession:
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    chosen = master or config.get("spark.master") or (None if submitted else "local[*]")
    settings = _local_defaults(chosen) if chosen is not None and _LOCAL_MASTER.fullmatch(chosen) else {}
    settings["spark.app.name"] = app_name
    if chosen is not None:
        settings["spark.master"] = chosen
    if delta:
        settings |= _delta_settings(config, jvm_runs=submitted or SparkContext._gateway is not None)
    settings |= {key: value for key, value in config.items() if key not in _MERGED or not delta}
    builder: SparkSession.Builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _local_defaults(master: str) -> dict[str, str]:
    """Settings that suit one machine: quiet, reachable from here only, few small tasks."""
    # Spark starts Python workers from PATH, which need not be the interpreter of this environment.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # Otherwise Spark looks for a network address before it reads the two settings below, and warns.
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    return _quiet_logging() | {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": _driver_memory(),
        "spark.sql.shuffle.partitions": str(2 * _cores(master)),
        "spark.databricks.delta.snapshotPartitions": "2",
    }


def _quiet_logging() -> dict[str, str]:
    directories = [os.environ.get("SPARK_CONF_DIR"), str(Path(_find_spark_home(), "conf"))]
    if any(list(Path(directory).glob("log4j2.*")) for directory in directories if directory):
        return {}
    configuration = Path(__file__).with_name("log4j2.properties").as_uri()
    # The default options come before the user's extra ones and leave those to the user.
    return {"spark.driver.defaultJavaOptions": f"-Dlog4j2.configurationFile={configuration}"}


def _cores(master: str) -> int:
    """Return the number of cores that a local master uses.

    >>> _cores("local[3]"), _cores("local")
    (3, 1)
    """
    found = _LOCAL_MASTER.fullmatch(master)
    cores = found["cores"] if found else None
    if cores == "*":
        return os.cpu_count() or 1
    return int(cores) if cores else 1


def _driver_memory() -> str:
    """Four gigabytes, but never more than half of a smaller machine."""
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        physical = 8 * _GIB
    return f"{max(1, min(4, physical // (2 * _GIB)))}g"


def _delta_settings(config: Mapping[str, str], jvm_runs: bool) -> dict[str, str]:
    extensions = listed(config.get(EXTENSIONS))
    if DELTA_EXTENSION not in extensions:
        extensions.append(DELTA_EXTENSION)
    settings = {EXTENSIONS: ",".join(extensions), CATALOG: config.get(CATALOG, DELTA_CATALOG)}
    jars = listed(config.get("spark.jars"))
    if jvm_runs:
        # The class path of a JVM is fixed once it runs, so Delta is there already or never will be.
        _require_delta_class()
    elif "io.delta:delta-spark" not in config.get("spark.jars.packages", ""):
        jars += [str(path) for path in delta_jars() if str(path) not in jars]
    if jars:
        settings["spark.jars"] = ",".join(jars)
    return settings


def _require_delta_class() -> None:
    SparkContext._ensure_initialized()
    jvm = SparkContext._jvm
    assert jvm is not None
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    name = DELTA_EXTENSION.replace(".", "/") + ".class"
    if loader.getResource(name) is None:
        raise SkipstoneError(
            "this JVM was started without Delta's jars, which cannot be added later; start a new Python "
            f"process, give spark-submit --packages {DELTA_JARS[0].coordinate}, or call session(delta=False)."
        )
