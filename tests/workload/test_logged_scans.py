"""The query log's records: to disk and back, as a workload, and without their literals."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skipstone.json_types import json_text
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
    columns_of,
    is_opaque,
    walk,
)
from skipstone.predicate.normalize import normalize_filter
from skipstone.predicate.partner import Partner
from skipstone.predicate.render import to_sql
from skipstone.predicate.types import BOOLEAN, INT, STRING, Type
from skipstone.workload.logged_scans import LoggedScan, filters_of, from_record, redact, redacted, to_record
from skipstone.workload.predicates import query_predicates

K, NAME, TAGS = (
    Column(("k",), INT),
    Column(("name",), STRING),
    Column(("tags",), Type.parse("map<string,string>")),
)
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
SECRET = 31337


def scan(filter_: Expr, **more: object) -> LoggedScan:
    found = LoggedScan(NOON, filter_, ("k", "name"), 8, 2, 2_048, 200, 17, 0.25, "ada", "nightly")
    return replace(found, **more)  # type: ignore[arg-type]


def atoms() -> st.SearchStrategy[Expr]:
    number = st.integers(SECRET, SECRET + 3).map(lambda value: Literal(value, INT))
    text = st.sampled_from(["31337", "x31337", "31337%"])
    return st.one_of(
        st.builds(Comparison, st.sampled_from(["=", "<", ">="]), st.just(K), number),
        st.builds(lambda values: In(K, tuple(values)), st.lists(number, min_size=2, max_size=4, unique=True)),
        st.builds(lambda pattern: Like(NAME, pattern), text),
        st.builds(lambda pattern: Match("contains", NAME, pattern), text),
        st.builds(
            lambda key: Comparison("=", Call("map_get", (TAGS, Literal(key, STRING)), STRING), NAME), text
        ),
        number.map(lambda value: Partner((K,), "/t/joined", (K,), Comparison("<", K, value)).call),
        st.just(IsNull(K)),
        st.builds(lambda shown: Opaque(shown, "UDF", (K,)), text),
    )


def filters() -> st.SearchStrategy[Expr]:
    def wider(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
        several = st.lists(inner, min_size=2, max_size=3).map(tuple)
        return st.one_of(several.map(And), several.map(Or), inner.map(Not))

    return st.recursive(atoms(), wider, max_leaves=6).map(normalize_filter)


@given(filters(), st.none() | st.integers(0, 10**12))
def test_a_record_is_read_as_it_was_written(filter_: Expr, needed: int | None) -> None:
    written = scan(filter_, rows_needed=needed, count=3, replicas=("9c1e",))
    assert from_record(to_record(written)) == written


@given(filters())
def test_a_redacted_filter_has_no_literal_and_the_same_columns(filter_: Expr) -> None:
    without_values = redact(scan(filter_))
    record = to_record(without_values)
    assert str(SECRET)[:4] not in json_text(record["filter"]) + json_text(record["filter_sql"])
    assert columns_of(without_values.filter) == columns_of(filter_)
    assert redact(without_values) == without_values, "once is enough"
    assert from_record(record) == without_values


@given(filters())
def test_a_redacted_record_counts_but_never_becomes_a_predicate_with_a_constant(filter_: Expr) -> None:
    without_values = redact(scan(filter_, count=5))
    (entry,) = filters_of([without_values])
    assert entry.weight == 5.0
    for predicate in query_predicates([entry]).predicates:
        assert not any(isinstance(part, Literal) for part in walk(predicate))
    assert without_values.is_redacted == any(
        isinstance(part, Opaque) and part.code == "REDACTED" for part in walk(without_values.filter)
    )


def test_redaction_keeps_column_operator_and_number_of_values() -> None:
    three = In(K, (Literal(1, INT), Literal(2, INT), Literal(3, INT)))
    late = Comparison(">=", Column(("day",), INT), Literal(7, INT))
    without_values = redacted(normalize_filter(And((three, late, Not(IsNull(NAME))))))
    assert isinstance(without_values, And)
    assert {to_sql(part) for part in without_values.args} == {
        "k IN ('?', '?', '?')", "day >= '?'", "name IS NOT NULL",
    }  # fmt: skip
    assert sum(map(is_opaque, without_values.args)) == 2, "what has no literal is still of use"


def test_a_scan_without_a_filter_is_redacted_to_itself() -> None:
    everything = scan(Literal(True, BOOLEAN))
    assert redact(everything) == everything
    assert not everything.is_redacted


def test_the_log_is_a_workload_with_weights_and_times() -> None:
    low = normalize_filter(Comparison("<", K, Literal(5, INT)))
    entries = filters_of([scan(low), scan(low, count=2, time=NOON + timedelta(days=1))])
    assert [(entry.weight, entry.timestamp) for entry in entries] == [
        (1.0, NOON), (2.0, NOON + timedelta(days=1)),
    ]  # fmt: skip
    assert query_predicates(entries).weights.tolist() == [3.0]


@pytest.mark.parametrize("zone", [None, timezone(timedelta(hours=3))])
def test_times_are_read_in_utc_whatever_the_engine_returns(zone: timezone | None) -> None:
    given_time = NOON.replace(tzinfo=None) if zone is None else NOON.astimezone(zone)
    found = from_record({**to_record(scan(Literal(True, BOOLEAN))), "time": given_time})
    assert (found.time, found.time.tzinfo) == (NOON, UTC)


def test_a_record_of_something_else_is_refused() -> None:
    record = to_record(scan(Literal(True, BOOLEAN)))
    with pytest.raises(ValueError, match="not an expression"):
        from_record({**record, "filter": '["what"]'})


@pytest.mark.parametrize("stored", [{}, {"replicas": None}])
def test_a_record_of_an_earlier_version_read_no_replica(stored: dict[str, None]) -> None:
    record = to_record(scan(IsNull(K)))
    del record["replicas"]
    assert from_record({**record, **stored}).replicas == ()
