"""A catalog's blocks are pruned, but for those that were indexed under other settings of the reader."""

from __future__ import annotations

from tests.catalog.segments import SETTINGS, A, bounds, equals, segment

from skipstone.catalog import Catalog, merge
from skipstone.catalog.decide import decide
from skipstone.predicate.expr import And, Expr, Or
from skipstone.predicate.types import INT
from skipstone.pruning.blocks import Statistics

FOREIGN = {"spark.sql.session.timeZone": "Asia/Tokyo"}


def mixed() -> Catalog:
    """Two files with the same statistics, the second one indexed under other settings."""
    statistics: dict[Expr, Statistics] = {A: bounds(INT, [0], [9])}
    return merge([segment(["f"], statistics), segment(["g"], statistics, settings=FOREIGN)])


def skipped(settings: dict[str, str]) -> list[str]:
    catalog = mixed()
    result = decide(equals(A, 50), catalog, settings)
    return [path for path, skip in zip(catalog.files.paths, result.skip, strict=True) if skip]


def test_blocks_indexed_under_other_settings_are_never_skipped() -> None:
    assert skipped(SETTINGS) == ["f"]
    assert skipped(FOREIGN) == ["g"]
    assert skipped({}) == []


def test_a_block_that_is_read_because_of_its_settings_has_no_reason_to_be_skipped() -> None:
    result = decide(equals(A, 50), mixed(), SETTINGS)
    assert [code.name for code in (result.why(0).code, result.why(1).code)] == ["MIN_MAX", "ROWS_MIGHT_MATCH"]


def test_a_filter_that_is_nested_too_deep_is_not_judged_and_nothing_fails() -> None:
    deep: Expr = equals(A, 50)
    for number in range(2500):
        deep = Or((And((deep, equals(A, number))), equals(A, -number)))
    result = decide(deep, mixed(), SETTINGS)
    assert result.skip.tolist() == [False, False]
    assert [unused.detail for unused in result.unused] == ["TOO_COMPLEX"]
