"""The laws of sets of allowed values, on all sets over small universes that reach every gap."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import pytest

from skipstone.predicate.allowed import (
    NOTHING,
    NULL_ONLY,
    AllowedValues,
    everything,
    inner_union,
    intersection,
    of_keys,
    of_ranges,
    of_texts,
    of_type,
    outer_union,
)
from skipstone.predicate.expr import Value
from skipstone.predicate.text_shape import TextShape
from skipstone.predicate.types import BINARY, BOOLEAN, BYTE, DATE, DOUBLE, FLOAT, INT, LONG, STRING, Type
from skipstone.predicate.value_ranges import ALL, NONE, Range, union

PRICE = Type.parse("decimal(10,2)")
CUTS = (0.0, 1.0, 2.0)
GAPS: tuple[Range, ...] = ((None, 0.0), (0.0, 1.0), (1.0, 2.0), (2.0, None))
# One value at least in every gap, on every cut, at both ends, and what is no ordinary value.
NUMBERS: tuple[Value, ...] = (-math.inf, -1.0, -0.0, 0.0, 0.5, 1.0, 1.5, 2.0, 9.0, math.inf, math.nan, None)
STRINGS: tuple[Value, ...] = (
    *("".join(letters) for size in range(5) for letters in itertools.product("ab", repeat=size)),
    "c",
    None,
)


def all_number_sets() -> Iterator[AllowedValues]:
    for chosen in itertools.product((False, True), repeat=len(GAPS)):
        ordinary = union(tuple(gap for gap, here in zip(GAPS, chosen, strict=True) if here))
        for null, nan in itertools.product((False, True), repeat=2):
            yield AllowedValues(ordinary, null, nan)


def all_text_sets() -> Iterator[AllowedValues]:
    pieces = [frozenset[str](), frozenset({"b"}), frozenset({"ab", "ba"})]
    for prefix, suffix, inside in itertools.product(("", "a", "ab"), ("", "a", "b"), pieces):
        shaped = of_texts(TextShape(prefix, suffix, inside))
        yield shaped
        yield shaped & of_ranges((("ab", "b"),))
    yield from (NOTHING, NULL_ONLY, of_keys(["", "ab", "bab"]), of_ranges((("a", "ab"), ("b", None))))
    yield from (AllowedValues(ALL, null=True), of_texts(TextShape("b")) & of_keys(["b", "ba", "abb"]))


def held(values: AllowedValues, universe: tuple[Value, ...], type_: Type) -> frozenset[int]:
    """The indices of the universe's values that are in the set."""
    return frozenset(index for index, value in enumerate(universe) if values.holds(value, type_))


NUMBER_SETS = [(each, held(each, NUMBERS, DOUBLE)) for each in all_number_sets()]
TEXT_SETS = [(each, held(each, STRINGS, STRING)) for each in all_text_sets()]
EVERY = frozenset(range(len(NUMBERS)))


def test_sets_of_numbers_intersect_unite_and_include_each_other_exactly() -> None:
    assert len(NUMBER_SETS) == 64
    for (left, in_left), (right, in_right) in itertools.product(NUMBER_SETS, repeat=2):
        assert held(left & right, NUMBERS, DOUBLE) == in_left & in_right
        assert held(outer_union([left, right]), NUMBERS, DOUBLE) == in_left | in_right
        assert inner_union([left, right]) == outer_union([left, right])
        assert (left <= right) == (in_left <= in_right), (left, right)
        assert (left & right).empty == (not in_left & in_right)


def test_the_complement_has_what_the_set_has_not_and_its_own_complement_is_the_set() -> None:
    for values, inside in NUMBER_SETS:
        assert held(values.complement(), NUMBERS, DOUBLE) == EVERY - inside
        assert values.complement().complement() == values
        assert (values & values.complement()).empty
        assert values.empty == (not inside)
        assert held(values.without_null(), NUMBERS, DOUBLE) == inside - {NUMBERS.index(None)}
    for (left, _), (right, _) in itertools.product(NUMBER_SETS, repeat=2):
        both = (left & right).complement()
        assert both == outer_union([left.complement(), right.complement()])


def test_the_intersection_of_many_is_that_of_them_one_by_one() -> None:
    for chosen in itertools.combinations(NUMBER_SETS[::5], 3):
        inside = frozenset.intersection(*(inside for _, inside in chosen))
        assert held(intersection([values for values, _ in chosen]), NUMBERS, DOUBLE) == inside


def test_sets_of_texts_intersect_exactly_and_unite_from_outside_and_inside() -> None:
    shown = true = 0
    for (left, in_left), (right, in_right) in itertools.product(TEXT_SETS, repeat=2):
        assert held(left & right, STRINGS, STRING) == in_left & in_right, (left, right)
        assert held(outer_union([left, right]), STRINGS, STRING) >= in_left | in_right
        assert held(inner_union([left, right]), STRINGS, STRING) <= in_left | in_right
        assert not (left & right).empty or not in_left & in_right
        if in_left <= in_right:
            true, shown = true + 1, shown + (left <= right)
        else:
            assert not left <= right, (left, right)
    assert shown > 0.6 * true > 0


