"""What one column group is blocked by: projected vectors, and the queries that read it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from tests.layout.gsop_cases import GsopCase, compare, gsop_case

from skipstone.layout.assignment import Partitioned
from skipstone.layout.group_view import column_access, group_view, group_workload
from skipstone.layout.table_view import VectorCounts


def table(rows: int = 600) -> GsopCase:
    random = np.random.default_rng(3)
    values = {name: random.integers(0, 100, rows).tolist() for name in "abcd"}
    asked = [(names, compare(names[-1], "<", most), 2.0) for names in ("a,b", "c,d") for most in (10, 50)]
    return gsop_case(values, asked, [filter_ for _, filter_, _ in asked], block_rows=50)


def test_vectors_that_agree_on_the_chosen_features_are_one_in_each_horizontal_partition() -> None:
    bits = np.array([[1, 0, 0], [1, 0, 1], [0, 1, 1], [1, 0, 1]], np.bool_)
    counted = VectorCounts(bits, np.array([5.0, 7.0, 1.0, 2.0]), ("x", "x", "x", None))
    found = group_view(replace(table().view, vector_counts=counted), np.array([0, 1])).vector_counts
    assert found is not None
    seen = {
        (tuple(map(bool, vector)), part): count
        for vector, part, count in zip(found.vectors, found.partitions, found.counts, strict=True)
    }
    assert seen == {((True, False), "x"): 12.0, ((False, True), "x"): 1.0, ((True, False), None): 2.0}


def test_a_group_has_the_queries_that_read_it_with_their_weights() -> None:
    case = table()
    reads = case.workload.reads
    assert reads is not None
    local = group_workload(case.workload, reads, reads.columns[:, 0], np.array([0, 1]))
    assert local.queries.filters == case.workload.queries.filters[:2]
    assert local.queries.weights.tolist() == [2.0, 2.0]
    assert local.feature_weights.tolist() == [2.0, 4.0], "b < 50 subsumes b < 10 too"
    assert local.feature_bits.shape == (600, 2)


def test_vectors_of_a_part_of_the_rows_count_for_all_of_them() -> None:
    case = table()
    reads = case.workload.reads
    assert reads is not None
    few = replace(case.view, sample=replace(case.view.sample, scale=10.0))
    access = column_access(few, case.workload, reads, 3_000)
    assert access.rows == 6_000
    assert access.columns.shape == (4, 4)


def test_groups_are_blocked_inside_each_horizontal_partition() -> None:
    case = table()
    part = (np.arange(600) % 3).astype(np.int32)
    sample = replace(case.view.sample, partition=part, partition_values=(0, 1, 2))
    sample = replace(sample, partition_by=next(iter(sample.columns)))
    divided = replace(case, view=replace(case.view, sample=sample, block_rows=20))
    for inner in ("sop", "qdtree"):
        design = divided.fit(inner=inner, grouping="hillclimb")
        assert [group.columns for group in design.groups] == [("a", "b"), ("c", "d")]
        assert all(isinstance(group.assignment, Partitioned) for group in design.groups)
