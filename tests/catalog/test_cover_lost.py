"""Missing base files: as few as possible stay without a copy."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from skipstone.catalog.cover_lost import cover_lost

Files = dict[int, frozenset[int]]


def candidates(files: Files, missing: frozenset[int]) -> dict[int, tuple[int, ...]]:
    return {
        file: tuple(part for part in files if file in files[part])
        for file in missing
        if any(file in covered for covered in files.values())
    }


def disjoint(parts: tuple[int, ...], files: Files) -> bool:
    return all(files[one].isdisjoint(files[other]) for one, other in combinations(parts, 2))


def uncovered(parts: tuple[int, ...], files: Files, missing: frozenset[int]) -> int:
    return len(missing - frozenset().union(*(files[part] for part in parts)))


@given(
    st.lists(st.frozensets(st.integers(0, 6), min_size=1, max_size=3), max_size=7),
    st.frozensets(st.integers(0, 6)),
)
def test_property_no_other_choice_leaves_fewer_lost(
    covered: list[frozenset[int]], missing: frozenset[int]
) -> None:
    files = dict(enumerate(covered))
    chosen = cover_lost(candidates(files, missing), files)
    assert disjoint(chosen, files)
    every = (some for size in range(len(files) + 1) for some in combinations(files, size))
    fewest = min(uncovered(some, files, missing) for some in every if disjoint(some, files))
    assert uncovered(chosen, files, missing) == fewest


def test_the_best_of_a_file_is_taken_where_it_makes_no_difference() -> None:
    files = {0: frozenset({1, 2}), 1: frozenset({1, 2}), 2: frozenset({3})}
    assert cover_lost({1: (1, 0), 3: (2,)}, files) == (2, 1)
    assert cover_lost({}, files) == ()


def test_the_search_ends_with_what_it_has_found() -> None:
    files = {number: frozenset({number, number + 1}) for number in range(300)}
    asked = {file: tuple(part for part in (file, file - 1) if part in files) for file in range(301)}
    found = cover_lost(asked, files, steps=400)
    assert disjoint(found, files)
    assert len(found) > 100
