from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from skipstone.errors import SkipstoneError
from skipstone.spark import jars
from skipstone.spark.jars import Jar, delta_jars, jars_directory
from skipstone.spark.resolvers import ResolveError, resolve_with_maven

CONTENT = {"g:one:1": b"first", "g:two:1": b"second"}


@pytest.fixture(autouse=True)
def _two_small_jars(monkeypatch: pytest.MonkeyPatch) -> None:
    small = []
    for name, data in CONTENT.items():
        group, artifact, version = name.split(":")
        small.append(Jar(group, artifact, version, hashlib.sha256(data).hexdigest()))
    monkeypatch.setattr(jars, "DELTA_JARS", tuple(small))
    monkeypatch.setattr(jars, "spark_has_delta", lambda: False)


class Resolver:
    """Delivers given bytes and counts how often it was asked."""

    def __init__(self, content: Mapping[str, bytes] | None = None, failure: str | None = None) -> None:
        self.content = CONTENT if content is None else content
        self.failure = failure
        self.calls = 0
        self.__name__ = "resolve_with_test"

    def __call__(self, coordinates: Sequence[str], work: Path) -> Mapping[str, Path]:
        self.calls += 1
        if self.failure:
            raise ResolveError(self.failure)
        found = {name: work / name.replace(":", "_") for name in coordinates if name in self.content}
        for name, path in found.items():
            path.write_bytes(self.content[name])
        return found


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def test_jars_are_fetched_once_and_nothing_else_is_left(tmp_path: Path) -> None:
    resolver, target = Resolver(), tmp_path / "a" / "jars"
    first = delta_jars(directory=target, resolvers=[resolver])
    second = delta_jars(directory=target, resolvers=[resolver])
    assert first == second == [target / "one-1.jar", target / "two-1.jar"]
    assert [path.read_bytes() for path in first] == list(CONTENT.values())
    assert resolver.calls == 1
    assert names(target) == {"one-1.jar", "two-1.jar", "complete"}
    assert names(target.parent) == {"jars"}


def test_the_second_resolver_is_asked_when_the_first_fails(tmp_path: Path) -> None:
    failing, working = Resolver(failure="no route"), Resolver()
    assert len(delta_jars(directory=tmp_path / "jars", resolvers=[failing, working])) == 2
    assert (failing.calls, working.calls) == (1, 1)


def test_when_all_fail_one_sentence_names_why_and_where_to_put_the_jars(tmp_path: Path) -> None:
    failing = [Resolver(failure="Ivy is offline"), Resolver(failure="mvn is not installed")]
    with pytest.raises(SkipstoneError) as raised:
        delta_jars(directory=tmp_path / "jars", resolvers=failing)
    for part in ("Ivy is offline", "mvn is not installed", "one-1.jar, two-1.jar", str(tmp_path / "jars")):
        assert part in str(raised.value)
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "jars" / "complete").exists()


@pytest.mark.parametrize("content", [{**CONTENT, "g:two:1": b"secon"}, {"g:one:1": b"first"}])
def test_a_damaged_or_missing_jar_is_never_kept(tmp_path: Path, content: dict[str, bytes]) -> None:
    with pytest.raises(SkipstoneError, match=r"two-1.jar|g:two:1"):
        delta_jars(directory=tmp_path / "jars", resolvers=[Resolver(content)])
    assert names(tmp_path / "jars") == set()


def test_a_half_filled_directory_is_completed(tmp_path: Path) -> None:
    (tmp_path / "one-1.jar").write_bytes(b"fir")
    assert [path.read_bytes() for path in delta_jars(directory=tmp_path, resolvers=[Resolver()])] == [
        b"first",
        b"second",
    ]


def test_jars_put_by_hand_are_taken_without_asking_anybody(tmp_path: Path) -> None:
    (tmp_path / "one-1.jar").write_bytes(b"first")
    (tmp_path / "two-1.jar").write_bytes(b"second")
    resolver = Resolver()
    assert len(delta_jars(directory=tmp_path, resolvers=[resolver])) == 2
    assert resolver.calls == 0


def test_many_at_once_all_get_whole_jars(tmp_path: Path) -> None:
    def fetch(_: int) -> list[bytes]:
        return [path.read_bytes() for path in delta_jars(directory=tmp_path / "jars", resolvers=[Resolver()])]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(fetch, range(32))) == [list(CONTENT.values())] * 32


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(SkipstoneError, match="set SKIPSTONE_HOME"):
        delta_jars(directory=tmp_path / "file" / "jars", resolvers=[Resolver()])


def test_a_spark_that_carries_delta_needs_no_jars(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(jars, "spark_has_delta", lambda: True)
    resolver = Resolver()
    assert delta_jars(directory=tmp_path, resolvers=[resolver]) == []
    assert resolver.calls == 0


def test_skipstone_home_decides_where_the_jars_lie(tmp_path: Path) -> None:
    assert jars_directory({"SKIPSTONE_HOME": str(tmp_path)}).is_relative_to(tmp_path / "jars")
    assert jars_directory({"XDG_CACHE_HOME": str(tmp_path)}).is_relative_to(tmp_path / "skipstone" / "jars")


def test_without_mvn_its_resolver_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ResolveError, match="mvn is not installed"):
        resolve_with_maven(["g:one:1"], tmp_path)


def test_a_failing_mvn_is_quoted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "mvn").write_text("#!/bin/sh\necho '[ERROR] Could not resolve g:one:1'\nexit 1\n")
    (tmp_path / "mvn").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(ResolveError, match="mvn failed: Could not resolve g:one:1"):
        resolve_with_maven(["g:one:1"], tmp_path)
