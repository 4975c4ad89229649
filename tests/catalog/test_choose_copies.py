"""Which copies a scan reads: valid ones that cost less, and never two of the same rows."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.catalog.replica_parts import SCHEMA, files, part
from tests.catalog.segments import SETTINGS

from skipstone.catalog.choose_copies import FILE_BYTES, Choice, CopyState, Skips, Verdict, choose_copies
from skipstone.catalog.copy_report import copy_reports
from skipstone.catalog.replicas import NO_REPLICAS, HorizontalPartition, Replicas, replicas_of

MB = 1_000_000


def all_of(replicas: Replicas) -> CopyState:
    """All partitions are valid, and all files are there."""
    return CopyState(valid=tuple(range(len(replicas))))


def skips(replicas: Replicas, base: Collection[str] = (), own: Sequence[int] = ()) -> Skips:
    """Base files and numbers of the replicas' blocks that pruning found; the catalog has all base files."""
    paths = sorted(set(replicas.covered.paths))
    skip = np.zeros(len(replicas.part_of), np.bool_)
    skip[list(own)] = True
    return Skips(
        np.array([path in base for path in paths], np.bool_),
        np.array([paths.index(path) for path in replicas.covered.paths], np.int64),
        skip,
    )


def choose(
    parts: Sequence[HorizontalPartition],
    state: CopyState | None = None,
    base: Sequence[str] = (),
    own: Sequence[int] = (),
) -> Choice:
    """The choice if all is there, unless it is said what is."""
    replicas = replicas_of(parts)
    return choose_copies(replicas, state or all_of(replicas), SCHEMA, SETTINGS, skips(replicas, base, own))


def verdicts(choice: Choice) -> list[str]:
    read = {Verdict.CHEAPER, Verdict.BASE_MISSING}
    assert choice.chosen.tolist() == [verdict in read for verdict in choice.verdicts]
    return [verdict.name for verdict in choice.verdicts]


def base_of(*paths: str) -> HorizontalPartition:
    """A partition of one file as large as all base files of 10 MB that it covers."""
    return part("r.1", files(*paths, size=10 * MB), [10 * MB * len(paths)])


def test_without_replicas_nothing_is_chosen() -> None:
    choice = choose_copies(NO_REPLICAS, CopyState(), SCHEMA, SETTINGS, skips(NO_REPLICAS))
    assert (choice.chosen.tolist(), choice.verdicts, copy_reports(NO_REPLICAS, choice)) == ([], (), ())
    assert copy_reports(NO_REPLICAS, None) == ()


def test_what_costs_less_is_read_and_its_figures_are_told() -> None:
    parts = [part("r.1", files("a", "b", size=10 * MB), [4 * MB, 5 * MB, 6 * MB])]
    choice = choose(parts, own=[0, 2])
    assert verdicts(choice) == ["CHEAPER"]
    assert (choice.base_bytes.tolist(), choice.base_files.tolist()) == ([20 * MB], [2])
    assert (choice.own_bytes.tolist(), choice.own_files.tolist()) == ([5 * MB], [1])
    (report,) = copy_reports(replicas_of(parts), choice)
    assert (report.replica, report.code, report.partitions, report.partitions_total) == ("r", "CHEAPER", 1, 1)
    assert (report.base_bytes, report.base_files, report.bytes, report.files) == (20 * MB, 2, 5 * MB, 1)


@pytest.mark.parametrize(
    ("own_bytes", "expected"),
    [
        (10 * MB, "BASE_CHEAPER"),  # a tie
        (11 * MB, "BASE_CHEAPER"),
        (round(0.95 * (10 * MB + FILE_BYTES)) - FILE_BYTES, "BASE_CHEAPER"),  # about the same
        (round(0.95 * (10 * MB + FILE_BYTES)) - FILE_BYTES - 1, "CHEAPER"),
    ],
)
def test_the_base_is_read_unless_a_replica_costs_a_twentieth_less(own_bytes: int, expected: str) -> None:
    assert verdicts(choose([part("r.1", files("a", size=10 * MB), [own_bytes])])) == [expected]


