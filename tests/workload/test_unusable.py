"""One odd query keeps no other query from being used, and is named."""

from __future__ import annotations

from skipstone.predicate.expr import And, Call, Column, Comparison, Expr, IsNull, Literal, Not, Opaque, Or
from skipstone.predicate.types import BOOLEAN, INT
from skipstone.workload.predicates import LoggedFilter, query_predicates
from skipstone.workload.unusable import NOT_EVALUABLE, predicates_in, with_opaque, without_crashes

X, Y = Column(("x",), INT), Column(("y",), INT)
LOW: Expr = Comparison("<", X, Literal(4, INT))
ODD: Expr = Call("odd_call", (Y,), BOOLEAN)


def test_a_predicate_that_cannot_be_evaluated_is_opaque_and_the_rest_of_its_filter_is_used() -> None:
    odd = And((LOW, ODD, Not(IsNull(Y))))
    entries = [LoggedFilter(odd, 2.0, position=3, line=7), LoggedFilter(LOW, position=4)]
    usable = with_opaque(without_crashes(entries), {ODD: "Spark does not know it"})
    assert [entry.weight for entry in usable.entries] == [2.0, 1.0]
    assert query_predicates(usable.entries).predicates == (LOW,)
    assert usable.entries[0].filter == And((Opaque("odd_call(y)", NOT_EVALUABLE, (Y,)), LOW))
    assert [entry.filter for entry in usable.logged] == [entry.filter for entry in entries]
    assert [str(broken) for broken in usable.unusable] == [
        (
            "statement 3 (line 7): odd_call(y) cannot be used (Spark does not know it); "
            "only the rest of its filter is used"
        )
    ]


def test_a_filter_of_which_nothing_is_left_says_so_once_however_often_it_ran() -> None:
    entries = [LoggedFilter(Or((LOW, ODD))), LoggedFilter(Not(ODD))] * 3
    usable = with_opaque(without_crashes(entries), {ODD: "why", Not(ODD): "why"})
    assert len(usable.entries) == 6
    assert predicates_in(usable.entries) == (LOW,)
    assert [str(broken) for broken in usable.unusable] == [
        "x < 4 OR odd_call(y): odd_call(y) cannot be used (why); only the rest of its filter is used",
        "NOT odd_call(y): NOT odd_call(y) cannot be used (why); its filter is left out",
    ]


def test_a_query_that_cannot_be_taken_apart_is_left_out() -> None:
    def attempt(entry: LoggedFilter) -> None:
        if entry.filter == ODD:
            raise RecursionError("too deep")

    usable = without_crashes([LoggedFilter(LOW), LoggedFilter(ODD, sql="SELECT 1", position=2)], attempt)
    assert [entry.filter for entry in usable.entries] == [LOW]
    (broken,) = usable.unusable
    assert (broken.sql, broken.position) == ("SELECT 1", 2)
    assert broken.reason == "its filter cannot be analysed (RecursionError: too deep); it is left out"


def test_a_log_without_odd_queries_stays_as_it_is() -> None:
    entries = (LoggedFilter(LOW), LoggedFilter(And((LOW, ODD))))
    usable = with_opaque(without_crashes(entries), {})
    assert (usable.entries, usable.logged, usable.unusable) == (entries, entries, ())
