"""Delta's jars, fetched once, so that ``skipstone.session()`` needs no step of the user's.

Delta publishes about thirty jars; Spark's own class path already holds most of them, often in newer
versions that must win. The four kept here are what Delta needs on top. With them, writes, reads, DELETE,
UPDATE, MERGE, OPTIMIZE, RESTORE, VACUUM, CONVERT, CLONE, liquid clustering, deletion vectors, checkpoints
and a streaming read were run. The first two suffice for all of these; without the kernel jars, Delta's
DataSource V2 mode fails to load its classes. Jars for Unity Catalog are left out: they matter to tables
that a Unity Catalog server manages.

The jars are in a cache directory. They are fetched into a temporary directory beside it, are checked against
their SHA-256, are moved in one by one by atomic renames, and a marker is written last. Two processes
that race therefore move identical files over each other, and a crash leaves no marker.

``python -m skipstone.spark.jars`` fetches ahead of time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skipstone.errors import SkipstoneError
from skipstone.spark.find_java import find_java
from skipstone.spark.resolvers import ResolveError, Resolver, resolve_with_ivy, resolve_with_maven

__all__ = [
    "DELTA_JARS",
    "Jar",
    "JarSet",
    "delta_jars",
    "fetched_jars",
    "home_directory",
    "jars_directory",
    "spark_has_delta",
]

_MARKER = "complete"
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Jar:
    """One jar: where a Maven repository has it, and what its bytes must be."""

    group: str
    artifact: str
    version: str
    sha256: str

    @property
    def coordinate(self) -> str:
        """Maven's name for it, ``group:artifact:version``."""
        return f"{self.group}:{self.artifact}:{self.version}"

    @property
    def file_name(self) -> str:
        """The name of the file in the cache directory."""
        return f"{self.artifact}-{self.version}.jar"


@dataclass(frozen=True, slots=True)
class JarSet:
    """Jars that are fetched and kept together, and what messages call them."""

    called: str
    jars: tuple[Jar, ...]


_SHA256 = {
    "delta-spark_4.2_2.13": "27d4fd8b1f879535c573ed1c718177d6a27f24d3e626ba02e216369725721ead",
    "delta-storage": "c46735481fa8e326b0957be02b4420cbcab4b325bb08009b7f2045a95133f1cc",
    "delta-kernel-api": "ee9b5a14ac3b7efdff4d61a58478fe8eb0e5a3fbca43889dca7290795fe79a11",
    "delta-kernel-defaults": "225c975199e4718b38ee5b7e6da7f19e9585024262b2cec2656b32151a856b0b",
}
DELTA_JARS = tuple(Jar("io.delta", artifact, "4.4.0", sha256) for artifact, sha256 in _SHA256.items())

_RESOLVERS: tuple[Resolver, ...] = (resolve_with_ivy, resolve_with_maven)


def delta_jars(
    *,
    directory: Path | None = None,
    resolvers: Sequence[Resolver] = _RESOLVERS,
    report: Callable[[str], None] = lambda _: None,
) -> list[Path]:
    """Return the jars that Spark needs for Delta, fetching them on first use.

    The list is empty when this Spark already carries Delta.
    """
    if spark_has_delta():
        return []
    target = jars_directory() if directory is None else directory
    return fetched_jars(JarSet("Delta's jars", DELTA_JARS), target, resolvers=resolvers, report=report)


def fetched_jars(
    wanted: JarSet,
    target: Path,
    *,
    resolvers: Sequence[Resolver] = _RESOLVERS,
    report: Callable[[str], None] = lambda _: None,
) -> list[Path]:
    """Return jars that are kept in a directory, fetching them on first use."""
    with _lock:  # threads that start at once need one download
        if not _is_complete(wanted, target):
            _fetch(wanted, target, resolvers, report)
    return [target / jar.file_name for jar in wanted.jars]


