"""Where Spark runs: what a master may look like, and whether it answers.

Spark itself says little when a master is wrong: it ends its JVM, or tries for minutes to reach it.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

from skipstone.errors import SkipstoneError

__all__ = ["check_master", "local_cores"]

_LOCAL = re.compile(r"local(?:\[(?P<cores>[1-9]\d*|\*)(?:\s*,\s*[1-9]\d*)?\])?")
_LOCAL_CLUSTER = re.compile(r"local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\]")
_STANDALONE = re.compile(r"spark://[^\s:,/]+:\d+(?:,[^\s:,/]+:\d+)*")
_ADDRESS = re.compile(r"[\w.-]+:\d+")
_YARN_HOST = "0.0.0.0"  # noqa: S104 - Hadoop's own default, which is only asked
_YARN_PORT = 8032
_SECONDS_TO_ANSWER = 5.0


def local_cores(master: str) -> int | None:
    """The number of cores that a local master uses; None if it is not local.

    >>> local_cores("local[3]"), local_cores("local"), local_cores("yarn")
    (3, 1, None)
    """
    found = _LOCAL.fullmatch(master)
    if found is None:
        return None
    cores = found["cores"] or "1"
    return (os.cpu_count() or 1) if cores == "*" else int(cores)


def check_master(
    master: str, environ: Mapping[str, str] = os.environ, seconds: float = _SECONDS_TO_ANSWER
) -> None:
    """Raise if there is no such kind of master, or if it does not answer."""
    if local_cores(master) is not None or _LOCAL_CLUSTER.fullmatch(master):
        return
    if _STANDALONE.fullmatch(master):
        _reach(master, master.removeprefix("spark://").split(","), seconds)
    elif master.startswith("k8s://"):
        _reach(master, [_kubernetes_address(master)], seconds)
    elif master == "yarn":
        if not environ.get("HADOOP_CONF_DIR") and not environ.get("YARN_CONF_DIR"):
            raise SkipstoneError(
                "The master yarn needs HADOOP_CONF_DIR or YARN_CONF_DIR, which say where the cluster is."
            )
        if addresses := _yarn_addresses(environ):
            _reach(f"yarn ({', '.join(addresses)})", addresses, seconds)
    else:
        raise SkipstoneError(
            f"{master or 'An empty text'} is no Spark master; give local[N], local[*], spark://HOST:PORT, "
            "yarn or k8s://HOST:PORT."
        )


def _yarn_addresses(environ: Mapping[str, str]) -> list[str]:
    """Where the resource managers listen, as Hadoop finds it out; none if only Hadoop can."""
    found: dict[str, str] = {}
    for variable in ("HADOOP_CONF_DIR", "YARN_CONF_DIR"):
        for name in ("core-site.xml", "yarn-site.xml"):
            path = Path(environ.get(variable, ""), name)
            if not environ.get(variable) or not path.is_file():
                continue
            try:
                root = ET.parse(path).getroot()  # noqa: S314 - the user's own settings
            except (ET.ParseError, OSError) as problem:
                raise SkipstoneError(
                    f"The settings of the cluster in {path} cannot be read: {problem}."
                ) from None
            if any(child.tag != "property" for child in root):
                return []  # it includes other files
            found |= {each.findtext("name", "").strip(): each.findtext("value", "").strip() for each in root}
    prefix = "yarn.resourcemanager"
    ids = found.get(f"{prefix}.ha.rm-ids", "") if found.get(f"{prefix}.ha.enabled") == "true" else ""
    suffixes = [f".{each.strip()}" for each in ids.split(",") if each.strip()] or [""]
    addresses = [
        found.get(f"{prefix}.address{suffix}")
        or f"{found.get(f'{prefix}.hostname{suffix}', _YARN_HOST)}:{_YARN_PORT}"
        for suffix in suffixes
    ]
    return addresses if all(_ADDRESS.fullmatch(each) for each in addresses) else []


def _kubernetes_address(master: str) -> str:
    rest = master.removeprefix("k8s://")
    url = urlsplit(rest if "://" in rest else f"https://{rest}")
    try:
        port = url.port or (80 if url.scheme == "http" else 443)
    except ValueError:
        port = 0
    if not url.hostname or not port:
        raise SkipstoneError(f"{master} is no Spark master; for Kubernetes give k8s://HOST:PORT.")
    return f"{url.hostname}:{port}"


def _reach(master: str, addresses: list[str], seconds: float) -> None:
    """One that answers is enough: the others may be in reserve."""
    reason = ""
    for address in addresses:
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host, int(port)), timeout=seconds).close()
        except (OSError, OverflowError) as problem:
            reason = getattr(problem, "strerror", None) or str(problem)
        else:
            return
    raise SkipstoneError(f"The Spark master {master} does not answer: {reason.rstrip('.')}.")