def test_few_files_cost_less_than_many_with_the_same_bytes() -> None:
    assert verdicts(choose([base_of("a", "b")])) == ["BASE_CHEAPER"], "20.5 of 21 MB is no twentieth less"
    many = [part("r.1", files(*"abcdefghij", size=100_000), [MB])]
    assert verdicts(choose(many)) == ["CHEAPER"]
    assert verdicts(choose([part("r.1", files("a", size=MB), [100_000] * 10)])) == ["BASE_CHEAPER"]


def test_base_files_that_are_skipped_cost_nothing() -> None:
    parts = [part("r.1", files("a", "b", size=10 * MB), [MB])]
    assert verdicts(choose(parts)) == ["CHEAPER"]
    choice = choose(parts, base=["a", "b"])
    assert verdicts(choice) == ["BASE_CHEAPER"]
    assert choice.base_files.tolist() == [0]
    assert verdicts(choose(parts, base=["a", "b"], own=[0])) == ["BASE_CHEAPER"], "nothing against nothing"
    assert verdicts(choose(parts, own=[0])) == ["CHEAPER"], "nothing against something"


def test_base_files_without_an_entry_in_the_catalog_are_read() -> None:
    replicas = replicas_of([part("r.1", files("a", "b", size=10 * MB), [MB])])
    unknown = Skips(np.array([True]), np.array([0, -1]), np.array([False]))
    choice = choose_copies(replicas, all_of(replicas), SCHEMA, SETTINGS, unknown)
    assert (choice.base_files.tolist(), verdicts(choice)) == ([1], ["CHEAPER"])
    nothing = Skips(np.zeros(0, np.bool_), np.array([-1, -1]), np.array([False]))
    choice = choose_copies(replicas, all_of(replicas), SCHEMA, SETTINGS, nothing)
    assert (choice.base_files.tolist(), verdicts(choice)) == ([2], ["CHEAPER"])


def test_each_partition_is_judged_by_itself() -> None:
    parts = [
        part("r.1", files("a", size=10 * MB), [MB]),
        part("r.2", files("b", size=10 * MB), [20 * MB]),
        part("r.3", files("c", size=10 * MB), [MB]),
    ]
    choice = choose(parts, CopyState(valid=(0, 1), missing=(2,)))
    assert verdicts(choice) == ["CHEAPER", "BASE_CHEAPER", "FILES_MISSING"]
    reports = copy_reports(replicas_of(parts), choice)
    assert [(each.code, each.partitions, each.partitions_total) for each in reports] == [
        ("CHEAPER", 1, 3),
        ("BASE_CHEAPER", 1, 3),
        ("FILES_MISSING", 1, 3),
    ]


def test_what_is_not_valid_is_stale() -> None:
    parts = [part("r.1", files("a", size=10 * MB)), part("r.2", files("b", size=10 * MB))]
    assert verdicts(choose(parts, CopyState(valid=(1,)))) == ["STALE", "CHEAPER"]


def test_a_scan_that_reads_the_base_leaves_all_alone() -> None:
    replicas = replicas_of([part("r.1", files("a", size=10 * MB))])
    choice = choose_copies(replicas, None, SCHEMA, SETTINGS, skips(replicas))
    assert verdicts(choice) == ["LEFT_ALONE"]


def test_a_partition_without_all_columns_is_not_read() -> None:
    replicas = replicas_of([part("r.1", files("a", size=10 * MB))])
    asked = SCHEMA.replace("integer", "long")
    choice = choose_copies(replicas, all_of(replicas), asked, SETTINGS, skips(replicas))
    assert verdicts(choice) == ["OTHER_SCHEMA"]


def test_a_partition_made_under_other_reader_settings_is_not_read() -> None:
    other = part("q.1", files("b", size=10 * MB), settings={"spark.sql.session.timeZone": "Asia/Tokyo"})
    assert verdicts(choose([part("r.1", files("a", size=10 * MB)), other])) == ["CHEAPER", "OTHER_SETTINGS"]


@pytest.mark.parametrize("names", [("r.1", "q.1"), ("r.1", "r.2")])
def test_of_two_copies_of_a_file_the_cheaper_is_read(names: tuple[str, str]) -> None:
    dear = part(names[0], files("a", "b", size=10 * MB), [5 * MB])
    cheap = part(names[1], files("b", "c", size=10 * MB), [2 * MB])
    assert verdicts(choose([dear, cheap])) == ["COVERED", "CHEAPER"]
    assert verdicts(choose([dear, cheap], own=[0])) == ["CHEAPER", "COVERED"], "the other is skipped whole"


