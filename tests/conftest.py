"""Fixtures that all tests share. Spark starts with the first test that asks for it, and only once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from pyspark.sql import SparkSession
from tests.light_java import LIGHT_JAVA, NOT_VERIFIED, SMALL_PAGES, VERIFIED
from tests.light_jobs import with_light_jobs
from tests.light_plans import LIGHT_DELTA, LIGHT_PLANS, USUAL_PLANS, settings_of
from tests.local_files import without_processes
from tests.shipments import ROWS, write_shipments
from tests.templates import Templates

import skipstone

# How long a case takes says more about what else the machine does than about the code.
settings.register_profile("skipstone", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("skipstone")

# What Spark makes for a query is garbage soon, unless it is collected too early, and its classes are many.
ROOMY_JAVA = "-Xms3g -Xmn1500m -XX:MetaspaceSize=512m -XX:ReservedCodeCacheSize=1g"
if sys.platform == "linux":
    # Where pages are small, finding them takes a tenth of the time, more in a virtual machine.
    ROOMY_JAVA += " -XX:+UseTransparentHugePages"
# A process has one Spark. These tests start another than the rest, so they run only when they are asked for.
ALONE = {Path(__file__).parent / name for name in ("cluster", "s3")}


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out what was not named on the command line (``make test-cluster``, ``make test-s3``)."""
    named = (config.invocation_params.dir / arg.partition("::")[0] for arg in config.args)
    if collection_path in ALONE and not any(path.is_relative_to(collection_path) for path in named):
        return True
    return None


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A small local session with Delta and skipping, whose files all lie in pytest's own directory."""
    import skipstone.spark.session

    home = tmp_path_factory.mktemp("spark")
    running = skipstone.spark.session.session(
        app_name="skipstone-tests",
        master="local[2]",
        config={
            **LIGHT_DELTA,
            **LIGHT_PLANS,
            "spark.sql.session.timeZone": "UTC",
            # VACUUM and CONVERT list files with so many tasks.
            "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
            "spark.sql.warehouse.dir": str(home / "warehouse"),
            "spark.local.dir": str(home / "local"),
            # Many small plans and little data: compiling them lightly costs less than it saves.
            "spark.driver.extraJavaOptions": f"-Dderby.system.home={home / 'derby'} -Duser.timezone=UTC "
            f"{LIGHT_JAVA} {SMALL_PAGES} {ROOMY_JAVA} {VERIFIED}",
        },
    )
    without_processes(running)
    with_light_jobs(running)
    yield running
    running.stop()


@pytest.fixture
def usual_plans(spark: SparkSession) -> Iterator[None]:
    """Generated code and plans that adapt, as users have them, where how Spark runs a query matters."""
    with settings_of(spark, USUAL_PLANS):
        yield


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Templates:
    """Tables that are made once; tests get copies."""
    return Templates(tmp_path_factory.mktemp("templates"))


@pytest.fixture(autouse=True)
def _same_conf_afterwards(request: pytest.FixtureRequest) -> Iterator[None]:
    """Undo what a Spark test changed in the session's settings."""
    if "spark" not in request.fixturenames:
        yield
        return
    conf = request.getfixturevalue("spark").conf
    found = conf._jconf.getAllAsJava()  # of which Python would ask for one by one
    text = found.toString()
    yield
    if conf._jconf.getAllAsJava().toString() == text:
        return
    before, after = dict(found), dict(conf.getAll)
    for key in after.keys() - before.keys():
        conf.unset(key)
    for key, value in before.items():
        if after.get(key) != value:
            conf.set(key, value)


@pytest.fixture(scope="session", autouse=True)
def _light_java() -> Iterator[None]:
    """Processes that tests start run a few small queries each: compiling them lightly is enough there too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_SUBMIT_OPTS", f"{LIGHT_JAVA} {SMALL_PAGES} {NOT_VERIFIED}")
        patch.setenv("SPARK_LAUNCHER_OPTS", LIGHT_JAVA)
        yield


@pytest.fixture(scope="session", autouse=True)
def _own_cost_models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What rewrites of tests cost says nothing about this machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SKIPSTONE_COSTS", str(tmp_path_factory.mktemp("costs")))
        yield


@pytest.fixture
def copied(templates: Templates, tmp_path: Path) -> Callable[[str, Callable[[Path], object]], Path]:
    """Copies what was made under a name, once for all tests, into the test's own directory."""
    return lambda name, make: templates.copy(name, make, tmp_path / name)


@pytest.fixture
def shipments(spark: SparkSession, copied: Callable[..., Path]) -> Callable[..., skipstone.Table]:
    """Makes a table of shuffled shipments."""

    def make(format_: str = "delta", rows: int = ROWS) -> skipstone.Table:
        name = f"shipments-{format_}-{rows}"
        path = copied(name, lambda path: write_shipments(spark, path, format_, rows))
        return skipstone.table(spark, f"shipments={path}")

    return make
