"""Every file that is read has a reason for each condition, in words, with what would help."""

from __future__ import annotations

import numpy as np
import pytest
from tests.pruning.prune_cases import block_set

from skipstone.predicate.expr import (
    And,
    Call,
    Column,
    Comparison,
    Expr,
    IsNull,
    Literal,
    Match,
    Not,
    Opaque,
    Or,
    type_of,
)
from skipstone.predicate.types import INT, STRING
from skipstone.pruning.blocks import BlockSet
from skipstone.pruning.partitions import partition_filter
from skipstone.pruning.prune import prune
from skipstone.pruning.read_reasons import ReadFiles, _remedy
from skipstone.pruning.report import ReadReason, ScanReport, UnusedPredicate
from skipstone.pruning.why_read import WhyRead, why_read

PRICE, K, P = Column(("price",), INT), Column(("k",), INT), Column(("p",), INT)
CITY = Column(("city",), STRING)
LOWER = Call("lower", (CITY,), STRING)
SEVENTH = Call("remainder", (K, Literal(1000, INT)), INT)
ROWS = [
    [{PRICE: 3, K: 5, CITY: "Oslo", P: 1}, {PRICE: 500, K: 9, CITY: "Porto", P: 1}],
    [{PRICE: 700, K: 1, CITY: "Graz", P: 2}, {PRICE: 912, K: 1, CITY: "Lyon", P: 2}],
    [{PRICE: 1, K: 1, CITY: "Cork", P: 3}],
]


def known(*, sets: bool = False) -> BlockSet:
    return block_set(ROWS, [PRICE, K, CITY, P], value_sets=lambda key: sets and key == CITY)


def compare(op: str, expr: Expr, value: object) -> Comparison:
    return Comparison(op, expr, Literal(value, type_of(expr)))


def reasons(
    filter_: Expr, blocks: BlockSet, partitions: frozenset[tuple[str, ...]] = frozenset()
) -> list[WhyRead]:
    decision = prune(filter_, blocks)
    found = why_read(filter_, blocks, decision, ~decision.skip, partitions)
    assert all(not (why.blocks & decision.skip).any() for why in found)
    return found


def described(filter_: Expr, blocks: BlockSet) -> list[tuple[int, str, str]]:
    return [(int(why.blocks.sum()), why.code, why.sentence) for why in reasons(filter_, blocks)]


@pytest.mark.parametrize(
    ("filter_", "expected"),
    [
        (compare(">", PRICE, 400), (2, "MIN_MAX", "min/max of price (3..912) may satisfy price > 400")),
        (
            compare("=", SEVENTH, 7),
            (3, "NOT_MONOTONE", "k % 1000 is an expression without statistics"),
        ),
        (
            Match("contains", CITY, "or"),
            (3, "NO_BOUNDS", "min/max say nothing about city LIKE '%or%'; a value set or a feature would"),
        ),
        (Comparison("<", PRICE, K), (1, "MIN_MAX", "min/max of k and price may satisfy k > price")),
        (Opaque("udf(k)", "UDF", (K,)), (3, "UDF", "udf(k) is not understood (UDF)")),
        (
            Or((compare(">", PRICE, 900), compare("=", K, 77))),
            (
                1,
                "MIN_MAX",
                "the alternative price > 900 may hold: min/max of price (700..912) may satisfy price > 900",
            ),
        ),
    ],
)
def test_each_kind_of_condition_says_why_it_did_not_rule_out_what_is_read(
    filter_: Expr, expected: tuple[int, str, str]
) -> None:
    assert described(filter_, known()) == [expected]


def test_a_value_set_names_the_values_that_satisfy_the_condition() -> None:
    assert described(compare("=", LOWER, "porto"), known(sets=True)) == [
        (1, "VALUE_SET", "city has the value 'Porto', so lower(city) = 'porto' may hold")
    ]


def test_every_block_that_is_read_has_one_reason_for_each_condition_and_skipped_ones_have_none() -> None:
    filter_ = And(
        (compare(">", PRICE, 400), compare("=", SEVENTH, 7), Not(IsNull(PRICE)), compare(">", K, 0))
    )
    blocks = known()
    read = ~prune(filter_, blocks).skip
    counted: dict[Expr, np.ndarray] = {}
    for why in reasons(filter_, blocks):
        counted[why.predicate] = counted.get(why.predicate, np.zeros(len(blocks), int)) + why.blocks
    assert len(counted) == 3, "and none for the inferred IS NOT NULL"
    assert all((count == read).all() for count in counted.values())


def test_files_without_statistics_of_a_column_say_so() -> None:
    blocks = known()
    statistics = blocks.statistics[PRICE]
    low = statistics.low.take([0, None, 2])
    partial = {**blocks.statistics, PRICE: type(statistics)(INT, low, low, statistics.nulls, statistics.nans)}
    found = described(compare(">", PRICE, 2), BlockSet.of(blocks.rows, partial))
    assert (1, "NO_STATISTICS", "no statistics of price in these files") in found


def test_conditions_on_partitions_are_sparks_and_give_no_reason_to_read() -> None:
    filter_ = And((compare("=", P, 1), compare(">", PRICE, 2)))
    partitions = frozenset({("p",)})
    assert partition_filter(filter_, partitions) == compare("=", P, 1)
    assert partition_filter(compare(">", PRICE, 2), partitions) is None
    assert {why.predicate for why in reasons(filter_, known(), partitions)} == {compare(">", PRICE, 2)}


@pytest.mark.parametrize(
    ("filter_", "remedy"),
    [
        (compare("=", SEVENTH, 7), 'skipstone index /data/orders --expression "k % 1000"'),
        (Match("contains", CITY, "or"), """skipstone index /data/orders --feature "city LIKE '%or%'\""""),
        (
            compare(">", PRICE, 2),
            "skipstone optimize /data/orders --queries FILE, with this query among those of FILE",
        ),
        (Opaque("udf(k)", "UDF", (K,)), ""),
    ],
)
def test_a_reason_comes_with_the_command_that_would_help(filter_: Expr, remedy: str) -> None:
    blocks = known()
    (why,) = reasons(filter_, blocks)
    assert (
        _remedy(why, ReadFiles(filter_, "file:/data/orders", why.blocks, 3, np.ones(3, np.int64))) == remedy
    )


def test_the_text_has_each_reason_once_and_groups_what_the_budget_cut_short() -> None:
    reason = ReadReason(
        "k = 1L", "MIN_MAX", "min/max of k (0..9) may satisfy k = 1", 5, 50, 500, "skipstone index t"
    )
    unused = (
        UnusedPredicate("k = 1L", "MIN_MAX", "said already", "k = 1"),
        *(
            UnusedPredicate(f"k = {n}L OR b", "BUDGET", "the work budget was spent", f"k = {n} OR b")
            for n in range(9)
        ),
    )
    report = ScanReport(
        root="t",
        filter="k = 1L",
        files_total=9,
        files_pruned=0,
        files_skipped=4,
        files_read=5,
        files_unindexed=0,
        bytes_total=900,
        bytes_read=500,
        unused=unused,
        read=(reason,),
        filter_text="k = 1",
    )
    assert list(report.lines())[1:] == [
        "  filter: k = 1",
        "  files: 5 of 9 read (0 pruned by Spark, 4 skipped by skipstone)",
        "  bytes: 500 of 900 read",
        "  read 5: min/max of k (0..9) may satisfy k = 1 [MIN_MAX]",
        "  not used: k = 0 OR b and 8 more: the work budget was spent [BUDGET]",
        "  to skip more: skipstone index t",
    ]