def test_two_copies_that_cost_the_same_are_never_both_read() -> None:
    two = [part(name, files("a", size=10 * MB), [MB]) for name in ("r.1", "r.2")]
    assert verdicts(choose(two)) == ["CHEAPER", "COVERED"]


def test_the_same_path_with_another_vector_is_another_file() -> None:
    one = part("r.1", files("a", size=10 * MB), [MB])
    other = part("r.2", files("a", size=10 * MB, vectors={"a": "u:1"}), [MB])
    assert verdicts(choose([one, other], CopyState(valid=(1,)))) == ["STALE", "CHEAPER"]


def test_a_replica_is_read_at_any_price_if_base_files_are_missing() -> None:
    dear = [part("r.1", files("a", "b", size=MB), [90 * MB] * 9)]
    assert verdicts(choose(dear)) == ["BASE_CHEAPER"]
    assert verdicts(choose(dear, CopyState(valid=(0,), base_missing=(0,)))) == ["BASE_MISSING"]
    assert verdicts(choose(dear, CopyState((0,), (), (0,)), base=["a", "b"], own=range(9))) == [
        "BASE_MISSING"
    ]


def test_a_missing_base_file_goes_before_a_saving() -> None:
    saving = part("r.1", files("a", "b", size=50 * MB), [1])
    needed = part("q.1", files("b", "c", size=50 * MB), [200 * MB])
    state = CopyState(valid=(0, 1), base_missing=(1,))
    assert verdicts(choose([saving, needed], state)) == ["COVERED", "BASE_MISSING"]


def test_a_partition_that_cannot_be_read_is_not_read_though_the_base_is_missing() -> None:
    replicas = replicas_of([part("r.1", files("a", size=10 * MB))])
    state = CopyState(valid=(0,), base_missing=(0,))
    asked = SCHEMA.replace("integer", "long")
    assert verdicts(choose_copies(replicas, state, asked, SETTINGS, skips(replicas))) == ["OTHER_SCHEMA"]


def test_the_state_is_read_from_the_shims_json() -> None:
    found = {"valid": [0, 2], "missing": [1], "base_missing": [2], "lost": [5]}
    assert CopyState.read(found) == CopyState((0, 2), (1,), (2,), (5,))


@st.composite
def _cases(draw: st.DrawFn) -> tuple[Replicas, CopyState, Skips]:
    sizes = {path: draw(st.integers(1, 20)) * MB for path in "abcdef"}
    parts = []
    for number in range(draw(st.integers(1, 6))):
        covered = files(*draw(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=4, unique=True)))
        covered = replace(covered, sizes=np.array([sizes[path] for path in covered.paths], np.int64))
        own = draw(st.lists(st.integers(1, 20 * MB), min_size=1, max_size=3))
        parts.append(part(f"{draw(st.sampled_from('rqp'))}.{number}", covered, own))
    replicas = replicas_of(parts)
    some = st.sets(st.integers(0, len(replicas) - 1))
    valid = draw(some)
    state = CopyState(
        tuple(sorted(valid)), tuple(sorted(draw(some) - valid)), tuple(sorted(draw(some) & valid))
    )
    own_skipped = draw(st.sets(st.integers(0, len(replicas.part_of) - 1)))
    return replicas, state, skips(replicas, draw(st.sets(st.sampled_from("abcdef"))), sorted(own_skipped))


@given(_cases())
def test_property_no_rows_are_read_twice_and_the_choice_costs_no_more_than_the_base(
    case: tuple[Replicas, CopyState, Skips],
) -> None:
    replicas, state, found = case
    choice = choose_copies(replicas, state, SCHEMA, SETTINGS, found)
    chosen = np.flatnonzero(choice.chosen).tolist()
    assert set(chosen) <= set(state.valid)
    covered = [path for number in chosen for path in replicas.parts[number].covered.paths]
    assert len(covered) == len(set(covered)), "a base file is covered by two partitions that are read"
    for number in chosen:
        if number not in state.base_missing:
            own = choice.own_bytes[number] + FILE_BYTES * choice.own_files[number]
            assert own < choice.base_bytes[number] + FILE_BYTES * choice.base_files[number]
    for number in state.base_missing:
        paths = set(replicas.parts[number].covered.paths)
        assert paths & set(covered), "a partition that is needed gives way to another such only"
    assert verdicts(choice)


