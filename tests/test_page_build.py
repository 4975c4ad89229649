"""The script that builds the page: when it builds, and what it says when it cannot."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script, with sources and a page of its own."""
    spec = importlib.util.spec_from_file_location("build_page", ROOT / ".ci" / "build_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "WEB", tmp_path / "web")
    monkeypatch.setattr(module, "PAGE", tmp_path / "page")
    (tmp_path / "web" / "src").mkdir(parents=True)
    for name in (*module.BUILT_WITH, "src/main.tsx"):
        (tmp_path / "web" / name).write_text(name, encoding="utf-8")
    return module


def built_with(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, content: bytes, code: int = 0
) -> list[str]:
    """What npm is asked for from now on; it writes one file, and ends with a code."""
    asked: list[str] = []

    def npm(arguments: list[str]) -> SimpleNamespace:
        asked.append(" ".join(arguments))
        script.PAGE.mkdir(exist_ok=True)
        (script.PAGE / "index.js").write_bytes(content)
        return SimpleNamespace(returncode=code)

    monkeypatch.setattr(script, "_npm", npm)
    return asked


def test_the_page_is_built_again_only_after_a_change(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = built_with(script, monkeypatch, b"page")
    assert script.main([]) == 0
    assert script.main([]) == 0
    assert asked == ["run --silent build"]
    (script.WEB / "src" / "main.tsx").write_text("changed", encoding="utf-8")
    assert script.main([]) == 0
    assert len(asked) == 2


def test_a_page_that_is_too_large_is_refused_in_one_sentence(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    built_with(script, monkeypatch, os.urandom(200_000))
    assert script.main([]) == 1
    assert capsys.readouterr().err.startswith("The page has 200,")
    assert not (script.PAGE / script.STAMP).exists()


def test_a_failed_build_is_one_sentence_and_tried_again(
    script: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = built_with(script, monkeypatch, b"page", code=1)
    assert script.main([]) == script.main([]) == 1
    assert len(asked) == 2
    assert capsys.readouterr().err.splitlines()[0] == (
        "The page could not be built from web/; what Vite said is above."
    )


def test_a_machine_without_chromium_is_told_in_one_sentence(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "find_chromium.py")],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1
    assert ran.stdout == ""
    assert ran.stderr.startswith("The page is tested in Chromium, which is not here; install it")
    assert len(ran.stderr.splitlines()) == 1
