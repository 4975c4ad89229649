"""The Star Schema Benchmark: its queries, and how what they scan becomes figures."""

from __future__ import annotations

from benchmarks.joins.normalized import normalized_queries
from benchmarks.joins.run import figures
from benchmarks.joins.scanned import condition_of
from benchmarks.joins.ssb_data import DIMENSIONS, FACTS, SOURCES, ssb_tables
from benchmarks.joins.ssb_queries import PUBLISHED, ssb_queries, ssb_query
from benchmarks.pieces import Piece


def test_all_13_queries_have_the_published_parameters_and_others_that_are_drawn_again_alike() -> None:
    published = {name: ssb_query(name, parameters) for name, parameters in PUBLISHED.items()}
    assert len(published) == 13
    drawn = [query.sql for query in ssb_queries(3, seed=1).queries]
    assert drawn == [query.sql for query in ssb_queries(3, seed=1).queries]
    assert drawn != [query.sql for query in ssb_queries(3, seed=2).queries]
    assert not any(mark in sql for sql in (*drawn, *published.values()) for mark in "{}")
    assert "d_year IN (1997, 1998) AND p_category = 'MFGR#14'" in published["q4.3"]
    assert "p_brand1 BETWEEN 'MFGR#2221' AND 'MFGR#2228'" in published["q2.2"]


def test_the_tables_are_made_of_those_of_tpch() -> None:
    texts = ssb_tables({name: f"raw_{name}" for name in SOURCES})
    assert set(texts) == {FACTS, *DIMENSIONS}
    assert all("{" not in text for text in texts.values())


def test_what_a_query_asks_of_its_joins_ends_where_its_filter_does() -> None:
    workload = (*normalized_queries(1, 3).queries, *ssb_queries(1, 3).queries)
    for sql in (query.sql for query in workload):
        asked = condition_of(sql)
        assert asked.count("(") == asked.count(")"), sql
        assert not any(word in asked for word in ("GROUP BY", "ORDER BY", "LIMIT", "JOIN")), sql


def test_figures_compare_what_is_scanned_with_what_survives_the_joins() -> None:
    def shares(scanned: float, needed: float) -> Piece:
        return {"scanned": scanned, "needed": needed, "templates": {}}

    measured = {"scanned-ssb": {**shares(3.0, 1.0), "published": shares(12.0, 2.0)}}
    found = {figure.name: figure for figure in figures(measured, "make bench-joins")}
    others = found["ssb, other parameters: rows of lineorder scanned over those that survive"]
    assert (others.value, others.bar, others.holds) == (3, 5, True)
    exact = found["ssb, the published parameters: rows of lineorder scanned over those that survive"]
    assert (exact.value, exact.holds) == (6, False)
