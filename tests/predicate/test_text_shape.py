from __future__ import annotations

import itertools

import pytest

from skipstone.predicate.patterns import like, segments
from skipstone.predicate.text_shape import ANY_TEXT, TextShape, combined, like_shape

STRINGS = ["".join(letters) for size in range(6) for letters in itertools.product("ab", repeat=size)]
SHAPES = [
    TextShape(prefix, suffix, frozenset(pieces))
    for prefix, suffix in itertools.product(("", "a", "b", "ab"), repeat=2)
    for pieces in ((), ("b",), ("aa",), ("ab", "ba"))
]
PATTERNS = ["".join(chars) for size in range(5) for chars in itertools.product("ab%_", repeat=size)]


def test_every_match_of_every_short_pattern_has_the_shape_of_the_pattern() -> None:
    for pattern in PATTERNS:
        shape, parts = like_shape(pattern, "\\"), segments(pattern, "\\")
        for text in STRINGS:
            assert shape.matches(text) or not like(text, parts), (pattern, text)


@pytest.mark.parametrize(
    ("pattern", "shape"),
    [
        ("ab", TextShape("ab", "ab")),
        ("ab%", TextShape("ab")),
        ("%ab", TextShape("", "ab")),
        ("a_b%c", TextShape("a", "c", frozenset({"b"}))),
        ("_a%b_", TextShape("", "", frozenset({"a", "b"}))),
        ("\\%a%", TextShape("%a")),
        ("%", ANY_TEXT),
        ("", ANY_TEXT),
    ],
)
def test_a_pattern_is_read_as_a_start_an_end_and_pieces(pattern: str, shape: TextShape) -> None:
    assert like_shape(pattern, "\\") == shape


def test_a_pattern_that_spark_rejects_has_no_shape() -> None:
    with pytest.raises(ValueError, match="a"):
        like_shape("a\\", "\\")


def test_strings_of_two_shapes_are_those_of_the_combined_one() -> None:
    for left, right in itertools.product(SHAPES, repeat=2):
        both = combined(left, right)
        for text in STRINGS:
            expected = left.matches(text) and right.matches(text)
            assert (both is not None and both.matches(text)) == expected, (left, right, text)


def test_a_shape_that_implies_another_has_none_but_its_strings() -> None:
    implied = 0
    for left, right in itertools.product(SHAPES, repeat=2):
        if left.implies(right):
            implied += 1
            assert all(right.matches(text) for text in STRINGS if left.matches(text)), (left, right)
    assert implied > 300
    assert not TextShape("a").implies(TextShape("ab"))
    assert TextShape("", "", frozenset({"b"})).implies(
        TextShape("ab", "", frozenset({"b"})), prefix_known=True
    )
    assert not TextShape("b").implies(TextShape("ab", "a"), prefix_known=True)


def test_what_is_no_string_has_no_shape() -> None:
    assert not ANY_TEXT.matches(7)
