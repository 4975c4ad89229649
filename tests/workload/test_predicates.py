from __future__ import annotations

from tests.workload.logs import DAY, SHIPPED, X, Y, compare, equal, not_null, one_of, query

from skipstone.predicate.expr import And, Call, Comparison, Literal, Opaque, Or
from skipstone.predicate.types import BOOLEAN, INT
from skipstone.workload.leave_out import date_filters, on_columns
from skipstone.workload.predicates import (
    LoggedFilter,
    logged_filters,
    query_predicates,
)
from skipstone.workload.queries import ParsedQuery, ParsedWorkload, Query, TableScan

UDF = Opaque("f(x)", "UDF", (X,))


def test_equal_queries_are_one_with_the_sum_of_their_weights() -> None:
    sets = query_predicates([query(equal(X, 1), equal(Y, 2), weight=3), query(equal(Y, 2), equal(X, 1))])
    assert sets.weights.tolist() == [4.0]
    assert sets.query_of.tolist() == [0, 0]


def test_a_null_test_that_the_query_entails_is_no_predicate() -> None:
    sets = query_predicates([query(not_null(X), equal(X, 1)), query(not_null(Y))])
    assert sets.predicates == (equal(X, 1), not_null(Y))


def test_parts_that_are_not_understood_are_refused_and_the_rest_is_used() -> None:
    sets = query_predicates([query(UDF, equal(X, 1), weight=2), query(Or((UDF, equal(X, 2))))])
    assert sets.predicates == (equal(X, 1),)
    assert {(each.code, each.weight) for each in sets.refused} == {
        ("NOT_UNDERSTOOD", 2.0),
        ("NOT_UNDERSTOOD", 1.0),
    }
    assert sets.unfiltered == 1.0


def test_queries_without_filter_or_never_true_are_only_counted() -> None:
    log = [LoggedFilter(Literal(True, BOOLEAN), 3.0), query(compare(">", X, 3), compare("<", X, 2), weight=2)]
    sets = query_predicates(log)
    assert (sets.unfiltered, sets.never_true, len(sets.weights)) == (3.0, 2.0, 0)
    assert sets.query_of.tolist() == [-1, -1]


def test_an_or_of_ands_also_gives_what_it_says_about_each_column() -> None:
    branches = (
        And((equal(X, 1), compare(">=", Y, 1), compare("<=", Y, 5))),
        And((equal(X, 2), compare(">=", Y, 1), compare("<=", Y, 10))),
    )
    sets = query_predicates([query(Or(branches))])
    assert set(sets.predicates[1:]) == {one_of(X, 1, 2), compare(">=", Y, 1), compare("<=", Y, 10)}
    assert sets.own.all()
    assert len(sets.parts[0]) == 1


def test_an_or_says_nothing_about_a_column_that_one_branch_leaves_free() -> None:
    sets = query_predicates([query(Or((And((equal(X, 1), equal(Y, 1))), equal(X, 2))))])
    assert sets.predicates[1:] == (one_of(X, 1, 2),)


def test_date_filters_are_comparisons_of_dates_with_constants() -> None:
    year = Call("year", (DAY,), INT)
    assert date_filters(compare("<", DAY, 9000))
    assert date_filters(Comparison("=", year, Literal(1994, INT)))
    assert date_filters(Or((equal(X, 1), compare("<", DAY, 9000))))
    assert date_filters(not_null(DAY))
    assert not date_filters(Comparison("<", DAY, SHIPPED))
    assert not date_filters(equal(X, 1))


def test_what_is_left_out_is_refused_with_a_reason() -> None:
    log = [query(compare("<", DAY, 9000), equal(X, 1), weight=2), query(compare("<", DAY, 9000))]
    sets = query_predicates(log, date_filters)
    assert sets.predicates == (equal(X, 1),)
    assert [(each.predicate, each.code, each.weight) for each in sets.refused] == [
        (compare("<", DAY, 9000), "LEFT_OUT", 3.0)
    ]
    assert query_predicates(log, on_columns([("x",)])).predicates == (compare("<", DAY, 9000),)


def test_scans_of_one_table_become_log_entries() -> None:
    scans = (TableScan("t", equal(X, 1), ("x",)), TableScan("u", equal(Y, 1), ("y",)))
    parsed = ParsedWorkload((ParsedQuery(Query("SELECT 1", count=7), scans),))
    assert logged_filters(parsed, "t") == (LoggedFilter(equal(X, 1), 7.0, None, "SELECT 1", ("x",)),)
