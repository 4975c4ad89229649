from __future__ import annotations

from dataclasses import asdict
from html.parser import HTMLParser
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import skipstone
from skipstone.catalog.decisions import Decision
from skipstone.spark.engine.engine import Engine
from skipstone.spark.engine.source import Source
from skipstone.view import Grid, Share, View
from skipstone.workload.queries import Query, Workload

EVIL = "<script>alert('x')</script> & \"quotes\""


class Page(HTMLParser):
    """Reads a part of a page: its elements, attributes and text; every element must be closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.styles: list[str] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._open.append(tag)
        self.attributes |= {name for name, _ in attrs}
        self.styles += [value or "" for _, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def check(html: str) -> Page:
    """HTML that brings nothing along: no script, no link, no colour of its own."""
    page = Page(html)
    assert set(page.tags) <= {"div", "strong", "table", "thead", "tbody", "tr", "th", "td", "span"}
    assert page.attributes <= {"style"}
    styles = ";".join(page.styles)
    assert "url(" not in styles
    assert "#" not in styles, "the page says what is dark and what is light"
    return page


def test_text_is_escaped_wherever_it_stands() -> None:
    grid = Grid(EVIL, (EVIL,), ((EVIL,), (Share(1, 2, EVIL),)), more=3)
    page = check(View(EVIL, ((EVIL, EVIL),), (EVIL,), (grid,)).html())
    assert page.text.count(EVIL) == 8
    assert "… and 3 more" in page.text


@pytest.mark.parametrize(
    ("part", "whole", "width"), [(1, 4, "25.0"), (9, 4, "100.0"), (-1, 4, "0.0"), (1, 0, "0.0")]
)
def test_a_share_is_a_bar_inside_its_bounds(part: float, whole: float, width: str) -> None:
    html = View("", (("scanned", Share(part, whole, "so much")),)).html()
    assert f"width:{width}%" in html
    assert "so much" in check(html).text


def test_a_decision_with_few_numbers_can_be_shown() -> None:
    shown = Decision("2026-01-01T00:00:00", True, "PAYS", "it pays")
    assert repr(shown) == "<Decision: Rewrote: it pays [PAYS].>"
    check(shown._repr_html_())


def test_every_result_has_a_short_text_and_a_page(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.range(0, 400, 1, 4).selectExpr("id AS k", "if(id = 250, '<b>Oslo', 'Porto') AS city")
    rows.write.format("delta").save(str(tmp_path / "orders"))
    table = skipstone.table(spark, f"orders={tmp_path / 'orders'}")
    query = "SELECT k FROM orders WHERE city = '<b>Oslo' AND k % 7 < 3"
    queries = Workload((Query(query), Query("SELECT count(*) FROM orders WHERE k < 100")))
    table.import_log(queries)
    indexed = table.index(features=["city LIKE '<b>%'"])
    shown = {
        "Table": table,
        "IndexReport": indexed,
        "TableStatus": table.status(),
        "Explanation": table.explain(query),
        "ReplayReport": table.replay(queries),
        "WorkloadAnalysis": table.analyze(queries),
        "Advice": table.advise(queries, block_rows=100),
        "Decision": table.auto(act=False),
        "AutoStatus": table.auto_status(),
        "OptimizeReport": table.optimize(queries, "zorder", block_rows=100),
    }
    for name, result in shown.items():
        assert repr(result).startswith(f"<{name}"), repr(result)
        assert "\n" not in repr(result)
        page = check(result._repr_html_())  # type: ignore[attr-defined]
        assert page.text.strip(), name
    assert repr(indexed)[len("<IndexReport: ") : -1] == str(indexed).splitlines()[0]
    assert asdict(indexed)["files_indexed"] == 4
    assert "city LIKE '<b>%'" in check(table._repr_html_()).text
    assert "files read 1 of 4" in check(shown["Explanation"]._repr_html_()).text  # type: ignore[attr-defined]
    replayed = shown["ReplayReport"]._repr_html_()  # type: ignore[attr-defined]
    assert "width:25.0%" in replayed, "a bar for a quarter of the rows"
    gone = skipstone.Table(Source(Engine.of(spark), str(tmp_path / "nowhere")))
    assert "nowhere" in check(gone._repr_html_()).text
