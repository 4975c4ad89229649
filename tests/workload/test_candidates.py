"""P1, P2, P5 and P6 of the thesis's algorithm 1."""

from __future__ import annotations

import pytest
from tests.workload.logs import DAY, PRODUCT, X, Y, compare, equal, not_null, one_of, query, random_log

from skipstone.predicate.expr import (
    And,
    Call,
    Column,
    Comparison,
    Expr,
    In,
    Like,
    Literal,
    Match,
    Not,
    Opaque,
    Or,
    type_of,
)
from skipstone.predicate.implies import never_true
from skipstone.predicate.normalize import conjuncts, normalize
from skipstone.predicate.types import INT, STRING, Type
from skipstone.workload.candidates import compared, sop_candidates, z_candidates
from skipstone.workload.predicates import query_predicates

ATTRS = Column(("attrs",), Type.parse("map<string,string>"))
COURIER = Call("map_get", (ATTRS, Literal("courier", STRING)), STRING)
MONTH = Call("month", (DAY,), INT)
TEXT_AS_INT = Call("cast", (PRODUCT,), INT, (("mode", "ansi"),))
FIELD = Column(("sender", "address", "zip"), STRING)
LOWER = Call("lower", (PRODUCT,), STRING)
MIDDLE = Call("substring", (Call("trim", (FIELD,), STRING), Literal(2, INT), Literal(3, INT)), STRING)


@pytest.mark.parametrize(
    ("predicate", "expr", "points"),
    [
        (compare("<", X, 3), X, 1),
        (Comparison("=", COURIER, Literal("DHL", STRING)), COURIER, 1),
        (Comparison(">=", MONTH, Literal(6, INT)), MONTH, 1),
        (one_of(X, 1, 2, 3), X, 3),
        (Match("starts_with", PRODUCT, "sho"), PRODUCT, 1),
        (Like(PRODUCT, "s_o%e"), PRODUCT, 1),
        (Comparison(">", TEXT_AS_INT, Literal(7, INT)), TEXT_AS_INT, 1),
        (Comparison("=", FIELD, Literal("52062", STRING)), FIELD, 1),
        (In(LOWER, (Literal("shoes", STRING), Literal("hats", STRING))), LOWER, 2),
        (Comparison("<=", MIDDLE, Literal("206", STRING)), MIDDLE, 1),
        (Match("starts_with", LOWER, "sho"), LOWER, 1),
        (Like(FIELD, "52%"), FIELD, 1),
        (Match("rlike", LOWER, "^sho"), LOWER, 1),
    ],
)
def test_one_expression_compared_with_constants_is_a_z_candidate(
    predicate: Expr, expr: Expr, points: int
) -> None:
    found = compared(normalize(predicate))
    assert found is not None
    assert (found[0], len(found[1])) == (expr, points)


@pytest.mark.parametrize(
    "predicate",
    [
        Comparison("<", X, Y),
        Not(equal(X, 3)),
        Not(one_of(X, 1, 2)),
        not_null(X),
        Match("ends_with", PRODUCT, "es"),
        Like(PRODUCT, "%o_e%x"),
        Or((compare("<", X, 3), compare(">", Y, 4))),
        Comparison("<", Call("add", (X, Y), INT), Literal(3, INT)),
        Match("rlike", PRODUCT, "^sho(e|p)s?$"),
        Match("rlike", LOWER, "sho"),
        Match("contains", FIELD, "206"),
        Comparison("=", FIELD, Column(("receiver", "address", "zip"), STRING)),
        Comparison("=", Call("concat", (PRODUCT, FIELD), STRING), Literal("shoes52062", STRING)),
    ],
)
def test_anything_else_is_not(predicate: Expr) -> None:
    assert compared(normalize(predicate)) is None


def test_the_constants_of_the_thesis_ip_table_make_one_dimension() -> None:
    """Table 4.1: four predicates on ip are four features for SOP and one for Z-order."""
    ip = Column(("ip",), STRING)
    log = [query(equal(ip, text)) for text in ("10.3.44.5", "10.22.35.7", "10.63.4.2", "10.94.3.2")]
    sets = query_predicates(log)
    ((z,), dropped) = z_candidates(sets)
    assert (z.expr, z.frequency, z.points) == (ip, 4, 4)
    assert dropped == ()
    assert sop_candidates(sets, [ip]) == ((), ())
    assert len(sop_candidates(sets, [])[0]) == 4


