from __future__ import annotations

import re
from collections import Counter
from random import Random

import pytest

from benchmarks.tpch.queries import TEMPLATES, Draw, tpch_queries, tpch_workloads
from benchmarks.tpch.values import BRANDS, NATIONS, REGIONS, SEGMENTS, SHIP_MODES, TYPES

MANY = 400


def texts(template: str, skewed: bool = False) -> list[str]:
    draw = Draw(Random(7), 3.0 if skewed else 0.0)
    return [TEMPLATES[template](draw) for _ in range(MANY)]


def found(template: str, pattern: str, skewed: bool = False) -> list[str]:
    values = [value for text in texts(template, skewed) for value in re.findall(pattern, text)]
    assert values
    return values


def test_the_workloads_have_100_and_10_queries_of_each_of_eight_templates() -> None:
    training, test = tpch_workloads()
    assert (len(training.queries), len(test.queries)) == (800, 80)
    assert [query.position for query in training.queries] == list(range(1, 801))
    assert list(TEMPLATES) == ["q3", "q5", "q6", "q8", "q10", "q12", "q14", "q19"]


@pytest.mark.parametrize("skewed", [False, True])
def test_the_same_seed_gives_the_same_queries_and_another_seed_others(skewed: bool) -> None:
    assert tpch_queries(10, 2, skewed) == tpch_queries(10, 2, skewed)
    assert tpch_queries(10, 2, skewed) != tpch_queries(10, 3, skewed)


def test_test_queries_are_not_a_part_of_the_training_queries() -> None:
    training, test = tpch_workloads()
    assert test.queries[:10] != training.queries[:10]
    # q19 has so many parameters that two workloads hardly share a query.
    assert not {query.sql for query in test.queries[70:]} & {query.sql for query in training.queries[700:]}


@pytest.mark.parametrize(
    ("template", "pattern", "allowed"),
    [
        ("q3", r"c_mktsegment = '([^']+)'", set(SEGMENTS)),
        ("q3", r"o_orderdate < DATE '([^']+)'", {f"1995-03-{day:02}" for day in range(1, 32)}),
        ("q5", r"cr_name = '([^']+)'", set(REGIONS)),
        ("q5", r"o_orderdate >= DATE '([^']+)'", {f"{year}-01-01" for year in range(1993, 1998)}),
        ("q6", r"l_shipdate >= DATE '([^']+)'", {f"{year}-01-01" for year in range(1993, 1998)}),
        ("q6", r"BETWEEN (0\.\d\d) - 0\.01", {f"0.0{discount}" for discount in range(2, 10)}),
        ("q6", r"l_quantity < (\d+)", {"24", "25"}),
        ("q8", r"nation = '([^']+)'", set(NATIONS)),
        ("q8", r"cr_name = '([^']+)'", set(REGIONS)),
        (
            "q10",
            r"o_orderdate >= DATE '([^']+)'",
            {f"{1993 + month // 12}-{month % 12 + 1:02}-01" for month in range(1, 25)},
        ),
        ("q12", r"l_shipmode IN \('([^']+)', '[^']+'\)", set(SHIP_MODES)),
        ("q12", r"l_receiptdate >= DATE '([^']+)'", {f"{year}-01-01" for year in range(1993, 1998)}),
        (
            "q14",
            r"l_shipdate >= DATE '([^']+)'",
            {f"{year}-{month:02}-01" for year in range(1993, 1998) for month in range(1, 13)},
        ),
        ("q19", r"p_brand = '([^']+)'", set(BRANDS)),
    ],
)
def test_parameters_take_every_value_of_the_specification_and_no_other(
    template: str, pattern: str, allowed: set[str]
) -> None:
    assert set(found(template, pattern)) == allowed


def test_q8_asks_for_the_region_of_its_nation_and_one_of_150_types() -> None:
    assert len(TYPES) == 150
    for text in texts("q8"):
        nation = re.search(r"nation = '([^']+)'", text)
        region = re.search(r"cr_name = '([^']+)'", text)
        type_ = re.search(r"p_type = '([^']+)'", text)
        assert nation is not None
        assert region is not None
        assert type_ is not None
        assert NATIONS[nation[1]] == region[1]
        assert type_[1] in TYPES


def test_q10_starts_in_february_1993_at_the_earliest_and_january_1995_at_the_latest() -> None:
    dates = found("q10", r"o_orderdate >= DATE '([^']+)'")
    assert (min(dates), max(dates)) == ("1993-02-01", "1995-01-01")


def test_q12_asks_for_two_different_ship_modes_even_when_skewed() -> None:
    for skewed in (False, True):
        for modes in found("q12", r"l_shipmode IN \(([^)]+)\)", skewed):
            first, second = modes.split(", ")
            assert first != second


def test_q19_has_three_branches_with_the_quantities_of_each() -> None:
    for text in texts("q19"):
        first, second, third = (int(value) for value in re.findall(r"l_quantity >= (\d+)", text))
        assert 1 <= first <= 10 <= second <= 20 <= third <= 30
        assert re.findall(r"p_size BETWEEN 1 AND (\d+)", text) == ["5", "10", "15"]


def test_a_skewed_workload_prefers_the_first_value_as_the_paper_says() -> None:
    draw = Draw(Random(1), 3.0)
    counts = Counter(draw.one_of(REGIONS) for _ in range(20_000))
    assert counts[REGIONS[0]] / 20_000 == pytest.approx(0.843, abs=0.01)
    assert [region for region, _ in counts.most_common()] == list(REGIONS)


def test_a_skewed_workload_keeps_dates_uniform() -> None:
    years = Counter(found("q6", r"l_shipdate >= DATE '(\d+)", skewed=True))
    assert len(years) == 5
    assert max(years.values()) < 2 * min(years.values())
