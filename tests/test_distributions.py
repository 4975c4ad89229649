"""What is shipped: the wheel has the package alone, the source distribution all that its own tests need."""

from __future__ import annotations

import gzip
import json
import re
import tarfile
import zipfile
from pathlib import Path

import pytest
from hatchling import build

import skipstone

ROOT = Path(__file__).parents[1]
SHIPPED = ("src", "tests", "benchmarks", "docs", "examples", "web", ".ci")
CONFIGURATION = {".npmrc", ".prettierignore", ".prettierrc.json"}
FILES = {
    ".gitignore",
    ".pre-commit-config.yaml",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "Makefile",
    "README.md",
    "pyproject.toml",
    "requirements.lock",
}


def files_in(*directories: str) -> set[str]:
    """What is in some directories of the repository, without what running them leaves behind."""
    found = (path for name in directories for path in (ROOT / name).rglob("*") if path.is_file())
    kept = (path.relative_to(ROOT) for path in found if path.suffix != ".pyc")
    return {path.as_posix() for path in kept if not any(map(left_behind, path.parts[1:]))}


def left_behind(name: str) -> bool:
    return name == "node_modules" or (name.startswith(".") and name not in CONFIGURATION)


@pytest.fixture
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


@pytest.mark.usefixtures("_at_the_root")
def test_the_wheel_has_the_package_and_nothing_else(tmp_path: Path) -> None:
    name = build.build_wheel(str(tmp_path))
    with zipfile.ZipFile(tmp_path / name) as wheel:
        names = set(wheel.namelist())
        (metadata,) = (each for each in names if each.endswith(".dist-info/METADATA"))
        text = wheel.read(metadata).decode()
    package = {each for each in names if not each.startswith(metadata.partition("/")[0])}
    assert package == {path.removeprefix("src/") for path in files_in("src")}
    assert {"skipstone/py.typed", "skipstone/spark/log4j2.properties"} <= package
    assert re.search(r"(?m)^Version: (.+)$", text)[1] == skipstone.__version__  # type: ignore[index]


@pytest.mark.usefixtures("_at_the_root")
def test_the_wheel_has_the_page_as_built_from_the_sources(tmp_path: Path) -> None:
    name = build.build_wheel(str(tmp_path))
    with zipfile.ZipFile(tmp_path / name) as wheel:
        page = {each for each in wheel.namelist() if each.startswith("skipstone/server/page/")}
        index = wheel.read("skipstone/server/page/index.html").decode()
    loaded = re.findall(r'(?:src|href)="\./([^"]+)"', index)
    assert {Path(each).suffix for each in loaded} == {".css", ".js", ".svg"}
    assert {f"skipstone/server/page/{each}" for each in loaded} <= page
    # What the server's "default-src 'self'" forbids
    assert not re.search(r"<style|style=|<script(?![^>]* src=)|https?:|data:", index)


def test_the_page_is_small_and_its_lock_names_no_registry() -> None:
    page = ROOT / "src" / "skipstone" / "server" / "page"
    sizes = [len(gzip.compress(path.read_bytes())) for path in page.rglob("*") if path.is_file()]
    assert 10_000 < sum(sizes) < 150_000
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text(encoding="utf-8"))
    assert not [name for name, package in lock["packages"].items() if "resolved" in package]


@pytest.mark.usefixtures("_at_the_root")
def test_the_source_distribution_has_all_that_the_tests_need(tmp_path: Path) -> None:
    name = build.build_sdist(str(tmp_path))
    with tarfile.open(tmp_path / name) as archive:
        top = f"skipstone-{skipstone.__version__}/"
        names = {member.name.removeprefix(top) for member in archive.getmembers() if member.isfile()}
    assert names == files_in(*SHIPPED) | FILES | {"PKG-INFO"}


def test_the_changelog_begins_with_this_version() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.findall(r"(?m)^## (\d+\.\d+\.\d+)( \(unreleased\))?$", changes)[0]
    release, _, unreleased = skipstone.__version__.partition(".dev")
    assert newest[0] == release
    assert bool(newest[1]) == bool(unreleased)
