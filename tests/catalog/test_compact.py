"""Compacted segments say the same, by layout, and in the order in which layouts were last applied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.catalog.segments import SETTINGS, A, bounds, feature, segment

from skipstone.catalog import Catalog, Segment, merge
from skipstone.catalog.compact import by_layout, compact
from skipstone.predicate.types import INT

DAY = "2025-01-01T{:02d}:00:00+00:00"
NOW = DAY.format(20)


def laid_out(layout: str, paths: Sequence[str], created: str = DAY.format(0), **more: object) -> Segment:
    return replace(segment(paths, created=created, **more), layout=layout)  # type: ignore[arg-type]


def described(segments: Sequence[Segment]) -> list[tuple[str, str]]:
    return [(part.layout, "".join(sorted(part.files.paths))) for part in segments]


def test_one_segment_is_left_for_each_layout_and_its_settings() -> None:
    zoned = {**SETTINGS, "user.timezone": "Asia/Tokyo"}
    parts = [
        laid_out("", "a"),
        laid_out("one", "b"),
        laid_out("", "c"),
        laid_out("one", "d", settings=zoned),
        laid_out("one", "e"),
        laid_out("", "f"),
    ]
    found = compact(merge(parts), (), None, NOW)
    assert described(found) == [("one", "d"), ("one", "be"), ("", "acf")]
    assert [part.settings for part in found] == [zoned, SETTINGS, SETTINGS]


def test_column_groups_of_a_layout_stay_apart() -> None:
    groups = {"a": 0, "b": 1, "c": 0, "d": 1}
    catalog = merge([replace(laid_out("one", path), group=group) for path, group in groups.items()])
    found = compact(catalog, (), None, NOW)
    assert {(part.group, "".join(sorted(part.files.paths))) for part in found} == {(0, "ac"), (1, "bd")}
    anew = {(part.layout, part.group, part.files.paths) for part in by_layout(segment("adx"), catalog)}
    assert anew == {("one", 0, ("a",)), ("one", 1, ("d",)), ("", None, ("x",))}


def test_an_older_layout_that_is_indexed_anew_does_not_become_the_newest() -> None:
    catalog = merge([laid_out("one", "ab"), laid_out("two", "cd"), laid_out("", "e")])
    anew = segment("abx", {A: bounds(INT, [1, 2, 3], [1, 2, 3])}, {feature(A, 1): [True, False, False]})
    found = compact(catalog, by_layout(anew, catalog), None, NOW)
    assert described(found) == [("one", "ab"), ("two", "cd"), ("", "ex")]
    assert found[0].blocks.statistics[A].low.to_pylist() == [1, 2]
    assert [f.text for f in found[0].blocks.features] == ["a = 1"]
    assert found[0].blocks.unions[:, 0].tolist() == [1, 0]


def test_a_file_that_was_overwritten_belongs_to_no_layout() -> None:
    catalog = merge([laid_out("one", "ab")])
    assert sorted(described(by_layout(segment("abc"), catalog))) == [("", "c"), ("one", "ab")]
    assert described(by_layout(segment("ab", size=1001), catalog)) == [("", "ab")]


@pytest.mark.parametrize("newer", [True, False])
def test_entries_of_files_that_have_gone_are_left_out(newer: bool) -> None:
    catalog = merge([laid_out("one", "ab"), laid_out("", "cd")])
    found = compact(catalog, [laid_out("one", "e")] if newer else (), "ace", NOW)
    assert described(found) == ([("one", "ae"), ("", "c")] if newer else [("one", "a"), ("", "c")])


def test_a_layout_that_may_be_about_to_become_part_of_the_table_is_kept() -> None:
    catalog: Catalog = merge(
        [
            laid_out("long ago", "a", created="2024-12-31T19:59:00+00:00"),
            laid_out("now", "b"),
            laid_out("", "c"),
            laid_out("alive", "de"),
        ]
    )
    assert described(compact(catalog, (), "d", NOW)) == [("now", "b"), ("alive", "d")]