@pytest.mark.parametrize("expr", [TEXT_AS_INT, FIELD, LOWER, MIDDLE, COURIER, MONTH])
def test_a_complex_expression_with_changing_constants_is_one_dimension(expr: Expr) -> None:
    """Casts, fields of structs and functions of texts as well as columns."""
    values = range(4) if type_of(expr) == INT else [f"52{n}" for n in range(4)]
    log = [query(Comparison("=", expr, Literal(value, type_of(expr)))) for value in values]
    sets = query_predicates(log)
    ((z,), _) = z_candidates(sets)
    assert (z.expr, z.frequency, z.points) == (expr, 4, 4)
    assert sop_candidates(sets, [expr])[0] == ()


@pytest.mark.parametrize(
    "predicate",
    [
        Match("rlike", PRODUCT, "^sho(e|p)s?$"),
        Match("rlike", LOWER, "boot|shoe"),
        Match("contains", FIELD, "206"),
        Comparison("=", FIELD, Column(("receiver", "address", "zip"), STRING)),
        Comparison(">", TEXT_AS_INT, Literal(7, INT)),
        Comparison("=", Call("concat", (PRODUCT, FIELD), STRING), Literal("shoes52062", STRING)),
    ],
)
def test_a_complex_predicate_that_recurs_is_an_sop_candidate(predicate: Expr) -> None:
    sets = query_predicates([query(predicate, compare("<", X, n), weight=2) for n in range(5)])
    kept, _ = z_candidates(sets)
    assert [each.expr for each in kept] == [X]
    (found,), dropped = sop_candidates(sets, [X])
    assert (found.predicate, found.frequency, dropped) == (normalize(predicate), 10, ())


def test_a_constant_range_is_left_to_sop_and_counted_once() -> None:
    sets = query_predicates([query(compare(">=", X, 1), compare("<=", X, 5), weight=7)])
    kept, (dropped,) = z_candidates(sets)
    assert kept == ()
    assert (dropped.code, dropped.points, dropped.frequency) == ("FEW_POINTS", 2, 7)
    assert z_candidates(sets, theta=2)[0][0].frequency == 7
    assert {each.frequency for each in sop_candidates(sets, [])[0]} == {7}


def test_rare_predicates_are_dropped_with_a_reason() -> None:
    log = [query(Not(equal(X, 1)), weight=995), query(Not(equal(Y, 2)), weight=5)]
    kept, (dropped,) = sop_candidates(query_predicates(log), [])
    assert [each.frequency for each in kept] == [995]
    assert dropped.code == "RARE"
    assert "γ = 10" in dropped.sentence
    assert len(sop_candidates(query_predicates(log), [], gamma=5)[0]) == 2


def test_what_is_not_understood_is_named() -> None:
    log = [query(equal(X, 1), Opaque("shout(s)", "UDF"), weight=3)]
    _, dropped = sop_candidates(query_predicates(log), [])
    assert [(each.code, each.frequency) for each in dropped] == [("NOT_UNDERSTOOD", 3)]


def test_an_or_of_ands_counts_for_the_columns_that_all_branches_confine() -> None:
    log = [query(Or((_both(n, 1), _both(n + 10, 2)))) for n in range(4)]
    kept, _ = z_candidates(query_predicates(log))
    assert (kept[0].expr, kept[0].frequency, kept[0].points) == (X, 4, 8)


def _both(x: int, y: int) -> Expr:
    return And((equal(X, x), equal(Y, y)))


@pytest.mark.parametrize("seed", range(15))
def test_every_conjunct_is_served_kept_or_dropped(seed: int) -> None:
    log = random_log(seed, 25)
    sets = query_predicates(log)
    kept, few = z_candidates(sets, theta=4)
    served = {each.expr for each in kept}
    assert served.isdisjoint(each.expr for each in few)
    sop, rare = sop_candidates(sets, served, gamma=4)
    told = {each.predicate for each in sop} | {each.expr for each in rare}
    for entry in log:
        for part in () if never_true(entry.filter) else conjuncts(entry.filter):
            found = compared(part)
            needed = any(part in query for query in sets.parts)
            assert not needed or part in told or (found is not None and found[0] in served)
    assert all(each.frequency >= 4 for each in sop)
    assert all(each.frequency < 4 for each in rare)
