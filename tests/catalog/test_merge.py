"""Segments put together: nothing is known that no segment knew."""

from __future__ import annotations

import math
from dataclasses import replace

from tests.catalog.segments import SETTINGS, A, S, bounds, equals, feature, segment, value_sets

from skipstone.catalog import Catalog, merge
from skipstone.catalog.decide import decide
from skipstone.predicate.expr import Column, Expr, IsNull
from skipstone.predicate.types import DOUBLE, INT, LONG, STRING
from skipstone.pruning.blocks import Statistics, ValueSets


def skipped(catalog: Catalog, filter_: Expr) -> list[str]:
    decision = decide(filter_, catalog, SETTINGS)
    assert not (decision.skip & (decision.reason == 0)).any(), "a skipped block has a reason"
    return [path for path, skip in zip(catalog.files.paths, decision.skip, strict=True) if skip]


def test_no_segments_are_an_empty_catalog() -> None:
    catalog = merge([])
    assert len(catalog) == 0
    assert skipped(catalog, equals(A, 1)) == []
    assert catalog.expression_texts == ()


def test_the_newest_entry_of_a_file_wins() -> None:
    old = segment(["f", "g"], {A: bounds(INT, [0, 0], [9, 9])}, size=100)
    new = segment(["f"], {A: bounds(INT, [50], [59])}, size=200)
    catalog = merge([old, new])
    assert sorted(zip(catalog.files.paths, catalog.files.sizes.tolist(), strict=True)) == [
        ("f", 200),
        ("g", 100),
    ]
    assert skipped(catalog, equals(A, 5)) == ["f"]
    assert skipped(catalog, equals(A, 55)) == ["g"]


def test_a_segment_whose_entries_are_all_replaced_is_gone() -> None:
    month = Column(("m",), INT)
    old = segment(["f"], {month: bounds(INT, [1], [1])}, texts={month: "month(d)"})
    catalog = merge([old, segment(["f"])])
    assert len(catalog.segments) == 1
    assert catalog.expression_texts == ()


def test_only_the_paths_that_are_asked_for_are_kept() -> None:
    catalog = merge([segment(["f", "g"]), segment(["h"])], only={"g", "h"})
    assert catalog.files.paths == ("g", "h")


def test_a_statistic_that_a_segment_lacks_is_unknown_for_its_blocks() -> None:
    catalog = merge(
        [segment(["f"], {A: bounds(INT, [0], [9])}), segment(["g"], {S: bounds(STRING, ["a"], ["b"])})]
    )
    assert skipped(catalog, equals(A, 50)) == ["f"]
    assert skipped(catalog, equals(S, "z")) == ["g"]
    assert skipped(catalog, IsNull(A)) == ["f"], "an unknown null count is not zero"


def test_a_column_that_got_another_type_is_another_column() -> None:
    wide = Column(("a",), LONG)
    catalog = merge(
        [segment(["f"], {A: bounds(INT, [0], [9])}), segment(["g"], {wide: bounds(LONG, [0], [9])})]
    )
    assert skipped(catalog, equals(A, 50)) == ["f"]
    assert skipped(catalog, equals(wide, 50)) == ["g"]


def test_value_sets_with_different_dictionaries_are_merged_by_value() -> None:
    one = bounds(STRING, ["a", "a"], ["z", "z"], values=value_sets(["a", "m", "z"], [["a", "z"], ["a", "m"]]))
    two = bounds(STRING, ["a", "b"], ["z", "z"], values=value_sets(["z", "b", "a"], [["a", "z"], ["b", "z"]]))
    none = bounds(STRING, ["a"], ["z"])
    catalog = merge([segment(["f", "g"], {S: one}), segment(["h", "i"], {S: two}), segment(["j"], {S: none})])
    assert skipped(catalog, equals(S, "m")) == ["f", "h", "i"]
    assert skipped(catalog, equals(S, "b")) == ["f", "g", "h"]
    assert skipped(catalog, equals(S, "a")) == ["i"]
    assert skipped(catalog, equals(S, "c")) == ["f", "g", "h", "i"]


def test_an_unknown_value_set_stays_unknown() -> None:
    kept = bounds(STRING, ["a", "a"], ["z", "z"], values=value_sets(["a", "z"], [["a", "z"], None]))
    other = bounds(STRING, ["a"], ["z"], values=value_sets(["a"], [["a"]]))
    catalog = merge([segment(["f", "g"], {S: kept}), segment(["h"], {S: other})])
    assert skipped(catalog, equals(S, "m")) == ["f", "h"]


