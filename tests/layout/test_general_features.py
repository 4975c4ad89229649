"""General features: values that lists leave out, and bounds, for constants that are not in the log."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tests.layout.gsop_cases import GsopCase, both, column, compare, gsop_case

from skipstone.layout.column_access import ColumnAccess
from skipstone.layout.general_features import MOST_BOUNDS, MOST_VALUES, with_general_features
from skipstone.layout.group_view import column_access, group_view
from skipstone.layout.rows_read import computed_rows
from skipstone.layout.table_view import ColumnReads, VectorCounts
from skipstone.predicate.expr import Expr, In, Literal
from skipstone.predicate.implies import implies
from skipstone.predicate.types import LONG

VALUES, ROWS = 20, 4_000


def listed(name: str, values: list[int]) -> Expr:
    """``name IN (values)``."""
    return In(column(name), tuple(Literal(value, LONG) for value in values))


def lists_case(values: int = VALUES, lists: int = 12) -> GsopCase:
    """Queries on b and c ask for four values of b, those on d and e for ranges of d; b may be NULL."""
    random = np.random.default_rng(5)
    of_b = [None if random.random() < 0.02 else int(value) for value in random.integers(0, values, ROWS)]
    table = {name: random.integers(0, 1_000, ROWS).tolist() for name in "acde"}
    table = {name: of_b if name == "b" else table[name] for name in "abcde"}
    some = [sorted(random.choice(values, 4, replace=False).tolist()) for _ in range(lists)]
    asked = [("b,c", both(listed("b", each), compare("c", ">", 5)), 1.0) for each in some]
    asked += [("d,e", compare("d", "<", most), 5.0) for most in (30, 100, 300)]
    features = [compare("c", ">", 5), *(filter_ for _, filter_, _ in asked[lists:])]
    return gsop_case(table, asked, features, block_rows=ROWS // 100)


def reads_of(case: GsopCase) -> ColumnReads:
    assert case.workload.reads is not None
    return case.workload.reads


def test_each_value_has_a_feature_for_the_queries_whose_lists_lack_it() -> None:
    case = lists_case()
    own = case.workload
    found = with_general_features(case.view, own, reads_of(case))
    assert found.features[: len(own.features)] == own.features
    added = [each.text for each in found.features[len(own.features) :]]
    assert added == [f"b != {n}L" for n in range(VALUES)]
    assert found.reads is not None
    asked = found.reads.features[:, len(own.features) :]
    assert (asked.sum(axis=1)[:-3] == VALUES - 4).all(), "all values but the four"
    assert not asked[-3:].any()
    bits = found.feature_bits[:, len(own.features) :]
    per_row = (~bits).sum(axis=1)
    assert set(per_row.tolist()) == {1, VALUES}, "one value each, and NULL satisfies none"
    assert np.allclose(found.feature_weights[len(own.features) :], asked.T @ found.reads.weights)


def test_few_lists_many_values_and_other_predicates_make_none() -> None:
    for case in (lists_case(lists=5), lists_case(values=MOST_VALUES + 40)):
        found = with_general_features(case.view, case.workload, reads_of(case))
        assert found.features == case.workload.features


def shares(access: ColumnAccess, *names: int) -> float:
    """What a query with a list reads of a group of these columns."""
    group = np.zeros(access.columns.shape[1], np.bool_)
    group[list(names)] = True
    return float(computed_rows(access, group)[:12].mean() / access.rows)


def test_a_group_of_its_own_reads_little_more_than_the_values_of_the_list() -> None:
    case = lists_case()
    reads = reads_of(case)
    found = with_general_features(case.view, case.workload, reads)
    assert found.reads is not None
    with_values = column_access(case.view, found, found.reads, 3_000)
    assert shares(with_values, 0, 1) < 0.25, "4 of 20 values, and what shares blocks with them"
    without = column_access(case.view, case.workload, reads, 3_000)
    assert shares(without, 0, 1) > 0.95


def test_the_groups_of_lists_and_of_ranges_are_blocked_by_themselves() -> None:
    case = lists_case()
    for inner in ("sop", "qdtree"):
        design = case.fit(reconstruction="sort-merge", inner=inner)
        assert sorted(group.columns or () for group in design.groups) == [("b", "c"), ("d", "e")]
        (group,) = [each for each in design.groups if "b" in (each.columns or ())]
        of_b = np.array(
            [-1 if value is None else value for value in case.view.sample.columns[column("b")].to_pylist()]
        )
        blocks = case.blocks(group)
        assert sorted(row for block in blocks for row in block) == list(range(ROWS))
        alone = sum(len(block) for block in blocks if len(set(of_b[block].tolist()) - {-1}) <= 1)
        assert alone > 0.9 * ROWS, "most blocks have rows of one value"


def test_a_group_with_such_features_is_blocked_by_the_vectors_of_the_sample() -> None:
    case = lists_case()
    own = len(case.workload.features)
    counted = VectorCounts(np.eye(own, dtype=np.bool_), np.ones(own), (None,) * own)
    view = replace(case.view, vector_counts=counted)
    assert group_view(view, np.array([0, 1])).vector_counts is not None
    assert group_view(view, np.array([0, own])).vector_counts is None


def test_bounds_are_taken_from_the_loosest_on_and_serve_constants_that_the_log_has_not() -> None:
    random = np.random.default_rng(6)
    values = {name: random.integers(0, 1_000, 400).tolist() for name in "abcde"}
    asked = [("b,c", both(compare("b", "<", 10 * n), compare("c", ">", 500 + n)), 1.0) for n in range(1, 31)]
    case = gsop_case(values, asked, [compare("b", "<", 10)], block_rows=20)
    found = with_general_features(case.view, case.workload, reads_of(case))
    texts = [each.text for each in found.features[1:]]
    of_b = [text for text in texts if text.startswith("b < ")]
    assert (of_b[0], len(of_b)) == ("b < 300L", MOST_BOUNDS - 1), "the strictest is a feature already"
    assert texts[len(of_b)] == "c > 501L"
    later = both(compare("b", "<", 205), compare("c", ">", 600))
    assert sum(implies(later, each.predicate) for each in found.features) > len(of_b) / 4
    few = gsop_case(values, asked[:5], [compare("b", "<", 10)], block_rows=20)
    assert len(with_general_features(few.view, few.workload, reads_of(few)).features) == 1
