"""Columns of joined tables: one form, one state for each table, and what predicates are about."""

from __future__ import annotations

from tests.predicate.samples import S, X, Y, literal

from skipstone.predicate.codec import from_json, to_json
from skipstone.predicate.expr import And, Call, Column, Comparison, Expr, IsNull, Literal
from skipstone.predicate.joined_column import (
    JoinedColumn,
    about_known_column,
    column_bound,
    column_states,
    column_unbound,
    columns_asked,
    joined_column_of,
    text_of,
)
from skipstone.predicate.normalize import TRUE
from skipstone.predicate.partner import Partner, partner_of
from skipstone.predicate.render import unwritable
from skipstone.predicate.types import INT, STRING

KEY, OTHER = Column(("fk",), INT), Column(("ek",), INT)
CITY = Comparison("=", S, Literal("a", STRING))
LANDS = Partner((Y,), "/t/lands", (X,), TRUE)
PEOPLE = Partner((KEY,), "/t/people", (X,), TRUE)


def partner(where: Expr) -> Expr:
    return Partner((KEY,), "/t/people", (X,), where).call


def test_it_survives_json_and_has_one_form_whatever_the_order_of_keys_and_the_condition_of_the_join() -> None:
    one = JoinedColumn(Partner((KEY, OTHER), "/t/people", (X, Y), CITY, "s"), S).call
    two = JoinedColumn(Partner((OTHER, KEY), "/t/people", (Y, X), TRUE, "s"), S).call
    assert one == two
    assert one.type == STRING
    assert from_json(to_json(one)) == one
    found = joined_column_of(one)
    assert found is not None
    assert (found.column, found.link.table, found.link.state) == (S, "/t/people", "s")
    same = partner_of(Partner((OTHER, KEY), "/t/people", (Y, X), CITY, "s").call)
    assert same is not None
    assert found.join == same.join
    assert unwritable(one) == one, "it is no value of a row"


def test_a_chain_has_a_state_for_each_of_its_tables() -> None:
    chain = JoinedColumn(PEOPLE, JoinedColumn(LANDS, S).call).call
    assert column_states(chain) == {"/t/people": {""}, "/t/lands": {""}}
    now = column_bound(chain, {"/t/lands": "v2", "/t/people": "v1"})
    assert column_states(now) == {"/t/people": {"v1"}, "/t/lands": {"v2"}}
    assert now != chain
    assert column_unbound(now) == chain
    assert column_bound(now, {}) == now
    assert text_of(chain) == "lands.s by y of people by fk"
    assert column_states(S) == {}
    assert column_bound(S, {"/t/people": "v1"}) == S


def test_what_is_damaged_is_no_joined_column() -> None:
    whole = JoinedColumn(PEOPLE, S).call
    assert joined_column_of(S) is None
    assert joined_column_of(Call("other", whole.args, whole.type, whole.params)) is None
    assert joined_column_of(Call(whole.name, whole.args, INT, whole.params)) is None, "the type is another"
    for key, value in (("where", '["literal",1,"int"]'), ("where", "nonsense"), ("keys", "[]")):
        params = tuple(sorted({**dict(whole.params), key: value}.items()))
        assert joined_column_of(Call(whole.name, whole.args, whole.type, params)) is None
    assert joined_column_of(Call(whole.name, (), whole.type, whole.params)) is None


def test_the_columns_that_conditions_are_about_are_found_through_chains_the_most_asked_first() -> None:
    city, age = JoinedColumn(PEOPLE, S).call, JoinedColumn(PEOPLE, Y).call
    land = JoinedColumn(PEOPLE, JoinedColumn(LANDS, S).call).call
    old = Comparison(">", Y, literal(3))
    there = Partner((Y,), "/t/lands", (X,), CITY, "v1").call
    assert columns_asked([partner(old), partner(CITY), partner(And((CITY, there))), X, CITY]) == (
        city,
        age,
        land,
    )
    assert columns_asked([partner(IsNull(S))]) == (city,)
    assert columns_asked([partner(Comparison("<", X, Y))]) == ()


def test_a_predicate_is_about_a_known_column_if_nothing_else_is_asked() -> None:
    city = JoinedColumn(PEOPLE, S).call
    assert about_known_column(partner(CITY), [city])
    assert not about_known_column(partner(CITY), [])
    assert not about_known_column(partner(And((CITY, Comparison("<", X, Y)))), [city])
    assert not about_known_column(CITY, [city])
