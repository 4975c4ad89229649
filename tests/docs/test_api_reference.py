"""docs/api.md is what docs/make_api.py makes of the docstrings."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

import skipstone

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def make_api() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_api", DOCS / "make_api.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_is_up_to_date(make_api: ModuleType) -> None:
    assert (DOCS / "api.md").read_text(encoding="utf-8") == make_api.page(), "run make docs"


def test_every_public_name_and_every_method_of_a_table_has_a_section(make_api: ModuleType) -> None:
    page = make_api.page()
    for name in set(skipstone.__all__) - {"Table"}:
        assert f"\n### skipstone.{name}\n" in page or f"\n### {name}\n" in page
    for name in ("index", "explain", "replay", "advise", "optimize", "auto", "append", "watch", "log"):
        assert f"\n### Table.{name}\n" in page


def test_everything_in_the_reference_has_a_docstring(make_api: ModuleType) -> None:
    documented = [*make_api.FUNCTIONS, *make_api.methods(skipstone.Table), *make_api.public_classes()]
    assert [each.__qualname__ for each in documented if not each.__doc__] == []


def test_a_changed_docstring_makes_the_check_fail(
    make_api: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert make_api.main(["--check"]) == 0
    monkeypatch.setattr(skipstone.Policy, "__doc__", "Something else.")
    assert make_api.main(["--check"]) == 1
    assert "run make docs" in capsys.readouterr().err