def test_texts_of_one_shape_unite_exactly() -> None:
    ends = of_texts(TextShape(suffix="b"))
    low, high = ends & of_ranges(((None, "ab"),)), ends & of_ranges((("b", None),))
    assert outer_union([low, high]) == inner_union([low, high])
    inside = held(low, STRINGS, STRING) | held(high, STRINGS, STRING)
    assert held(outer_union([low, high]), STRINGS, STRING) == inside


def test_texts_of_two_shapes_unite_to_all_from_outside_and_to_neither_from_inside() -> None:
    ends, ordinary = of_texts(TextShape(suffix="b")), of_keys(["a"])
    assert outer_union([ends, ordinary]).ranges == ALL
    assert inner_union([ends, ordinary]) == ordinary


def test_a_set_with_a_text_shape_has_no_complement() -> None:
    with pytest.raises(ValueError, match="no complement"):
        of_texts(TextShape(suffix="b")).complement()


def test_single_texts_are_kept_or_dropped_by_a_shape() -> None:
    found = of_keys(["ab", "ba", ""]) & of_texts(TextShape(suffix="b"))
    assert found == of_keys(["ab"])
    assert (of_keys(["ab"]) & of_texts(TextShape(prefix="b"))).empty
    assert (of_texts(TextShape(prefix="a")) & of_texts(TextShape(prefix="b"))).empty
    assert (of_texts(TextShape(suffix="a")) & of_texts(TextShape(suffix="b"))).empty


def test_a_text_with_a_lone_surrogate_cannot_be_ordered() -> None:
    for odd in (TextShape("\ud800"), TextShape("", "\udfff"), TextShape(pieces=frozenset({"\ud800"}))):
        with pytest.raises(ValueError, match="surrogates"):
            of_texts(odd)


@pytest.mark.parametrize(
    ("type_", "lowest", "highest"),
    [
        (BYTE, -128, 127),
        (INT, -(2**31), 2**31 - 1),
        (LONG, -(2**63), 2**63 - 1),
        (BOOLEAN, 0, 1),
        (DOUBLE, -math.inf, math.inf),
        (FLOAT, -math.inf, math.inf),
    ],
)
def test_the_limits_of_a_type_are_no_bounds(type_: Type, lowest: float, highest: float) -> None:
    after = None if math.isinf(highest) else highest + 1
    assert of_type(of_ranges(((lowest, after),)), type_).ranges == ALL
    assert of_type(of_ranges(((None, lowest),)), type_) == NOTHING
    if after is not None:
        assert of_type(of_ranges(((after, None),)), type_) == NOTHING
        assert of_type(of_ranges(((None, after + 7),)), type_).ranges == ALL


def test_the_empty_text_is_the_least_of_all_and_days_have_no_least() -> None:
    assert of_type(of_ranges((("", None),)), STRING).ranges == ALL
    assert of_type(of_ranges(((b"", None),)), BINARY).ranges == ALL
    assert of_type(of_ranges(((-(2**31), None),)), DATE).ranges == ((-(2**31), None),)


def test_only_floating_types_and_those_without_an_order_have_nan() -> None:
    assert [type_.text for type_ in (INT, DOUBLE, FLOAT, STRING, PRICE) if everything(type_).nan] == [
        "double",
        "float",
    ]
    assert everything(Type.parse("array<double>")).nan
    assert not of_type(AllowedValues(ALL, nan=True), INT).nan
    assert of_type(AllowedValues(ALL, nan=True), DOUBLE).nan


def test_few_values_are_listed_with_both_zeros_nan_and_null() -> None:
    assert of_ranges(((3, 6),)).members(INT, 3) == (3, 4, 5)
    assert of_ranges(((3, 6),)).members(INT, 2) is None
    assert of_ranges(((3, 4), (8, 11))).members(INT, 3) is None
    assert of_ranges(((None, 6),)).members(DATE, 99) is None
    assert of_type(of_keys([-128]), BYTE).members(BYTE, 9) == (-128,)
    assert of_type(of_keys([0]), BOOLEAN).members(BOOLEAN, 9) == (False,)
    assert of_type(of_keys([0, 1]), BOOLEAN).members(BOOLEAN, 9) == (False, True)
    assert [str(value) for value in of_keys([-150, 7]).members(PRICE, 9) or ()] == ["-1.50", "0.07"]
    assert of_type(of_keys(["", "b"]), STRING).members(STRING, 9) == ("", "b")
    assert of_ranges((("a", "b"),)).members(STRING, 9) is None
    assert of_texts(TextShape(suffix="a")).members(STRING, 9) is None
    assert NULL_ONLY.members(INT, 9) == (None,)
    zeros = AllowedValues(of_keys([0.0, math.inf]).ranges, null=True, nan=True).members(DOUBLE, 9)
    assert repr(zeros) == "(0.0, inf, -0.0, nan, None)"
    assert AllowedValues(NONE).members(INT, 9) == ()
