"""The bracket around the truth: certain values make a predicate TRUE, and only possible ones do.

Checked against the reference evaluator for every form of predicate over a column of every kind.
"""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.predicate.allowed_cases import DOMAINS, Domain, atoms, betweens
from tests.predicate.samples import D, S, X

from skipstone.predicate.allows import Allows, allows
from skipstone.predicate.evaluate import NotEvaluable, evaluate
from skipstone.predicate.expr import (
    And,
    Call,
    Column,
    Comparison,
    Expr,
    In,
    IsNull,
    Like,
    Literal,
    Match,
    Not,
    Opaque,
    Or,
    Value,
)
from skipstone.predicate.normalize import normalize, normalize_filter
from skipstone.predicate.types import BOOLEAN, DOUBLE, INT, LONG, STRING, Type
from skipstone.predicate.value_ranges import ALL

KINDS = pytest.mark.parametrize("domain", DOMAINS, ids=str)


def is_nan(value: Value) -> bool:
    return isinstance(value, float) and math.isnan(value)


def truths(predicate: Expr, column: Column, value: Value) -> set[bool]:
    """Whether the predicate is TRUE; both where that depends on how Spark evaluates it."""
    try:
        return {evaluate(predicate, {column: value}) is True}
    except NotEvaluable:
        assert is_nan(value), "only NaN beside NULL in a list is not certain"
    answers = (Literal(False, BOOLEAN), Literal(None, BOOLEAN))
    return {evaluate(_answered(predicate, answer), {column: value}) is True for answer in answers}


def _answered(predicate: Expr, answer: Literal) -> Expr:
    """With what Spark answers for NaN instead of lists that have NULL but not NaN."""
    match predicate:
        case In(values=values) if any(each.value is None for each in values):
            if all(each.value is None for each in values):
                return Literal(None, BOOLEAN)  # Spark makes a comparison of a list of one
            return predicate if any(each.value != each.value for each in values) else answer
        case And(args) | Or(args):
            return type(predicate)(tuple(_answered(arg, answer) for arg in args))
        case Not(arg):
            return Not(_answered(arg, answer))
        case IsNull(arg):
            return IsNull(_answered(arg, answer))
    return predicate


def is_certain(found: Allows, value: Value, type_: Type) -> bool:
    if found.certain.holds(value, type_):
        return True
    return found.refused is not None and value is not None and not found.refused.holds(value, type_)


def check(predicate: Expr, domain: Domain) -> Allows | None:
    """The bracket holds for every value of the domain, in both normal forms."""
    found = None
    for normal in (normalize_filter(predicate), normalize(predicate)):
        if isinstance(normal, Literal):
            continue
        found = allows(normal)
        if found is None:
            continue
        assert found.subject == domain.column
        for value in domain.values:
            known = truths(predicate, domain.column, value)
            if True in known:
                assert found.possible.holds(value, domain.column.type), (predicate, value)
            if False in known:
                assert not is_certain(found, value, domain.column.type), (predicate, value)
    return found


@KINDS
def test_every_atom_of_every_kind_is_bracketed(domain: Domain) -> None:
    every = atoms(domain)
    understood = [found for found in (check(predicate, domain) for predicate in every) if found]
    constant = sum(isinstance(normalize(predicate), Literal) for predicate in every)
    assert len(understood) + constant == len(every)
    # All but patterns, their negations, and lists with NULL or NaN, are described exactly.
    assert sum(found.exact for found in understood) > 0.5 * len(understood)


@KINDS
def test_comparisons_are_exact_and_so_is_not_in_without_nan(domain: Domain) -> None:
    for predicate in atoms(domain):
        inner = predicate.arg if isinstance(predicate, Not) else predicate
        values = [literal.value for literal in inner.values] if isinstance(inner, In) else []
        odd = any(value is None or is_nan(value) for value in values)
        if isinstance(inner, Comparison | IsNull | Column) or (isinstance(inner, In) and not odd):
            found = allows(normalize_filter(predicate))
            assert found is None or found.exact, predicate
            for value in domain.values if found else ():
                assert found is not None
                allowed = found.possible.holds(value, domain.column.type)
                assert truths(predicate, domain.column, value) == {allowed}, predicate


