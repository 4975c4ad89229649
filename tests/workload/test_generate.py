from __future__ import annotations

import re
from collections import Counter
from datetime import date, datetime
from decimal import Decimal

import pytest
import sqlglot

from skipstone.errors import SkipstoneError
from skipstone.workload.generate import ColumnSpec, QueryForm, generate

REGIONS = ("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")
COLUMNS = (
    ColumnSpec("size", "int", low=1, high=50),
    ColumnSpec("price", "decimal(10,2)", low=Decimal("1.00"), high=Decimal("99.99")),
    ColumnSpec("ratio", "double", low=-1.0, high=1),
    ColumnSpec("day", "date", low=date(1992, 1, 1), high=date(1998, 12, 31)),
    ColumnSpec("at", "timestamp", low=datetime(2024, 1, 1), high=datetime(2024, 1, 2)),
    ColumnSpec("region", "string", values=REGIONS),
    ColumnSpec("flag", "boolean", values=(True, False)),
    ColumnSpec("odd name.it's", "string", values=("it's",)),
)


def test_the_same_seed_gives_the_same_queries_and_another_one_others() -> None:
    assert generate(COLUMNS, 50, seed=7) == generate(COLUMNS, 50, seed=7)
    assert generate(COLUMNS, 50, seed=7) != generate(COLUMNS, 50, seed=8)


def test_every_query_is_spark_sql_with_one_to_three_predicates() -> None:
    queries = generate(COLUMNS, 200, seed=1, form=QueryForm(table="events", zipf=2.0))
    assert len(queries) == 200
    for sql in queries:
        condition = sqlglot.parse_one(sql, dialect="spark").args["where"].this
        assert 1 <= len(list(condition.flatten()) if condition.key == "and" else [condition]) <= 3
        assert " FROM events " in sql


def test_constants_stay_within_the_metadata() -> None:
    queries = generate(COLUMNS[:1], 300, seed=2)
    constants = [int(text) for sql in queries for text in re.findall(r"-?\d+", sql)]
    assert min(constants) >= 1
    assert max(constants) <= 50
    assert len(set(constants)) > 30


def test_a_skew_of_three_asks_for_the_first_of_five_regions_in_84_3_percent() -> None:
    queries = generate(
        [ColumnSpec("region", "string", values=REGIONS)], 6000, seed=3, form=QueryForm(zipf=3.0)
    )
    single = Counter(match[1] for sql in queries if (match := re.search(r"region = '([^']+)'", sql)))
    alone = [sql for sql in queries if " IN " not in sql]
    assert single.most_common(1)[0][0] == "AFRICA"
    drawn = re.findall(r"'([^']+)'", " ".join(queries))
    assert set(drawn) == set(REGIONS)
    # Equalities come from one draw, or from several equal ones; half of the queries draw once.
    assert 0.84 < single["AFRICA"] / len(alone) < 0.93


def test_dates_stay_uniform_under_skew() -> None:
    day = COLUMNS[3]
    queries = generate([day], 2000, seed=4, form=QueryForm(zipf=3.0))
    years = Counter(re.findall(r"DATE '(\d{4})", " ".join(queries)))
    assert max(years.values()) < 1.5 * min(years.values())
    sizes = Counter(
        re.findall(r"\d+", " ".join(generate(COLUMNS[:1], 2000, seed=4, form=QueryForm(zipf=3.0))))
    )
    assert sizes.most_common(1)[0][1] > 0.5 * sum(sizes.values())


def test_missing_metadata_is_a_clear_sentence() -> None:
    with pytest.raises(SkipstoneError, match="price needs"):
        generate([ColumnSpec("price", "int", low=1)], 1, seed=0)
    with pytest.raises(SkipstoneError, match="at least one column"):
        generate([], 1, seed=0)
    with pytest.raises(SkipstoneError, match="no range"):
        generate([ColumnSpec("s", "string", low="a", high="z")], 1, seed=0)
