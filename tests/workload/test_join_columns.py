"""Partial denormalisation (GSOP, section 3.3): the columns that occur in join queries."""

from __future__ import annotations

from skipstone.predicate.expr import Literal
from skipstone.predicate.types import BOOLEAN
from skipstone.workload.join_columns import Denormalisation, denormalisations
from skipstone.workload.queries import ParsedQuery, ParsedWorkload, Query, TableScan


def asked(*scans: tuple[str, str], count: int = 1) -> ParsedQuery:
    """A query that scans these tables, each with the columns that it reads of it."""
    true = Literal(True, BOOLEAN)
    found = tuple(TableScan(table, true, tuple(columns.split())) for table, columns in scans)
    return ParsedQuery(Query("SELECT ...", count=count), found)


def derived(*queries: ParsedQuery) -> tuple[Denormalisation, ...]:
    return denormalisations(ParsedWorkload(queries))


def test_only_columns_of_join_queries_are_taken() -> None:
    (found,) = derived(
        asked(("line", "key price"), ("order", "key date")),
        asked(("line", "comment")),
        asked(("order", "clerk"), count=100),
        asked(("line", "key tax"), ("order", "key"), count=3),
    )
    assert found.columns == {"line": ("key", "price", "tax"), "order": ("key", "date")}
    assert found.weight == 4


def test_the_tables_of_a_snowflake_belong_together() -> None:
    (found,) = derived(
        asked(("line", "okey"), ("order", "okey ckey")),
        asked(("customer", "ckey nation"), ("nation", "name id")),
        asked(("order", "ckey"), ("customer", "ckey segment")),
    )
    assert set(found.tables) == {"line", "order", "customer", "nation"}
    assert found.columns["customer"] == ("ckey", "nation", "segment")


def test_tables_that_nobody_joins_have_denormalisations_of_their_own_the_most_asked_first() -> None:
    few, many = (asked((a, "x"), (b, "y"), count=n) for a, b, n in (("a", "b", 2), ("c", "d", 7)))
    assert [each.tables for each in derived(few, many)] == [("c", "d"), ("a", "b")]
    assert derived(asked(("a", "x"))) == ()


def test_a_query_that_reads_a_table_twice_is_left_out_and_counted() -> None:
    twice = asked(("line", "key"), ("nation", "id"), ("nation", "id name"), count=5)
    (found,) = derived(asked(("line", "key"), ("nation", "id")), twice)
    assert found.columns == {"line": ("key",), "nation": ("id",)}
    assert (found.weight, found.self_joins) == (1, 5)
    assert derived(twice) == ()
    assert derived(asked(("line", "key"), ("line", "price"))) == (), "joined with itself alone"


def test_a_table_of_which_nothing_is_read_is_joined_all_the_same() -> None:
    (found,) = derived(asked(("line", "price"), ("calendar", "")))
    assert found.columns == {"line": ("price",), "calendar": ()}


def test_the_order_of_the_log_decides_nothing_but_the_order_of_names() -> None:
    queries = [
        asked(("a", "x"), ("b", "y")),
        asked(("b", "z"), ("c", "w")),
        asked(("d", "v"), ("e", "u"), count=9),
    ]
    one, other = derived(*queries), derived(*queries[::-1])
    assert [set(each.tables) for each in one] == [set(each.tables) for each in other]
    assert [each.weight for each in one] == [each.weight for each in other] == [9, 2]
