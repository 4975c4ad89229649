from __future__ import annotations

import math

from tests.predicate.samples import D, S, X

from skipstone.predicate.allows import allows
from skipstone.predicate.expr import In, Literal, Match, Not
from skipstone.predicate.types import DOUBLE


def test_a_list_of_nothing_is_not_judged_for_a_setting_decides_about_null() -> None:
    assert allows(In(X, ())) is None
    assert allows(Not(In(X, ()))) is None


def test_nan_may_be_outside_of_any_list_for_spark_may_not_find_it_there() -> None:
    some = In(D, (Literal(math.nan, DOUBLE), Literal(1.0, DOUBLE)))
    found = allows(Not(some))
    assert found is not None
    assert found.possible.nan


def test_strings_without_a_prefix_are_bounded_only_where_no_others_lie_between() -> None:
    # Bytes 0x80 to 0xC1 lie between U+007F and its successor and start no valid text; Spark may have them.
    odd = allows(Not(Match("starts_with", S, "\x7f")))
    assert odd is not None
    assert odd.possible.ranges == ((None, None),)
    plain = allows(Not(Match("starts_with", S, "a")))
    assert plain is not None
    assert plain.possible.ranges == ((None, "a"), ("b", None))
