"""Which column groups and blocks a scan reads, and when it reads the base instead."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.catalog.grouped_parts import BLOCK_BYTES, group, grouped, rows_of
from tests.catalog.replica_parts import SCHEMA, files, part
from tests.catalog.segments import SETTINGS

from skipstone.catalog.choose_copies import CopyState, Skips, Verdict, choose_copies
from skipstone.catalog.choose_groups import GroupChoice, GroupQuestion, choose_groups
from skipstone.catalog.decide import decide
from skipstone.catalog.group_reads import ReplicaRead, group_reads
from skipstone.catalog.replicas import HorizontalPartition, Replicas, replicas_of
from skipstone.predicate.expr import And, Column, Comparison, Expr, Literal, Match
from skipstone.predicate.types import INT, STRING
from skipstone.pruning.blocks import Feature
from skipstone.pruning.masks import Flags

A, B, C = Column(("A",), STRING), Column(("B",), INT), Column(("C",), STRING)
F1 = Feature(Comparison("=", A, Literal("m", STRING)), "A = 'm'")
F2 = Feature(Comparison("<", B, Literal(0, INT)), "B < 0")
F3 = Feature(Match("starts_with", C, "y"), "C LIKE 'y%'")
HUGE = 100_000


def question(
    replicas: Replicas, columns: Sequence[str], skip: Flags, missing: Sequence[int] = (), always: bool = False
) -> GroupQuestion:
    """All partitions are valid, no base file is skipped, and copies of whole rows are chosen as ever."""
    state = CopyState(valid=tuple(range(len(replicas))), base_missing=tuple(missing))
    count = len(replicas.covered)
    skips = Skips(np.zeros(count, np.bool_), np.arange(count), np.zeros(len(replicas.part_of), np.bool_))
    rows = choose_copies(replicas, state, SCHEMA, SETTINGS, skips)
    usable = [bool(each.groups) and set(columns) <= set(each.columns) for each in replicas.parts]
    return GroupQuestion(
        tuple(columns), np.array(usable), skip, rows, skips, rows_of(replicas.parts), state, always
    )


def chosen(
    parts: Sequence[HorizontalPartition], columns: Sequence[str], filter_: Expr, always: bool = False
) -> tuple[GroupChoice, tuple[ReplicaRead, ...]]:
    replicas = replicas_of(parts)
    skip = decide(filter_, replicas.grouped.catalog, SETTINGS).skip
    asked = question(replicas, columns, skip, always=always)
    choice = choose_groups(replicas, asked)
    return choice, group_reads(replicas, asked, choice, 2)


def test_bits_of_features_that_a_group_was_not_blocked_by_are_not_used() -> None:
    """Figure 5 of GSOP: F1 and F2 subsume the query; G1 is blocked by F1 and F3, G2 by F2 only."""
    first = group("g1", ("A", "C"), (HUGE, HUGE), {F1: (True, False), F3: (True, True)})
    second = group("g2", ("B", "D"), (HUGE, HUGE), {F2: (False, True)})
    one = grouped("r.1", files("base", size=10**8), first, second)
    filter_ = And((F1.predicate, F2.predicate))
    choice, (read,) = chosen([one], ("A", "B", "D"), filter_, always=True)
    assert choice.keep.tolist() == [True, False, False, True]
    assert [each.columns for each in read.groups] == [("A",), ("B", "D")]
    assert [each.tasks for each in read.groups] == [
        (((0, 0, BLOCK_BYTES),),),
        (((0, BLOCK_BYTES, BLOCK_BYTES),),),
    ]
    assert read.joined


def test_a_partition_that_any_group_skips_is_not_read_even_if_that_group_is_not_needed() -> None:
    def made(name: str, has: bool) -> HorizontalPartition:
        return grouped(
            f"r.{name}",
            files(name, size=10**8),
            group(f"{name}1", ("A", "C"), (HUGE, HUGE), {F1: (has, False)}),
            group(f"{name}2", ("B", "D"), (HUGE, HUGE)),
        )

    choice, (read,) = chosen([made("a", True), made("b", False)], ("B", "D"), F1.predicate, always=True)
    assert choice.chosen.tolist() == [True, True]
    assert {verdict.name for verdict in choice.verdicts.values()} == {"CHEAPER"}
    assert choice.keep.tolist() == [True, False, True, True, False, False, False, False]
    assert (read.partitions, read.partitions_total) == (1, 2)
    (only,) = read.groups
    assert (only.files.paths, only.blocks, only.blocks_total) == (("a2",), 2, 4)


def test_putting_all_rows_together_costs_more_than_the_base() -> None:
    whole = grouped("r.1", files("a", size=10**6), group("1", ("A",), (HUGE,)), group("2", ("B",), (HUGE,)))
    choice, reads = chosen([whole], ("A", "B"), F2.predicate)
    assert choice.verdicts == {0: Verdict.BASE_CHEAPER}
    assert reads == ()


def test_few_blocks_of_one_group_cost_less_and_missing_base_files_are_answered_for() -> None:
    blocks = group("1", ("A", "C"), (HUGE,) * 10, {F1: (True, *(False,) * 9)})
    one = grouped("r.1", files("a", size=10**8), blocks, group("2", ("B",), (HUGE,) * 10))
    choice, _ = chosen([one], ("A", "C"), F1.predicate)
    assert choice.verdicts == {0: Verdict.CHEAPER}
    replicas = replicas_of([one])
    asked = question(replicas, ("A", "B"), np.zeros(20, np.bool_), missing=(0,))
    assert choose_groups(replicas, asked).verdicts == {0: Verdict.BASE_MISSING}


def test_a_copy_of_whole_rows_is_replaced_only_by_partitions_that_hold_all_of_it() -> None:
    copy = part("w.1", files("a", "b", size=10**8), [1000])

    def made(name: str) -> HorizontalPartition:
        return grouped(
            f"r.{name}",
            files(name, size=10**8),
            group(name, ("A",), (HUGE,) * 10, {F1: (True, *(False,) * 9)}),
        )

    alone, _ = chosen([copy, made("a")], ("A",), F1.predicate)
    assert (alone.chosen.tolist(), alone.replaced.tolist()) == ([False, False], [False, False])
    both, _ = chosen([copy, made("a"), made("b")], ("A",), F1.predicate)
    if both.chosen.any():
        assert both.chosen.tolist() == [False, True, True]
        assert both.replaced.tolist() == [True, False, False]


@given(st.data())
def test_property_no_row_is_read_twice_and_every_wanted_block_is_read_once(data: st.DataObject) -> None:
    names = "abcdef"
    covers = data.draw(st.lists(st.sets(st.sampled_from(names), min_size=1), min_size=1, max_size=4))
    parts = []
    for number, covered in enumerate(covers):
        counts = [data.draw(st.integers(1, 4)) for _ in range(2)]
        some = [
            group(f"{number}{which}", (column,), (HUGE,) * count)
            for which, (column, count) in enumerate(zip("AB", counts, strict=True))
        ]
        replica = data.draw(st.sampled_from(("r", "s")))
        parts.append(grouped(f"{replica}.{number}", files(*sorted(covered), size=10**7), *some))
    replicas = replicas_of(parts)
    blocks = len(replicas.grouped.group_of)
    skip = np.array(data.draw(st.lists(st.booleans(), min_size=blocks, max_size=blocks)))
    columns = data.draw(st.sampled_from((("A",), ("B",), ("A", "B"))))
    asked = question(replicas, columns, skip, always=data.draw(st.booleans()))
    choice = choose_groups(replicas, asked)
    taken = [path for index in np.flatnonzero(choice.chosen) for path in parts[index].covered.paths]
    assert len(taken) == len(set(taken))
    reads = group_reads(replicas, asked, choice, data.draw(st.integers(1, 3)))
    read = {
        (group_.files.paths[file], start + offset)
        for each in reads
        for group_ in each.groups
        for task in group_.tasks
        for file, start, length in task
        for offset in range(0, length, BLOCK_BYTES)
    }
    for index in np.flatnonzero(choice.chosen).tolist():
        first = [replicas.grouped.first[n] for n in (2 * index, 2 * index + 1)]
        left = [
            [n for n in range(len(each)) if not skip[start + n]]
            for each, start in zip(parts[index].groups, first, strict=True)
        ]
        if all(left):
            for each, kept in zip(parts[index].groups, left, strict=True):
                if set(each.columns) & set(columns):
                    assert {(each.files.paths[0], n * BLOCK_BYTES) for n in kept} <= read
    for one in reads:
        assert not one.joined or len({len(group_.tasks) for group_ in one.groups}) == 1