@given(_cases())
def test_property_the_greatest_saving_is_taken(case: tuple[Replicas, CopyState, Skips]) -> None:
    replicas, state, found = case
    state = replace(state, base_missing=())
    choice = choose_copies(replicas, state, SCHEMA, SETTINGS, found)
    gains = [
        base - own
        for base, own in zip(
            choice.base_bytes + FILE_BYTES * choice.base_files,
            choice.own_bytes + FILE_BYTES * choice.own_files,
            strict=True,
        )
    ]
    for number, verdict in enumerate(choice.verdicts):
        if verdict is Verdict.COVERED:
            mine = set(replicas.parts[number].covered.paths)
            others = [
                other
                for other in np.flatnonzero(choice.chosen)
                if mine & set(replicas.parts[other].covered.paths)
            ]
            assert others
            assert max(gains[other] for other in others) >= gains[number]


def test_choosing_among_three_replicas_of_10_000_files_takes_less_than_planning_may() -> None:
    """The bound is that of planning as a whole; `make bench-replicas` measures it with all of Spark."""
    covered, blocks = files(*(f"base{number}" for number in range(10_000)), size=MB), 100 * [MB]
    parts = [
        part(f"{replica}.{number}", covered.some(np.arange(number, 10_000, 100)), blocks)
        for replica in "abc"
        for number in range(100)
    ]
    replicas = replicas_of(parts)
    # The first replica needs half of its files for this scan, the second a tenth, the third all.
    skip = np.arange(30_000) % 10 >= np.repeat([5, 1, 10], 10_000)
    state = all_of(replicas)
    found = Skips(np.zeros(10_000, np.bool_), replicas.covered.indices_in(covered), skip)
    seconds = []
    for _ in range(5):
        begun = time.process_time()
        choice = choose_copies(replicas, state, SCHEMA, SETTINGS, found)
        seconds.append(time.process_time() - begun)
    chosen = [replicas.parts[number].replica for number in np.flatnonzero(choice.chosen)]
    assert chosen == 100 * ["b"]
    assert int(choice.own_files[choice.chosen].sum()) == 1_000
    assert min(seconds) < 0.02


def test_partitions_are_taken_in_the_same_order_each_time() -> None:
    parts = [part(f"r.{number}", files("a", str(number), size=10 * MB), [MB]) for number in range(5)]
    found = [verdicts(choose(parts)) for _ in range(3)]
    assert all(one == other for one, other in pairwise(found))
    assert found[0] == ["CHEAPER", *["COVERED"] * 4]


def test_missing_base_files_are_covered_by_another_choice_than_the_best_first() -> None:
    """The one that gains most covers two of three missing files; the other two together cover all."""
    parts = [
        part("r.1", files("a", "b", size=10 * MB), [MB]),
        part("s.1", files("a", size=10 * MB), [3 * MB]),
        part("s.2", files("b", "c", size=10 * MB), [6 * MB]),
    ]
    replicas = replicas_of(parts)
    lost = tuple(range(len(replicas.covered)))
    state = CopyState((0, 1, 2), (), (0, 1, 2), lost)
    found = choose_copies(replicas, state, SCHEMA, SETTINGS, skips(replicas))
    assert verdicts(found) == ["COVERED", "BASE_MISSING", "BASE_MISSING"]
    only_a = CopyState((0, 1, 2), (), (0, 1), (0, 2))
    found = choose_copies(replicas, only_a, SCHEMA, SETTINGS, skips(replicas))
    assert verdicts(found) == ["BASE_MISSING", "COVERED", "COVERED"], "the cheaper of two that cover it"


def test_damaged_base_files_are_covered_too() -> None:
    base = files("a", "b", "c", size=10 * MB)
    parts = [
        part("r.1", base.some(np.array([0, 1])), [MB]),
        part("s.1", base.some(np.array([0])), [3 * MB]),
        part("s.2", base.some(np.array([1, 2])), [6 * MB]),
    ]
    replicas = replicas_of(parts, base)
    assert replicas.damaged.all()
    state = CopyState((0, 1, 2), (), (0, 1, 2))
    found = choose_copies(replicas, state, SCHEMA, SETTINGS, skips(replicas))
    assert verdicts(found) == ["COVERED", "BASE_MISSING", "BASE_MISSING"]