@KINDS
def test_every_between_of_every_kind_is_bracketed(domain: Domain) -> None:
    for predicate in betweens(domain):
        check(predicate, domain)
        check(Not(predicate), domain)


@KINDS
def test_all_pairs_of_atoms_of_every_kind_are_bracketed(domain: Domain) -> None:
    every = atoms(domain)
    # Every pair would be millions: a stride that is no divisor reaches all forms, with all neighbours.
    stride = max(1, len(every) // 31)
    for left, right in itertools.product(every[::stride], every[:: max(1, stride - 1)]):
        for kind in (And, Or):
            check(kind((left, right)), domain)


def composites(domain: Domain) -> st.SearchStrategy[Expr]:
    return st.recursive(
        st.sampled_from(atoms(domain)),
        lambda inner: st.one_of(
            st.lists(inner, min_size=2, max_size=3).map(lambda args: And(tuple(args))),
            st.lists(inner, min_size=2, max_size=3).map(lambda args: Or(tuple(args))),
            inner.map(Not),
            inner.map(IsNull),
        ),
        max_leaves=7,
    )


@KINDS
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_property_composites_of_every_kind_are_bracketed(domain: Domain, data: st.DataObject) -> None:
    check(data.draw(composites(domain)), domain)


BYTES = (0x00, 0x61, 0x62, 0x7F, 0x80, 0xBF, 0xC1, 0xC2, 0xDF, 0xE0, 0xED, 0xEE, 0xEF, 0xF4, 0xF5, 0xFF)
RAW = [bytes(chosen) for size in range(3) for chosen in itertools.product(BYTES, repeat=size)]
EDGES = (
    "a",
    "b",
    "\x7f",
    "\x80",
    "\u07ff",
    "\ud7ff",
    "\ue000",
    "\uffff",
    "\U0010ffff",
    "a\x7f",
    "a\U0010ffff",
)


def raw_truth(predicate: Expr, raw: bytes) -> bool:
    """What Spark makes of bytes that may be no valid UTF-8: it compares bytes."""
    match predicate:
        case Not(arg):
            return not raw_truth(arg, raw)
        case Match("starts_with", _, pattern):
            return raw.startswith(pattern.encode())
        case Comparison(op, _, Literal(value=str(text))):
            key = text.encode()
            compared = {"=": raw == key, "<": raw < key, "<=": raw <= key, ">": raw > key, ">=": raw >= key}
            return compared[op]
    raise AssertionError(predicate)


def test_bytes_that_are_no_text_are_possible_wherever_they_would_match_and_never_wrongly_certain() -> None:
    predicates: list[Expr] = [Match("starts_with", S, text) for text in EDGES]
    predicates += [
        Comparison(op, S, Literal(text, STRING)) for text in EDGES for op in ("=", "<", "<=", ">", ">=")
    ]
    for predicate in [*predicates, *(Not(each) for each in predicates)]:
        found = allows(predicate if isinstance(predicate, Not | Match) else normalize(predicate))
        if found is None:
            continue
        for raw in RAW:
            true, inside = raw_truth(predicate, raw), raw_inside(found.possible.ranges, raw)
            assert inside or not true, (predicate, raw)
            if found.exact and not found.possible.text.prefix:
                assert inside == true, (predicate, raw)


def raw_inside(ranges: tuple[tuple[object, object], ...], raw: bytes) -> bool:
    return any(
        (not isinstance(start, str) or start.encode() <= raw)
        and (not isinstance(stop, str) or raw < stop.encode())
        for start, stop in ranges
    )


def test_a_list_of_nothing_is_not_judged_for_a_setting_decides_about_null() -> None:
    assert allows(In(X, ())) is None
    assert allows(Not(In(X, ()))) is None


def test_nan_may_be_outside_of_any_list_for_spark_may_not_find_it_there() -> None:
    some = In(D, (Literal(math.nan, DOUBLE), Literal(1.0, DOUBLE)))
    without = allows(Not(some))
    assert without is not None
    assert (without.possible.nan, without.certain.nan) == (True, False)
    within = allows(some)
    assert within is not None
    assert (within.possible.nan, within.certain.nan) == (True, False)


def test_not_in_with_null_is_never_true_but_perhaps_for_nan() -> None:
    found = allows(Not(In(D, (Literal(1.0, DOUBLE), Literal(None, DOUBLE)))))
    assert found is not None
    assert not found.possible.ranges
    assert (found.possible.nan, found.certain.empty) == (True, True)
    whole = allows(Not(In(X, (Literal(1, INT), Literal(None, INT)))))
    assert whole is not None
    assert whole.possible.empty


def test_strings_without_a_prefix_are_bounded_only_where_no_others_lie_between() -> None:
    # Bytes 0x80 to 0xC1 lie between U+007F and its successor and start no valid text; Spark may have them.
    odd = allows(Not(Match("starts_with", S, "\x7f")))
    assert odd is not None
    assert odd.possible.ranges == ALL
    plain = allows(Not(Match("starts_with", S, "a")))
    assert plain is not None
    assert plain.possible.ranges == ((None, "a"), ("b", None))


def test_a_pattern_is_possible_by_its_prefix_and_never_certain() -> None:
    found = allows(Like(S, "ab_c%"))
    assert found is not None
    assert found.possible.ranges == (("ab", "ac"),)
    assert found.certain.empty
    denied = allows(Not(Like(S, "ab_c%")))
    assert denied is not None
    assert (denied.possible.ranges, denied.possible.null) == (ALL, False)
    assert denied.refused == found.possible


def test_a_column_is_limited_by_its_type_and_a_call_is_not_for_it_may_fail_instead() -> None:
    least = Literal(-(2**31), INT)
    column = allows(Comparison("<", X, least))
    call = allows(Comparison("<", Call("add", (X, Literal(1, INT)), INT), least))
    assert column is not None
    assert column.possible.empty
    assert call is not None
    assert call.possible.ranges == ((None, -(2**31)),)


OPAQUE = Call("add", (Opaque("udf(x)", "UDF", (X,), INT), X), INT)


@pytest.mark.parametrize(
    "predicate",
    [
        Comparison("=", X, Literal(1, LONG)),
        In(X, (Literal(1, INT), Literal(2, LONG))),
        Comparison("=", S, Literal("\ud800", STRING)),
        Match("starts_with", S, "\ud800"),
        Not(Match("contains", S, "\udfff")),
        Like(S, "a\\"),
        Comparison("=", Column(("a",), Type.parse("array<int>")), Literal((1,), Type.parse("array<int>"))),
        Match("starts_with", Column(("c",), Type.parse("string collate UTF8_LCASE")), "a"),
        Comparison("<", X, Column(("y",), INT)),
        And((IsNull(X), IsNull(S))),
        Or((IsNull(X), Comparison("<", X, Column(("y",), INT)))),
        Opaque("udf(x)", "UDF", (X,)),
        Not(Opaque("udf(x)", "UDF", (X,))),
        Comparison("<", OPAQUE, Literal(1, INT)),
        IsNull(OPAQUE),
        Call("f", (Opaque("udf(x)", "UDF", (X,), INT),), BOOLEAN),
        Column(("i",), INT),
        Not(Column(("i",), INT)),
        Literal(True, BOOLEAN),
    ],
)
def test_what_is_not_understood_or_not_of_one_type_allows_nothing_to_be_said(predicate: Expr) -> None:
    assert allows(predicate) is None


def test_an_or_of_ranges_is_one_set_with_a_gap() -> None:
    found = allows(Or((Comparison("<", X, Literal(3, INT)), Comparison(">", X, Literal(10, INT)))))
    assert found is not None
    assert found.possible.ranges == ((None, 3), (11, None))
    assert found.exact
