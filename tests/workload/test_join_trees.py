"""Stars out of the joins of a log: which tables are joined, by which keys, and which columns queries need."""

from __future__ import annotations

import pytest

from skipstone.predicate.expr import Column, Comparison, Literal
from skipstone.predicate.types import BOOLEAN, INT
from skipstone.workload.join_trees import JoinTree, Link, Star, star_of
from skipstone.workload.queries import Query, TableScan

TRUE = Literal(True, BOOLEAN)


def tree(tables: dict[str, str], *equal: str, count: int = 1) -> JoinTree:
    """Joins of tables, each with the columns that are needed, where ``a.x=b.y`` for each of ``equal``."""
    scans = tuple(TableScan(table, TRUE, tuple(columns.split())) for table, columns in tables.items())
    pairs = [tuple(tuple(side.split(".")) for side in each.split("=")) for each in equal]
    query = Query("SELECT ...", count=count)
    return JoinTree(query, scans, tuple((left, right) for left, right in pairs), TRUE, tuple(tables))  # type: ignore[misc]


def star(*trees: JoinTree, repeated: tuple[str, ...] = ()) -> Star:
    """The star around facts; the keys in ``repeated``, as ``table.column``, are not unique."""

    def problem(link: Link) -> str:
        return "not unique" if {f"{link.table}.{own}" for _, own in link.keys} <= set(repeated) else ""

    return star_of(trees, "facts", problem)


def test_a_snowflake_follows_links_from_the_facts() -> None:
    found = star(
        tree({"facts": "o price", "orders": "id c"}, "facts.o=orders.id"),
        tree(
            {"nation": "id name", "customer": "id n", "facts": "o", "orders": "id c"},
            "customer.n=nation.id",
            "facts.o=orders.id",
            "orders.c=customer.id",
        ),
    )
    assert found.links == (
        Link("facts", "orders", (("o", "id"),)),
        Link("orders", "customer", (("c", "id"),)),
        Link("customer", "nation", (("n", "id"),)),
    )
    assert found.columns["facts"] == ("o", "price")
    assert found.columns["customer"] == ("id", "n")
    assert len(found.trees) == 2


def test_a_key_that_is_not_unique_is_passed_over_for_another_one() -> None:
    both = tree(
        {"facts": "c s", "customer": "id n", "supplier": "id n"},
        "facts.s=supplier.id",
        "customer.n=supplier.n",
        count=5,
    )
    direct = tree({"facts": "c", "customer": "id"}, "facts.c=customer.id")
    found = star(both, direct, repeated=("customer.n",))
    assert Link("facts", "customer", (("c", "id"),)) in found.links
    assert found.unjoined == ()


def test_a_table_without_a_unique_key_is_left_out_with_the_reason_and_so_are_its_queries() -> None:
    found = star(
        tree({"facts": "o", "orders": "id"}, "facts.o=orders.id"),
        tree({"facts": "d", "days": "month"}, "facts.d=days.month"),
        repeated=("days.month",),
    )
    assert [link.table for link in found.links] == ["orders"]
    assert [(each.table, each.reason) for each in found.unjoined] == [("days", "not unique")]
    assert len(found.trees) == 1


def test_keys_of_several_columns_are_one_key() -> None:
    found = star(tree({"facts": "p s", "offer": "p s"}, "facts.p=offer.p", "offer.s=facts.s"))
    assert found.links == (Link("facts", "offer", (("p", "p"), ("s", "s"))),)


@pytest.mark.parametrize(
    "other",
    [
        tree({"a": "x", "b": "y"}, "a.x=b.y"),
        tree({"facts": "x", "b": ""}),
    ],
    ids=["without the facts", "without equal keys"],
)
def test_joins_that_lead_nowhere_make_no_star(other: JoinTree) -> None:
    assert star(other).links == ()


def test_a_query_that_reads_a_table_twice_gives_no_columns() -> None:
    twice = JoinTree(
        Query("SELECT ..."),
        (TableScan("facts", TRUE, ("o", "z")), TableScan("o", TRUE, ("id",)), TableScan("o", TRUE, ("id",))),
        ((("facts", "o"), ("o", "id")),),
        TRUE,
        ("facts", "o"),
    )
    found = star(twice, tree({"facts": "o", "o": "id"}, "facts.o=o.id"))
    assert found.columns["facts"] == ("o",)
    assert len(found.trees) == 1


def test_a_filter_takes_the_names_of_the_copy() -> None:
    filter_ = Comparison("<", Column(("1.price", "net"), INT), Literal(3, INT))
    made = JoinTree(Query("SELECT ..."), (), (), filter_, ("facts", "orders"))
    assert made.filter_by({"orders": {"price": "p"}}) == Comparison(
        "<", Column(("p", "net"), INT), Literal(3, INT)
    )
    with pytest.raises(KeyError):
        made.filter_by({"orders": {}})
