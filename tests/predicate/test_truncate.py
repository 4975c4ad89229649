from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from skipstone.predicate.truncate import successor, truncate_max, truncate_min

TEXT = st.text(
    st.one_of(
        st.sampled_from("ab\x7f\x80é\ud7ff\ue000\uffff\U00010000\U0001f600\U0010ffff"),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=6,
)
LIMIT = st.integers(0, 6)


@given(TEXT, LIMIT)
def test_a_shortened_minimum_is_not_greater(text: str, limit: int) -> None:
    short = truncate_min(text, limit)
    assert len(short) <= limit
    assert short.encode() <= text.encode()


@given(TEXT, LIMIT)
def test_a_shortened_maximum_is_not_smaller_in_byte_order_and_is_valid_utf8(text: str, limit: int) -> None:
    short = truncate_max(text, limit)
    if short is None:
        assert len(text) > limit
        assert set(text[:limit]) <= {"\U0010ffff"}
    else:
        assert len(short) <= limit
        assert short.encode() >= text.encode()


@given(st.binary(max_size=6), LIMIT)
def test_shortened_binary_bounds_enclose_the_value(data: bytes, limit: int) -> None:
    short = truncate_max(data, limit)
    assert truncate_min(data, limit) <= data
    assert short is None or (len(short) <= limit and short >= data)
    assert (short is None) == (len(data) > limit and set(data[:limit]) <= {255})


@given(TEXT, TEXT)
def test_the_successor_is_above_everything_with_the_prefix(prefix: str, tail: str) -> None:
    after = successor(prefix)
    if after is not None:
        assert (prefix + tail).encode() < after.encode()


def test_the_last_character_before_the_surrogates_is_followed_by_the_first_after_them() -> None:
    assert successor("a\ud7ff") == "a\ue000"


def test_a_lone_surrogate_gives_no_upper_bound_and_ends_a_lower_one() -> None:
    assert truncate_max("a\udc00b", 9) is None
    assert truncate_min("a\udc00b", 9) == "a"
    assert successor("\ud800") is None
