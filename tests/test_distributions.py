"""What is shipped: the wheel has the package alone, the source distribution all that its own tests need."""

from __future__ import annotations

import re
import tarfile
import zipfile
from pathlib import Path

import pytest
from hatchling import build

import skipstone

ROOT = Path(__file__).parents[1]
SHIPPED = ("src", "tests", "benchmarks", "docs", "examples", ".ci")
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
    return {path.as_posix() for path in kept if not any(part.startswith(".") for part in path.parts[1:])}


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
