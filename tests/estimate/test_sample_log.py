"""A small part of a log stands for all of it."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skipstone.estimate.sample_log import MOST_ENTRIES, merged_entries, representatives
from skipstone.predicate.expr import Column, Comparison, Literal
from skipstone.predicate.types import INT
from skipstone.workload.predicates import LoggedFilter

LOGS = st.lists(
    st.tuples(st.sampled_from("xyz"), st.integers(0, 50), st.floats(0.5, 9.0)), min_size=1, max_size=60
)


def scan(name: str, bound: int, weight: float = 1.0) -> LoggedFilter:
    """``name > bound``."""
    return LoggedFilter(Comparison(">", Column((name,), INT), Literal(bound, INT)), weight)


def by_column(entries: tuple[LoggedFilter, ...]) -> Counter[str]:
    """The weight of the queries on each column."""
    found: Counter[str] = Counter()
    for entry in entries:
        assert isinstance(entry.filter, Comparison)
        assert isinstance(entry.filter.left, Column)
        found[entry.filter.left.path[0]] += entry.weight  # type: ignore[assignment]
    return found


@given(LOGS, st.integers(1, 40))
def test_representatives_keep_the_weight_of_the_log_and_of_every_kind_of_query(
    log: list[tuple[str, int, float]], most: int
) -> None:
    entries = merged_entries([scan(*each) for each in log])
    chosen = representatives(entries, most)
    total = sum(entry.weight for entry in entries)
    assert len(chosen) <= most
    assert sum(entry.weight for entry in chosen) == pytest.approx(total)
    assert {entry.filter for entry in chosen} <= {entry.filter for entry in entries}
    whole, part = by_column(entries), by_column(chosen)
    # Draws lie at even distances, so a kind of query is drawn at most once too often or too rarely.
    assert all(abs(whole[name] - part[name]) <= total / most + 1e-9 for name in "xyz")


def test_a_short_log_stands_for_itself() -> None:
    entries = (scan("x", 1), scan("y", 2, 3.0))
    assert representatives(entries, 2) == entries


def test_equal_scans_are_merged_and_a_long_log_keeps_its_newest_with_all_the_weight() -> None:
    assert merged_entries([scan("x", 1), scan("x", 2), scan("x", 1, 2.0)]) == (
        scan("x", 2),
        scan("x", 1, 3.0),
    )
    kept = merged_entries([scan("x", bound) for bound in range(MOST_ENTRIES + 500)])
    assert [kept[0].filter, len(kept)] == [scan("x", 500).filter, MOST_ENTRIES]
    assert sum(entry.weight for entry in kept) == pytest.approx(MOST_ENTRIES + 500)
