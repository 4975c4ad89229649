"""The pages of docs/ agree with the code, and their links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from skipstone.spark import session

ROOT = Path(__file__).parents[2]
PAGES = [*ROOT.glob("*.md"), ROOT / "benchmarks" / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]


def anchors(page: Path) -> set[str]:
    """The names by which a page's headings can be linked to, as GitHub makes them."""
    headings = re.findall(r"(?m)^#+ (.+)$", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_to_a_file_or_a_heading_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text(encoding="utf-8"))
    for link in links:
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_the_readme_leads_to_every_page() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    pages = [page.name for page in (ROOT / "docs").glob("*.md")]
    assert [page for page in pages if f"(docs/{page})" not in readme] == []


def test_every_setting_that_a_session_makes_is_on_the_page_of_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PYSPARK_PYTHON", "python")
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.delenv("SPARK_CONF_DIR", raising=False)
    made = {
        "spark.app.name",
        "spark.master",
        "spark.jars",
        "PYSPARK_PYTHON",
        "SPARK_LOCAL_IP",
        *session._defaults("local[2]"),
        *session._delta_settings({"spark.jars.packages": "io.delta:delta-spark"}, jvm_runs=False),
    }
    assert "spark.driver.defaultJavaOptions" in made
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert [name for name in sorted(made) if f"`{name}`" not in page] == []


def test_every_setting_of_the_reader_is_on_the_page_of_settings() -> None:
    source = (ROOT / "src/skipstone/spark/bridge/java/ReaderSettings.java").read_text(encoding="utf-8")
    found = re.search(r"NAMES = \{(.*?)\};", source, re.DOTALL)
    assert found
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    names = re.findall(r'"(spark\.[\w.]+)"', found[1])
    assert len(names) > 5
    assert [name for name in names if f"`{name}`" not in page] == []
