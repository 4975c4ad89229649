from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st
from tests.predicate.samples import PREDICATES, ROWS, B, S, X, Y, literal

from skipstone.predicate.codec import from_json, to_json
from skipstone.predicate.evaluate import NotEvaluable, evaluate
from skipstone.predicate.expr import And, Column, Comparison, Expr, Literal, Not, Value, columns_of, is_opaque
from skipstone.predicate.implies import implies
from skipstone.predicate.normalize import normalize, normalize_filter
from skipstone.predicate.partner import (
    Partner,
    bound,
    other_side,
    partner_of,
    partners_in,
    states_in,
    unbound,
    with_flags,
)
from skipstone.predicate.readable import readable
from skipstone.predicate.render import to_sql, unwritable
from skipstone.predicate.types import INT, STRING

KEY = Column(("fk",), INT)
CITY = Comparison("=", S, Literal("a", STRING))


def partner(
    where: Expr, state: str = "", table: str = "/t/people", keys: tuple[Column, ...] = (KEY,)
) -> Expr:
    return Partner(keys, table, (X, Y)[: len(keys)], where, state).call


def at_least(number: int) -> Expr:
    return Comparison(">=", Y, literal(number))


def test_a_condition_that_implies_another_makes_its_partners_imply_the_others() -> None:
    strict, loose = partner(at_least(3)), partner(at_least(2))
    assert implies(strict, loose)
    assert not implies(loose, strict)
    assert implies(And((Comparison(">", KEY, literal(0)), partner(And((at_least(3), CITY))))), loose)
    assert not implies(Not(strict), Not(loose))


def test_two_partners_that_satisfy_one_condition_each_are_no_partner_that_satisfies_both() -> None:
    both = partner(And((at_least(2), CITY)))
    assert not implies(And((partner(at_least(2)), partner(CITY))), both)
    assert implies(both, And((partner(at_least(2)), partner(CITY))))


def test_partners_by_other_keys_or_in_another_table_or_state_say_nothing() -> None:
    asked = partner(at_least(2))
    assert not implies(partner(at_least(2), table="/t/others"), asked)
    assert not implies(partner(at_least(2), state="now"), asked)
    assert not implies(partner(at_least(2), state="now"), partner(at_least(2), state="before"))
    assert not implies(partner(at_least(2), keys=(Column(("fk2",), INT),)), asked)
    assert not implies(partner(at_least(2), keys=(KEY, Column(("fk2",), INT))), asked)


def test_chains_are_compared_link_by_link() -> None:
    def chain(number: int, state: str = "") -> Expr:
        return partner(And((CITY, Partner((Y,), "/t/lands", (X,), at_least(number), state).call)))

    assert implies(chain(3), chain(2))
    assert implies(chain(3), partner(Partner((Y,), "/t/lands", (X,), at_least(3)).call))
    assert not implies(chain(2), chain(3))
    assert not implies(chain(3, "now"), chain(2))
    assert states_in(bound(chain(3), {"/t/lands": "v2"})) == {"/t/people": {""}, "/t/lands": {"v2"}}
    assert unbound(bound(chain(3), {"/t/lands": "v2", "/t/people": "v1"})) == normalize(chain(3))


def test_it_survives_json_and_has_one_form_whatever_the_order_of_keys() -> None:
    other = Column(("ek",), INT)
    one = Partner((KEY, other), "/t/people", (X, Y), And((at_least(2), CITY)), "s").call
    two = Partner((other, KEY), "/t/people", (Y, X), And((CITY, at_least(2), CITY)), "s").call
    assert one == two
    assert from_json(to_json(one)) == one
    assert columns_of(one) == {KEY, other}
    assert with_flags(one) == with_flags(unbound(one))
    assert partners_in(And((one, at_least(2)))) == (one,)


def test_people_read_a_subquery_and_a_condition_that_sql_cannot_say_is_noticed() -> None:
    shown = partner(And((at_least(2), CITY)))
    assert readable(shown) == "EXISTS (SELECT 1 FROM people WHERE people.x = fk AND s = 'a' AND y >= 2)"
    assert unwritable(shown) is None
    odd = partner(Comparison("=", Column(("${x}",), INT), literal(1)))
    assert unwritable(odd) == odd
    assert "people" in to_sql(odd)


def test_what_is_damaged_is_no_join_induced_predicate() -> None:
    whole = partner(at_least(2))
    text = str(to_json(whole))
    for before, after in (("where", "wher"), ("/t/people", "/t/other"), ("comparison", "nonsense")):
        changed = from_json(eval(text.replace(before, after)))  # noqa: S307 - our own text
        assert not implies(changed, whole)


@given(PREDICATES, PREDICATES, st.lists(ROWS, max_size=4), st.sampled_from([0, 1, None]))
def test_whatever_implies_another_has_its_rows(
    p: Expr, q: Expr, table: list[dict[Column, Value]], key: Value
) -> None:
    """By the definition: some row has the key and satisfies the condition."""
    assume(not is_opaque(p) and not is_opaque(q))
    premise, conclusion = partner(p), partner(q)
    if not implies(premise, conclusion):
        return

    def holds(where: Expr) -> bool | None:
        try:
            return any(
                row[X] is not None and row[X] == key and evaluate(normalize_filter(where), row) is True
                for row in table
            )
        except NotEvaluable:
            return None

    if holds(p):
        assert holds(q) in (True, None)


def test_the_other_side_of_a_range_is_about_the_same_partners() -> None:
    below = Comparison("<", Y, literal(2))
    chain = Partner((Y,), "/t/lands", (X,), at_least(2)).call
    assert other_side(partner(at_least(2))) == partner(below)
    assert other_side(partner(chain)) == partner(Partner((Y,), "/t/lands", (X,), below).call)
    assert other_side(partner(CITY)) is None
    assert other_side(partner(And((at_least(2), CITY)))) is None
    assert other_side(at_least(2)) is None


def test_the_evaluator_knows_only_what_the_row_says() -> None:
    flag = partner(at_least(2))
    assert evaluate(And((flag, B)), {flag: True, B: True}) is True
    assert evaluate(And((flag, B)), {B: False}) is False
    assert partner_of(B) is None