def test_ranges_of_different_dictionaries_are_merged_by_both_ends() -> None:
    one = with_last(value_sets(["a", "m"], [["a"], ["m"]]), "c", "z")
    two = with_last(value_sets(["a", "d"], [["a"], ["d"]]), "d", "z")
    three = value_sets(["a"], [["a"]])
    catalog = merge(
        [
            segment([f"f{number}", f"g{number}"][: len(sets.known)], {S: unbounded(sets)})
            for number, sets in enumerate((one, two, three))
        ]
    )
    values = catalog.blocks.statistics[S].values
    assert values is not None
    assert list(zip(values.dictionary, values.last or (), strict=True)) == [
        *(("a", "c"), ("m", "z"), ("a", "d"), ("d", "z"), ("a", "a")),
    ]
    assert skipped(catalog, equals(S, "b")) == ["g0", "g1", "f2"]
    assert skipped(catalog, equals(S, "a")) == ["g0", "g1"]
    assert skipped(catalog, equals(S, "cc")) == ["f0", "g0", "g1", "f2"]
    assert skipped(catalog, equals(S, "e")) == ["f0", "g0", "f1", "f2"]


def with_last(values: ValueSets, *last: str) -> ValueSets:
    return replace(values, last=last)


def unbounded(values: ValueSets) -> Statistics:
    none = [None] * len(values.known)
    return bounds(STRING, none, none, values=values)


def test_nan_is_one_value_of_merged_sets_and_a_text_is_never_taken_for_it() -> None:
    x = Column(("x",), DOUBLE)
    nan = math.nan
    parts = [
        bounds(DOUBLE, [1.0], [9.0], nans=[1], values=value_sets([1.0, 9.0, nan], [[1.0, 9.0, nan]])),
        bounds(DOUBLE, [1.0], [9.0], nans=[0], values=value_sets([math.nan, 9.0, 1.0], [[1.0, 9.0]])),
    ]
    catalog = merge([segment([f"f{index}"], {x: part}) for index, part in enumerate(parts)])
    values = catalog.blocks.statistics[x].values
    assert values is not None
    assert len(values.dictionary) == 3
    assert values.words.tolist() == [[7], [3]]
    texts = ["NaN", "NaN-key", "nan"]
    named = bounds(STRING, ["NaN"], ["nan"], values=value_sets(texts, [texts]))
    merged = merge([segment(["f"], {S: named}), segment(["g"], {S: named})])
    assert [skipped(merged, equals(S, text)) for text in texts] == [[], [], []]


def test_too_many_values_together_are_no_set_at_all() -> None:
    parts = [list(range(start, start + 200)) for start in (0, 1000)]
    catalog = merge(
        [segment([f"f{v[0]}"], {A: bounds(INT, [v[0]], [v[-1]], values=value_sets(v, [v]))}) for v in parts]
    )
    assert catalog.blocks.statistics[A].values is None
    assert skipped(catalog, equals(A, 5)) == ["f1000"], "bounds are still there"


def test_features_of_several_segments_are_merged_by_predicate() -> None:
    one, two = feature(A, 1), feature(A, 2)
    catalog = merge(
        [
            segment(["f", "g"], features={one: [True, False]}),
            segment(["h", "i"], features={two: [True, False], one: [False, True]}),
        ]
    )
    assert skipped(catalog, equals(A, 1)) == ["g", "h"]
    assert skipped(catalog, equals(A, 2)) == ["i"], "never evaluated on f and g"


def test_seventy_features_of_two_segments_keep_their_bits() -> None:
    features = [feature(A, number) for number in range(70)]
    first = segment(["f"], features={f: [index % 2 == 0] for index, f in enumerate(features)})
    second = segment(["g"], features={f: [index % 3 == 0] for index, f in enumerate(reversed(features))})
    catalog = merge([first, second])
    for number in range(70):
        expected = [p for p, holds in (("f", number % 2 == 0), ("g", (69 - number) % 3 == 0)) if not holds]
        assert skipped(catalog, equals(A, number)) == expected


def test_the_sql_of_expressions_is_gathered_once() -> None:
    month = Column(("m",), INT)
    parts = [segment([name], {month: bounds(INT, [1], [1])}, texts={month: "month(d)"}) for name in "fg"]
    assert merge(parts).expression_texts == ("month(d)",)
