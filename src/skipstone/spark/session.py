"""A Spark session that has Delta and skips, from one call.

Everything set here is a default: what the user set wins, by ``master`` and ``config``, in
``spark-defaults.conf`` or for ``spark-submit`` (:mod:`skipstone.spark.user_settings`), and a Spark that is
already running is used as it is. Where a setting is a list (extensions, jars), the user's is kept and ours
appended. Nothing is looked up in a Spark Connect session, because skipping lives in the driver's own JVM.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

from py4j.protocol import Py4JNetworkError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.find_spark_home import _find_spark_home
from pyspark.sql import SparkSession

from skipstone.errors import NotStartedError, SkipstoneError
from skipstone.spark.bridge.jvm import java_class
from skipstone.spark.delta_settings import CATALOG, DELTA_CATALOG, DELTA_EXTENSION, EXTENSIONS, listed
from skipstone.spark.find_java import find_java
from skipstone.spark.jars import DELTA_JARS, delta_jars
from skipstone.spark.master import check_master, local_cores
from skipstone.spark.user_settings import insisting_on, user_settings

__all__ = ["session"]

_GIB = 1 << 30
_starting = threading.Lock()
_YARN_SETTINGS = "spark.hadoop.yarn.resourcemanager."


def session(
    app_name: str | None = None,
    master: str | None = None,
    config: Mapping[str, str] | None = None,
    delta: bool = True,
    log: bool | None = None,
) -> SparkSession:
    """Return a Spark session in which queries skip, starting Spark when none is running.

    Where Spark runs is said by ``master``, else by ``spark.master`` in ``config``, in what ``spark-submit``
    was given or in ``spark-defaults.conf``; else it runs here, on all cores. ``config`` wins over all
    defaults. ``delta=False`` leaves Delta and its jars out. ``log=True`` records the queries, as
    :func:`skipstone.enable` does.
    """
    given = {key: str(value) for key, value in (config or {}).items()}
    with _starting:
        spark = _running_session(given)
        if spark is None:
            find_java()
            spark = _new_session(app_name, master, given, delta)
    # Imported late: enabling compiles the driver-side shim, which only a session needs.
    from skipstone.spark.bridge.enable import enable

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
    _refuse_connect(config)
    running = SparkSession.getActiveSession()
    if running is None and SparkContext._active_spark_context is None:
        return None
    return _built(config)


def _built(settings: Mapping[str, str]) -> SparkSession:
    builder: SparkSession.Builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def _new_session(
    app_name: str | None, master: str | None, config: Mapping[str, str], delta: bool
) -> SparkSession:
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ
    user = {**(_jvm_settings() if submitted else _outside_settings()), **config}
    _refuse_connect(user)
    chosen = master if master is not None else user.get("spark.master", "local[*]")
    # Whoever submits has decided how Spark runs, and the JVM is there already.
    found_by_settings = chosen == "yarn" and any(key.startswith(_YARN_SETTINGS) for key in user)
    if not submitted and not found_by_settings:
        check_master(chosen)
    defaults = {} if submitted else _defaults(chosen)
    settings = {key: value for key, value in defaults.items() if key not in user}
    settings |= {**config, "spark.master": chosen}
    if app_name is not None and "spark.app.name" not in config:
        settings["spark.app.name"] = app_name
    if delta:
        settings |= _delta_settings(user, jvm_runs=submitted or SparkContext._gateway is not None)
    try:
        with insisting_on(settings):
            return _built(settings)
    except Exception as problem:
        if not _ended(problem):
            raise
        raise NotStartedError(
            f"Spark did not start with the master {chosen}; what it wrote to standard error says why."
        ) from problem


def _ended(problem: Exception) -> bool:
    """Whether Java or Spark ended while it started, as when a master never answers; only the log says why."""
    if isinstance(problem, PySparkRuntimeError) and problem.getCondition() == "JAVA_GATEWAY_EXITED":
        return True
    return isinstance(problem, Py4JNetworkError) or "stopped SparkContext" in str(problem)


def _outside_settings() -> dict[str, str]:
    return user_settings(os.environ, _find_spark_home())


def _jvm_settings() -> dict[str, str]:
    """What ``spark-submit`` has made of its own options and of ``spark-defaults.conf``."""
    SparkContext._ensure_initialized()
    return dict(SparkConf(_jvm=SparkContext._jvm).getAll())


def _defaults(master: str) -> dict[str, str]:
    """A name, quiet logs and, on one machine, reachable from here only and with few small tasks."""
    cores = local_cores(master)
    everywhere = _quiet_logging() | {"spark.app.name": "skipstone"}
    if cores is None:
        return everywhere
    # Spark starts Python workers from PATH, which need not be the interpreter of this environment.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # Otherwise Spark looks for a network address before it reads the two settings below, and warns.
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    return everywhere | {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": _driver_memory(),
        "spark.sql.shuffle.partitions": str(2 * cores),
        "spark.databricks.delta.snapshotPartitions": "2",
    }


def _quiet_logging() -> dict[str, str]:
    directories = [os.environ.get("SPARK_CONF_DIR"), str(Path(_find_spark_home(), "conf"))]
    if any(list(Path(directory).glob("log4j2.*")) for directory in directories if directory):
        return {}
    configuration = Path(__file__).with_name("log4j2.properties").as_uri()
    # The default options come before the user's extra ones and leave those to the user.
    return {"spark.driver.defaultJavaOptions": f"-Dlog4j2.configurationFile={configuration}"}


def _driver_memory() -> str:
    """Four gigabytes, but never more than half of a smaller machine."""
    try:
        physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        physical = 8 * _GIB
    return f"{max(1, min(4, physical // (2 * _GIB)))}g"


def _delta_settings(user: Mapping[str, str], jvm_runs: bool) -> dict[str, str]:
    extensions = listed(user.get(EXTENSIONS))
    if DELTA_EXTENSION not in extensions:
        extensions.append(DELTA_EXTENSION)
    settings = {EXTENSIONS: ",".join(extensions), CATALOG: user.get(CATALOG, DELTA_CATALOG)}
    jars = listed(user.get("spark.jars"))
    if jvm_runs:
        # The class path of a JVM is fixed once it runs, so Delta is there already or never will be.
        _require_delta_class()
    elif not _has_delta(user, jars):
        jars += [str(path) for path in delta_jars() if str(path) not in jars]
    if jars:
        settings["spark.jars"] = ",".join(jars)
    return settings


def _has_delta(user: Mapping[str, str], jars: list[str]) -> bool:
    """Whether the user brings a Delta along: two of them on one class path do not agree."""
    packages = user.get("spark.jars.packages", "")
    names = [jar.rpartition("/")[2] for jar in jars]
    return "io.delta:delta-spark" in packages or any(name.startswith("delta-spark") for name in names)


def _require_delta_class() -> None:
    SparkContext._ensure_initialized()
    loader = java_class(SparkContext._jvm, "java.lang.Thread").currentThread().getContextClassLoader()
    name = DELTA_EXTENSION.replace(".", "/") + ".class"
    if loader.getResource(name) is None:
        raise SkipstoneError(
            "this JVM was started without Delta's jars, which cannot be added later; start a new Python "
            f"process, give spark-submit --packages {DELTA_JARS[0].coordinate}, or call session(delta=False)."
        )
