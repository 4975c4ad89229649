from __future__ import annotations

from skipstone.predicate.expr import And, Column, Comparison, Expr, Literal, Opaque, Or
from skipstone.predicate.types import INT
from skipstone.pruning.partitions import on_partitions, partition_filter

P, Q, X = (Column((name,), INT) for name in "pqx")
PARTITIONS = frozenset({P.path, Q.path})


def equals(column: Column, value: int) -> Expr:
    return Comparison("=", column, Literal(value, INT))


def test_a_condition_that_reads_nothing_but_partition_columns_is_sparks() -> None:
    assert on_partitions(equals(P, 1), PARTITIONS)
    assert on_partitions(Or((equals(P, 1), equals(Q, 2))), PARTITIONS)


def test_a_condition_on_data_on_nothing_or_with_an_opaque_part_is_not() -> None:
    assert not on_partitions(equals(X, 1), PARTITIONS)
    assert not on_partitions(Or((equals(P, 1), equals(X, 2))), PARTITIONS)
    assert not on_partitions(Comparison("=", Literal(1, INT), Literal(1, INT)), PARTITIONS)
    assert not on_partitions(Or((equals(P, 1), Opaque("udf(p)", "UDF", (P,)))), PARTITIONS)


def test_of_a_filter_only_the_conditions_on_partitions_are_left() -> None:
    both = Or((equals(P, 3), equals(X, 4)))
    assert partition_filter(And((equals(P, 1), equals(X, 2), both)), PARTITIONS) == equals(P, 1)
    found = partition_filter(And((equals(P, 1), equals(Q, 2), equals(X, 3))), PARTITIONS)
    assert isinstance(found, And)
    assert set(found.args) == {equals(P, 1), equals(Q, 2)}
    assert partition_filter(equals(X, 2), PARTITIONS) is None