def home_directory(environ: Mapping[str, str] | None = None) -> Path:
    """Return where files of this machine are kept: ``SKIPSTONE_HOME``, else the user's cache directory."""
    env = os.environ if environ is None else environ
    if env.get("SKIPSTONE_HOME"):
        base = Path(env["SKIPSTONE_HOME"])
    elif env.get("XDG_CACHE_HOME"):
        base = Path(env["XDG_CACHE_HOME"], "skipstone")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches" / "skipstone"
    else:
        base = Path.home() / ".cache" / "skipstone"
    return base.absolute()


def jars_directory(environ: Mapping[str, str] | None = None) -> Path:
    """Return where the jars are kept."""
    first = DELTA_JARS[0]
    return home_directory(environ) / "jars" / f"{first.artifact}-{first.version}"


def spark_has_delta() -> bool:
    """Whether the jars directory of this Spark already holds Delta."""
    # Imported here: the module must load, and say what is wrong, without a working pyspark.
    from pyspark.find_spark_home import _find_spark_home

    return any(Path(_find_spark_home(), "jars").glob("delta-spark_*.jar"))


def _is_complete(wanted: JarSet, target: Path) -> bool:
    if not all((target / jar.file_name).is_file() for jar in wanted.jars):
        return False
    if (target / _MARKER).is_file():
        return True
    if _mismatches(wanted, target):
        return False
    # All are there and right, put by hand or by a process that died before its last step.
    with contextlib.suppress(OSError):
        _mark(wanted, target)
    return True


def _fetch(
    wanted: JarSet, target: Path, resolvers: Sequence[Resolver], report: Callable[[str], None]
) -> None:
    failures: list[str] = []
    try:
        target.mkdir(parents=True, exist_ok=True)
        for resolve in resolvers:
            with tempfile.TemporaryDirectory(prefix=".fetch-", dir=target.parent) as scratch:
                try:
                    _deliver(wanted, _found_by(resolve, wanted, Path(scratch), report), target)
                    report(f"{len(wanted.jars)} jars in {target}")
                    return
                except ResolveError as error:
                    failures.append(str(error))
                    report(str(error))
    except OSError as error:
        raise SkipstoneError(
            f"{wanted.called} cannot be kept in {target} ({error.strerror or error}); "
            "set SKIPSTONE_HOME to a directory that can be written."
        ) from error
    names = ", ".join(jar.file_name for jar in wanted.jars)
    raise SkipstoneError(
        f"{wanted.called} could not be fetched ({'; '.join(failures)}); check the network or put {names} "
        f"into {target} by hand."
    )


def _found_by(resolve: Resolver, wanted: JarSet, scratch: Path, report: Callable[[str], None]) -> Path:
    """Let a resolver find the jars, check them, and return the directory that they are in."""
    work, ready = scratch / "work", scratch / "ready"
    work.mkdir()
    ready.mkdir()
    report(f"fetching {wanted.called} through {resolve.__name__.removeprefix('resolve_with_')}")
    found = resolve([jar.coordinate for jar in wanted.jars], work)
    for jar in wanted.jars:
        if jar.coordinate not in found:
            raise ResolveError(f"{jar.coordinate} was not delivered")
        # A copy inside the target's file system, so that the move into it is one atomic rename.
        shutil.copyfile(found[jar.coordinate], ready / jar.file_name)
    if wrong := _mismatches(wanted, ready):
        raise ResolveError(f"the checksum of {wrong[0]} is not the published one")
    return ready


def _deliver(wanted: JarSet, ready: Path, target: Path) -> None:
    for jar in wanted.jars:
        (ready / jar.file_name).replace(target / jar.file_name)
    _mark(wanted, target)


def _mismatches(wanted: JarSet, directory: Path) -> list[str]:
    return [jar.file_name for jar in wanted.jars if _sha256(directory / jar.file_name) != jar.sha256]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _mark(wanted: JarSet, target: Path) -> None:
    handle, scratch = tempfile.mkstemp(prefix=f".{_MARKER}-", dir=target)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.writelines(f"{jar.coordinate}\n" for jar in wanted.jars)
    Path(scratch).replace(target / _MARKER)


def main() -> int:
    """Fetch the jars now, with progress on stderr."""
    try:
        find_java()
        delta_jars(report=lambda line: print(line, file=sys.stderr, flush=True))
    except SkipstoneError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
