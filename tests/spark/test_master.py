from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from skipstone.errors import SkipstoneError
from skipstone.spark.master import check_master


@pytest.fixture
def listening() -> Iterator[int]:
    """A port that somebody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def silent() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


@pytest.mark.parametrize(
    "master", ["local", "local[1]", "local[*]", "local[2, 3]", "local-cluster[2,1,1024]"]
)
def test_a_local_master_is_accepted(master: str) -> None:
    check_master(master)


@pytest.mark.parametrize(
    "master",
    [
        "",
        "foo",
        "local[]",
        "local[0]",
        "local[two]",
        "spark://",
        "spark://host",
        "yarn-client",
        "mesos://h:1",
    ],
)
def test_a_master_of_no_known_kind_is_refused_with_what_may_be_given(master: str) -> None:
    with pytest.raises(SkipstoneError, match=r"is no Spark master; give local\[N\]"):
        check_master(master)


@pytest.mark.parametrize("master", ["k8s://", "k8s://https://", "k8s://host:port"])
def test_a_kubernetes_master_without_a_host_and_port_is_refused(master: str) -> None:
    with pytest.raises(SkipstoneError, match="is no Spark master; for Kubernetes"):
        check_master(master)


@pytest.mark.parametrize("form", ["spark://127.0.0.1:{}", "k8s://127.0.0.1:{}", "k8s://http://127.0.0.1:{}"])
def test_a_master_that_nobody_answers_for_is_refused_at_once(silent: int, form: str) -> None:
    started = time.monotonic()
    with pytest.raises(SkipstoneError, match="does not answer: Connection refused"):
        check_master(form.format(silent))
    assert time.monotonic() - started < 5


def test_a_host_without_an_address_is_refused() -> None:
    with pytest.raises(SkipstoneError, match=r"The Spark master spark://no-such-host.* does not answer"):
        check_master("spark://no-such-host.invalid:7077")


def test_one_master_that_answers_is_enough(silent: int, listening: int) -> None:
    check_master(f"spark://127.0.0.1:{silent},127.0.0.1:{listening}")


def test_yarn_needs_to_know_its_cluster() -> None:
    with pytest.raises(SkipstoneError, match="HADOOP_CONF_DIR or YARN_CONF_DIR"):
        check_master("yarn", {})


def yarn_site(directory: Path, **settings: object) -> dict[str, str]:
    """The environment of a cluster with these settings; underscores stand for dots and dashes."""
    lines = [
        f"<property><name>yarn.resourcemanager.{name.replace('__', '-').replace('_', '.')}</name>"
        f"<value>{value}</value></property>"
        for name, value in settings.items()
    ]
    (directory / "yarn-site.xml").write_text(f"<configuration>{''.join(lines)}</configuration>")
    return {"HADOOP_CONF_DIR": str(directory)}


def test_a_yarn_that_does_not_answer_is_refused_at_once(tmp_path: Path, silent: int, listening: int) -> None:
    said = rf"yarn \(127\.0\.0\.1:{silent}\) does not answer"
    with pytest.raises(SkipstoneError, match=said):
        check_master("yarn", yarn_site(tmp_path, address=f"127.0.0.1:{silent}"))
    check_master("yarn", yarn_site(tmp_path, address=f"127.0.0.1:{listening}"))
    ids = {"ha_enabled": "true", "ha_rm__ids": "a,b", "address_a": f"127.0.0.1:{silent}"}
    check_master("yarn", yarn_site(tmp_path, **ids, address_b=f"127.0.0.1:{listening}"))


def test_a_yarn_that_only_hadoop_can_find_is_left_to_hadoop(tmp_path: Path) -> None:
    check_master("yarn", yarn_site(tmp_path, address="${cluster.name}:8032"))
    (tmp_path / "yarn-site.xml").write_text("<configuration><include href='other.xml'/></configuration>")
    check_master("yarn", {"YARN_CONF_DIR": str(tmp_path)})


def test_settings_of_a_cluster_that_are_no_xml_are_named(tmp_path: Path) -> None:
    (tmp_path / "yarn-site.xml").write_text("no xml")
    with pytest.raises(SkipstoneError, match=r"yarn-site\.xml cannot be read"):
        check_master("yarn", {"HADOOP_CONF_DIR": str(tmp_path)})
