"""GSOP (VLDB 2016) as a layout: its figures, the ends of its spectrum, and what is in a group's design."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.layout.gsop_cases import (
    GRADES,
    IS_M,
    LETTERS,
    NEGATIVE,
    WITH_Y,
    GsopCase,
    both,
    compare,
    gsop_case,
)

from skipstone.errors import SkipstoneError
from skipstone.layout.contract import Design
from skipstone.layout.layouts import check_base_layout, compared_layouts, fit_layout, needs_of
from skipstone.layout.simulate import virtual_blocks
from skipstone.layout.table_view import TableView, VectorCounts
from skipstone.pruning.prune import prune

PAPER = {"reconstruction": "sort-merge"}


def columns_of(design: Design) -> list[tuple[str, ...] | None]:
    return [group.columns for group in design.groups]


def test_figure_1_grade_is_blocked_by_itself_and_the_other_columns_by_theirs() -> None:
    in_2012 = both(compare("year", ">", 2011), compare("course", "=", "DB"))
    table = gsop_case(
        GRADES,
        [("grade", compare("grade", "=", "A"), 1), ("year,course", in_2012, 1)],
        [compare("grade", "=", "A"), in_2012],
        block_rows=2,
    )
    design = table.fit(**PAPER)
    assert columns_of(design) == [("year", "course"), ("grade",)]
    assert table.blocks(design.groups[0]) == [[0, 3], [1, 2]], "t1 t4 | t2 t3"
    assert table.blocks(design.groups[1]) == [[0, 1], [2, 3]], "t1 t2 | t3 t4"


def test_figure_2_one_group_has_the_blocks_of_sop() -> None:
    table = letters(("A,B,C,D", IS_M, 5), ("A,B,C,D", NEGATIVE, 1), ("A,B,C,D", WITH_Y, 5))
    design = fit_layout("sop", table.view, table.workload)
    assert table.blocks(design.group) == [[0, 2], [1, 3]], "t1 t3 | t2 t4"
    assert set(unions_of(table, design)) == {(True, True, True), (False, True, False)}


def letters(*asked: tuple[str, object, float]) -> GsopCase:
    return gsop_case(LETTERS, asked, [IS_M, NEGATIVE, WITH_Y], block_rows=2)  # type: ignore[arg-type]


def unions_of(table: GsopCase, design: Design) -> list[tuple[bool, ...]]:
    bits = table.workload.feature_bits
    return [tuple(map(bool, np.any(bits[some], axis=0))) for some in table.blocks(design.group)]


def test_figure_3_the_spectrum_from_one_group_to_single_columns() -> None:
    table = letters(("A,C", IS_M, 10), ("A,C", WITH_Y, 10), ("B,D", NEGATIVE, 10))
    assert columns_of(table.fit(grouping="one")) == [None], "all columns, those that nobody reads too"
    assert columns_of(table.fit(grouping="single")) == [("A",), ("B",), ("C",), ("D",)]
    middle = table.fit(**PAPER)
    assert columns_of(middle) == [("A", "C"), ("B", "D")]
    assert [table.blocks(group) for group in middle.groups] == [[[0, 2], [1, 3]], [[0, 3], [1, 2]]]


def test_figure_5_each_group_is_skipped_by_its_own_features_and_the_tuple_that_all_have_is_left() -> None:
    # The query's features are F1 and F2. The first group's mask has F1 and F3, the second one's F2.
    table = letters(("A,C", IS_M, 10), ("A,C", WITH_Y, 10), ("B,D", NEGATIVE, 10))
    query = both(IS_M, NEGATIVE)
    read = []
    for group in table.fit(**PAPER).groups:
        without_columns = replace(table.view.sample, columns={})
        numbers = np.zeros(4, np.int32)
        rows = table.blocks(group)
        for number, some in enumerate(rows):
            numbers[some] = number
        blocks = virtual_blocks(numbers, without_columns, table.workload.queries, group.features)
        skip = prune(query, blocks).skip
        assert skip.sum() == 1, "one block of each group"
        read.append({row for some, skipped in zip(rows, skip, strict=True) if not skipped for row in some})
    assert read == [{0, 2}, {0, 3}]
    assert read[0] & read[1] == {0}, "t3 and t4 are dropped"


def conflicting(rows: int = 4_000) -> GsopCase:
    """Queries on the columns b and c filter by b, those on d and e by d; a is read by nobody."""
    random = np.random.default_rng(3)
    values = {name: random.integers(0, 1_000, rows).tolist() for name in "abcde"}
    asked = [
        (columns, compare(name, "<", most), 10.0)
        for columns, name in (("b,c", "b"), ("d,e", "d"))
        for most in (10, 30, 100, 300)
    ]
    return gsop_case(values, asked, [filter_ for _, filter_, _ in asked], block_rows=rows // 20)


def test_columns_that_no_query_reads_are_in_no_group() -> None:
    design = conflicting().fit(**PAPER)
    assert columns_of(design) == [("b", "c"), ("d", "e")]
    assert design.parameters["columns_left_out"] == 1
    assert "2 column groups (b, c; d, e)" in design.note


def test_a_group_has_its_local_features_and_no_order_but_that_of_tuple_ids() -> None:
    for group, name in zip(conflicting().fit(**PAPER).groups, "bd", strict=True):
        assert [feature.text.split()[0] for feature in group.features] == [name] * 4
        assert group.sort == ()


@pytest.mark.parametrize("inner", ["sop", "qdtree", "range", "zorder", "hilbert"])
def test_any_layout_inside_a_group_puts_each_row_into_one_block(inner: str) -> None:
    table = conflicting()
    design = table.fit(inner=inner, **PAPER)
    assert columns_of(design) == [("b", "c"), ("d", "e")]
    for group in design.groups:
        assert sorted(row for some in table.blocks(group) for row in some) == list(range(4_000))
        assert len(table.blocks(group)) > 4, inner


def test_one_group_is_said_to_be_best_where_filters_agree() -> None:
    random = np.random.default_rng(3)
    b = random.integers(0, 1_000, 2_000)
    asked = [(names, compare("b", "<", most), 1.0) for names in ("b,c", "b,d", "c,d") for most in (10, 100)]
    values = {"b": b.tolist(), "c": (b + 1).tolist(), "d": b.tolist()}
    agreeing = gsop_case(values, asked, [compare("b", "<", 10), compare("b", "<", 100)], block_rows=100)
    for options in ({}, PAPER, {"inner": "qdtree"}):
        design = agreeing.fit(**options)
        assert columns_of(design) == [None]
        assert design.note.startswith("one group of all columns is best")


def test_a_join_as_dear_as_measured_makes_one_group_of_what_the_paper_would_divide() -> None:
    asked = [(f"b,c,{name}", compare(name, "<", most), 1.0) for name in "bd" for most in (10, 100, 300)]
    random = np.random.default_rng(3)
    values = {name: random.integers(0, 1_000, 2_000).tolist() for name in "bcd"}
    shared = gsop_case(values, asked, [filter_ for _, filter_, _ in asked], block_rows=100)
    free = replace(shared, view=replace(shared.view, join_cells=0.0))
    assert len(free.fit().groups) > 1
    assert len(shared.fit().groups) == 1


def test_the_known_groupings_go_by_access_alone() -> None:
    for grouping in ("hillclimb", "hyrise"):
        assert columns_of(conflicting().fit(grouping=grouping)) == [("b", "c"), ("d", "e")]


def test_vectors_of_the_whole_table_are_projected_for_each_group() -> None:
    table = conflicting()
    bits = table.workload.feature_bits
    vectors, counts = np.unique(bits, axis=0, return_counts=True)
    counted = VectorCounts(vectors, counts.astype(np.float64), (None,) * len(counts))
    design = replace(table, view=replace(table.view, vector_counts=counted)).fit(**PAPER)
    sampled = table.fit(**PAPER)
    assert [table.blocks(group) for group in design.groups] == [table.blocks(g) for g in sampled.groups]


def test_the_same_input_gives_the_same_groups() -> None:
    assert conflicting().fit(**PAPER).parameters == conflicting().fit(**PAPER).parameters


def test_without_columns_or_features_there_is_one_sentence() -> None:
    table = conflicting(100)
    with pytest.raises(SkipstoneError, match="not known which columns"):
        fit_layout("gsop", table.view, replace(table.workload, reads=None))
    with pytest.raises(SkipstoneError, match="GSOP has no features"):
        fit_layout("gsop", table.view, replace(table.workload, features=()))
    with pytest.raises(SkipstoneError, match="fitted for queries"):
        fit_layout("gsop", TableView(table.view.sample, 10), None)


@pytest.mark.parametrize(
    ("name", "value"),
    [("grouping", "two"), ("inner", "hyper"), ("reconstruction", "free"), ("estimation", "luck")],
)
def test_an_option_that_there_is_not_is_listed_against_what_there_is(name: str, value: str) -> None:
    with pytest.raises(SkipstoneError, match=f"There is no {name} {value}; choose one of "):
        conflicting(100).fit(**{name: value})
    with pytest.raises(SkipstoneError, match="max_vectors must be at least 1"):
        conflicting(100).fit(max_vectors="0")


def test_only_replicas_are_made_by_it() -> None:
    assert needs_of("gsop", {}).replica
    assert needs_of("gsop", {}).vector_counts
    assert not needs_of("gsop", {"inner": "qdtree"}).vector_counts
    assert "gsop" not in compared_layouts({}, queries=True)
    assert "gsop" in compared_layouts({}, queries=True, replica=True)
    assert "gsop" not in compared_layouts({}, queries=False, replica=True), "it needs queries"
    with pytest.raises(SkipstoneError, match="a table has one order of rows; make a replica by it"):
        check_base_layout("gsop")
