"""Predicates that the optimizer rewrites before they arrive still skip, and skip the right files."""

from __future__ import annotations

from collections import Counter

from tests.e2e.checks import assert_same, assert_skips
from tests.e2e.conftest import Orders

# Condition, rows that satisfy it, files of 100 consecutive ids that hold them.
SKIPPING = {
    "a cast moved to the literal": ("id = 5.0D", 1, 1),
    "a string compared as a number": ("id = '42'", 1, 1),
    "a number that no long equals": ("CAST(id AS DOUBLE) = 5.5D", 0, 1),
    "an IN of few values": ("id IN (1, 2, 703)", 3, 2),
    "an IN turned into a set": ("id IN (1,2,3,4,5,6,7,8,9,10,11,12,799)", 13, 2),
    "a NOT IN turned into a set": ("id < 100 AND id NOT IN (1,2,3,4,5,6,7,8,9,10,11,12)", 88, 1),
    "BETWEEN": ("id BETWEEN 250 AND 349", 100, 2),
    "NOT BETWEEN": ("id NOT BETWEEN 100 AND 750", 149, 2),
    "an OR of equalities": ("id = 5 OR id = 6 OR id = 705", 3, 2),
    "LIKE of a prefix": ("name LIKE 'n01%'", 100, 1),
    "LIKE without a wildcard": ("name LIKE 'n0250'", 1, 1),
    "LIKE with a prefix and a suffix": ("name LIKE 'n01%9'", 10, 1),
    "LIKE ANY": ("name LIKE ANY ('n01%', 'n07%')", 200, 2),
    "NOT pushed down": ("NOT (id >= 100 AND (id < 700 OR k >= 0))", 100, 1),
    "NOT over OR": ("NOT (id < 650 OR mode != 'AIR')", 50, 2),
    "an arithmetic side": ("id + 10 < 50", 40, 1),
    "a negated column": ("-id > -20", 20, 1),
    "IS NOT NULL besides": ("id IS NOT NULL AND id > 790", 9, 1),
    "a column against a column": ("id > st.a + 0 OR id >= 790", 10, 2),
    "a struct's field": ("st.a >= 1590", 5, 1),
    "a map's value": ("attrs['c'] = '3' AND id < 100", 10, 1),
    "a date as text": ("day = '2020-01-01'", 10, 1),
    "a kept expression": ("month(day) = 2 AND id >= 0", 290, 3),
    "year of a date": ("year(day) = 2019", 0, 0),
    "a feature and more": ("mode = 'AIR' AND id < 300 AND k = 3", 15, 3),
    "a column that is only NULL": ("nothing = 1", 0, 0),
    "never true": ("id < 5 AND id > 10", 0, None),
    "NULL": ("id < CAST(NULL AS INT)", 0, None),
}


# Each is a scan of its own in one query; of what can never be true, the optimizer may leave no scan.
def test_a_rewritten_predicate_skips_the_same_files(orders: Orders) -> None:
    query = " UNION ALL ".join(
        f"SELECT {place} AS place, id, mode FROM {orders.name} WHERE {condition}"
        for place, (condition, _, _) in enumerate(SKIPPING.values())
    )
    truth = assert_same(orders.table.spark, query)
    found = [sum(row.startswith(f"Row(place={place},") for row in truth) for place in range(len(SKIPPING))]
    assert found == [rows for _, rows, _ in SKIPPING.values()]
    scans = orders.table.explain(query).scans
    assert not [scan.failure for scan in scans if scan.failure]
    read, expected = (
        [scan.files_read for scan in scans],
        [r for _, _, r in SKIPPING.values() if r is not None],
    )
    assert read[: len(expected)] == expected
    assert not any(read[len(expected) :]), "what can never be true"
    assert all(scan.files_skipped > 0 and scan.files_total == 8 for scan in scans)


def test_a_condition_inside_a_function_keeps_its_rows(orders: Orders) -> None:
    conditions = (
        "CASE WHEN id < 10 THEN TRUE ELSE FALSE END",
        "if(id < 10, 'yes', 'no') = 'yes'",
        "coalesce(id < 10, FALSE)",
    )
    query = " UNION ALL ".join(f"SELECT id FROM {orders.name} WHERE {each}" for each in conditions)
    found = assert_same(orders.table.spark, query, 10 * len(conditions))
    assert Counter(found) == dict.fromkeys(found, len(conditions))


def test_a_predicate_over_indexed_and_unindexed_columns_skips_by_the_indexed_one(orders: Orders) -> None:
    query = f"SELECT id FROM {orders.name} WHERE id < 100 AND ids[1] % 2 = 1 AND exists(ids, i -> i = 7)"
    scan = assert_skips(orders.table, query, read=1)
    assert {unused.code for unused in scan.unused} & {"NO_STATISTICS", "LAMBDA"}


def test_an_or_with_an_unindexed_column_reads_everything(orders: Orders) -> None:
    query = f"SELECT id FROM {orders.name} WHERE id < 100 OR ids[1] = 700"
    assert_same(orders.table.spark, query, 101)
    assert orders.table.explain(query).scans[0].files_read == 8
