"""What is an assignment can be written and applied; what could not be is none."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from decimal import Decimal
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.layout import cases
from tests.layout.assignments import assignments, odd_values, predicates
from tests.layout.cases import CITY, DAY, KIND, PRICE, REGION, compare

from skipstone.catalog.logical_names import LogicalNames
from skipstone.layout.assignment import (
    MOST_DEPTH,
    Assignment,
    Clusters,
    Dimension,
    Grid,
    Node,
    Partitioned,
    Split,
    Tree,
    VectorMap,
    blocks_of,
)
from skipstone.layout.assignment_json import assignment_from_json, assignment_to_json
from skipstone.layout.assignment_sql import block_sql, bucket_sql, partition_sql
from skipstone.layout.contract import ColumnGroup, Design
from skipstone.layout.numbers import block_numbers
from skipstone.layout.sample import Sample
from skipstone.predicate.canonical import is_value_of
from skipstone.predicate.expr import Column, Expr, Opaque, Value
from skipstone.predicate.types import Type
from skipstone.pruning.blocks import Feature

NAMES = LogicalNames({})
BONN, EARLY = compare("=", CITY, "Bonn"), compare("<", DAY, 3)
ONE, TWO = (np.array([[number]], np.uint64) for number in (1, 2))
ZERO = np.zeros(1, np.int32)
VECTORS = VectorMap((BONN,), ONE, ZERO, ZERO + 1, 0, 1)
CLUSTERS = Clusters((BONN,), ONE, ZERO, 0, 1)
AXIS = Dimension(DAY, (5,))
GRID = Grid((AXIS,), np.zeros(3, np.int32), 1)


@cache
def rows() -> list[dict[Column, object]]:
    return cases.rows_of(60, 3)


def predicates_in(assignment: Assignment) -> list[Expr]:
    found: list[Any] = [assignment]
    out: list[Expr] = []
    while found:
        match found.pop():
            case Tree(root=root):
                found.append(root)
            case Split(cut=cut, yes=yes, no=no):
                out.append(cut)
                found += [yes, no]
            case Grid(dimensions=axes):
                found += axes
            case Clusters(features=features) | VectorMap(features=features):
                out += features
            case Partitioned(parts=parts):
                found += parts
    return list(dict.fromkeys(out))


def sample_for(assignment: Assignment) -> tuple[Sample, list[Expr]]:
    """The rows with the bits of all predicates that place them."""
    atoms = predicates_in(assignment)
    sample = Sample(cases.bits_of(atoms, rows()), cases.column_arrays(rows()), 1.0)
    if isinstance(assignment, Partitioned):
        regions = [row[REGION] for row in rows()]
        listed = list(assignment.values)
        parts = [listed.index(region) if region in listed else len(listed) for region in regions]
        sample = replace(
            sample,
            partition=np.array(parts, np.int32),
            partition_values=assignment.values,
            partition_by=REGION,
        )
    return sample, atoms


def sql_of(assignment: Assignment) -> list[str]:
    """All texts that Spark gets; feature vectors go there as numbers."""
    match assignment:
        case Tree() | Grid():
            return [block_sql(assignment, NAMES)]
        case VectorMap(features=features, spread=spread):
            texts = [NAMES.sql(feature) for feature in features]
            return texts if spread is None else [*texts, bucket_sql(spread, NAMES)]
        case Partitioned(parts=parts):
            return [partition_sql(assignment, NAMES), *(text for part in parts for text in sql_of(part))]


@given(assignments())
@settings(max_examples=300, deadline=None)
def test_every_assignment_can_be_written_stored_and_applied(assignment: Assignment) -> None:
    assert all(sql_of(assignment))
    again = assignment_from_json(json.loads(json.dumps(assignment_to_json(assignment))))
    assert sql_of(again) == sql_of(assignment)
    sample, atoms = sample_for(assignment)
    numbers = block_numbers(assignment, sample, atoms)
    assert 0 <= numbers.min() <= numbers.max() < blocks_of(assignment)
    assert numbers.tolist() == block_numbers(again, sample, atoms).tolist()


@given(st.sampled_from([DAY, KIND, PRICE, REGION]), odd_values())
@settings(max_examples=300, deadline=None)
def test_a_dimension_of_any_values_can_be_written_or_cannot_be_made(
    column: Column, values: tuple[Value, ...]
) -> None:
    try:
        made = Dimension(column, values)
    except ValueError:
        return
    grid = Grid((made,), np.zeros(made.buckets, np.int32), 1)
    sample, _ = sample_for(grid)
    assert sql_of(grid)
    assert assignment_to_json(assignment_from_json(assignment_to_json(grid))) == assignment_to_json(grid)
    assert not block_numbers(grid, sample).any()


@given(st.lists(predicates(), max_size=3), st.data())
@settings(max_examples=200, deadline=None)
def test_a_map_of_any_numbers_can_be_applied_or_cannot_be_made(
    features: list[Expr], data: st.DataObject
) -> None:
    ints = st.lists(st.integers(-1, 4), max_size=4)
    words = data.draw(st.lists(st.integers(0, 7), max_size=3))
    try:
        made = VectorMap(
            tuple(features),
            np.array(words, np.uint64).reshape(-1, 1),
            np.array(data.draw(ints), np.int32),
            np.array(data.draw(ints), np.int32),
            data.draw(st.integers(-1, 4)),
            data.draw(st.integers(-1, 4)),
        )
    except ValueError:
        return
    sample, atoms = sample_for(made)
    numbers = block_numbers(made, sample, atoms)
    assert 0 <= numbers.min() <= numbers.max() < made.blocks
    assert len(set(words)) == len(words), "a vector that occurs twice would double its rows"


def odd(it: object) -> Any:
    """What a type checker would refuse."""
    return it


def chain(depth: int) -> Node:
    node: Node = 0
    for _ in range(depth):
        node = Split(BONN, node, 0)
    return node


def test_the_deepest_tree_can_be_written_and_read() -> None:
    tree = Tree(chain(MOST_DEPTH), 1)
    again = assignment_from_json(json.loads(json.dumps(assignment_to_json(tree))))
    assert sql_of(again) == sql_of(tree)
    with pytest.raises(ValueError, match="at most 200 cuts deep"):
        Tree(chain(MOST_DEPTH + 1), 1)


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: Tree(1, 1), "leaf is 1 and not below 1"),
        (lambda: Tree(-1, 1), "leaf is -1"),
        (lambda: Tree(True, 2), "leaf is True"),
        (lambda: Tree(odd(np.int32(0)), 1), "leaf is np.int32"),
        (lambda: Tree(0, 0), "blocks is 0"),
        (lambda: Tree(0, odd(np.int64(1))), "blocks is np.int64"),
        (lambda: Split(DAY, 0, 1), "day is no predicate"),
        (lambda: Split(Opaque("rand() < 1", "NON_DETERMINISTIC"), 0, 1), "SQL cannot say"),
        (lambda: Dimension(Opaque("rand()", "NON_DETERMINISTIC"), ()), "SQL cannot say"),
        (lambda: Dimension(Column(("m",), Type.parse("map<int,int>")), ()), "have no order"),
        (lambda: Dimension(DAY, (5, 5)), "do not increase"),
        (lambda: Dimension(PRICE, (math.nan, 1.0)), "do not increase"),
        (lambda: Dimension(PRICE, (0.0, -0.0)), "do not increase"),
        (lambda: Dimension(DAY, (5, "6")), "not all of the type date"),
        (lambda: Dimension(DAY, (None,)), "not all of the type date"),
        (lambda: Dimension(PRICE, (1,)), "not all of the type double"),
        (lambda: replace(CLUSTERS, features=()), "at least one feature"),
        (lambda: replace(CLUSTERS, features=(DAY,)), "no predicate"),
        (lambda: replace(CLUSTERS, features=(BONN,) * 65), "65 features have 2 words"),
        (lambda: replace(CLUSTERS, buckets=0), "buckets is 0"),
        (lambda: replace(CLUSTERS, otherwise=1), "otherwise is 1"),
        (lambda: replace(CLUSTERS, bucket_of=ZERO + 1), "a number of bucket_of is not below 1"),
        (lambda: replace(CLUSTERS, bucket_of=np.zeros(2, np.int32)), "bucket_of is not 1 numbers"),
        (lambda: replace(CLUSTERS, vectors=ONE.astype(np.int64)), "1 words"),
        (lambda: replace(GRID, dimensions=()), "at least one dimension"),
        (lambda: replace(GRID, block_of=np.zeros(2, np.int32)), "block_of is not 3 numbers"),
        (lambda: replace(GRID, block_of=np.zeros(3, np.int64)), "block_of is not 3 numbers"),
        (lambda: replace(GRID, block_of=np.array([0, -1, 0], np.int32)), "not below 1"),
        (lambda: Grid((CLUSTERS, CLUSTERS), ZERO, 1), "a grid has one Clusters"),
        (lambda: replace(VECTORS, vectors=np.repeat(ONE, 2, axis=0)), "a vector occurs twice"),
        (lambda: replace(VECTORS, ways=ZERO), "at least one block"),
        (lambda: replace(VECTORS, ways=ZERO + 2, blocks=2, first=ZERO + 1), "blocks that there are not"),
        (lambda: replace(VECTORS, otherwise=-1), "otherwise is -1"),
        (lambda: Partitioned(CITY, (), ()), "each value has one part"),
        (lambda: Partitioned(CITY, ("a",), ()), "each value has one part"),
        (lambda: Partitioned(CITY, ("b", "a"), (GRID, GRID)), "do not increase"),
        (lambda: Partitioned(CITY, (None,), (GRID,)), "not all of the type string"),
        (lambda: Partitioned(CITY, ("a",), odd((Partitioned(CITY, ("a",), (GRID,)),))), "not nested"),
        (
            lambda: Partitioned(
                CITY, ("a", "b"), (VECTORS, replace(VECTORS, features=(compare("<", DAY, 3),)))
            ),
            "same features",
        ),
        (lambda: Partitioned(CITY, ("a", "b"), (VECTORS, replace(VECTORS, spread=AXIS))), "spread alike"),
        (
            lambda: Partitioned(
                CITY,
                ("a", "b"),
                tuple(Grid((each,), ZERO, 1) for each in (CLUSTERS, replace(CLUSTERS, vectors=TWO))),
            ),
            "no clusters of their own",
        ),
        (lambda: Design(()), "at least one column group"),
        (lambda: Design((ColumnGroup(GRID), ColumnGroup(GRID, columns=("a",)))), "do not overlap"),
        (
            lambda: Design((ColumnGroup(GRID, columns=("a", "b")), ColumnGroup(GRID, columns=("b",)))),
            "do not overlap",
        ),
        (lambda: Design((ColumnGroup(GRID),), {"rows": np.int64(1)}), "parameters of a design are JSON"),
        (lambda: ColumnGroup(GRID, columns=()), "at least one column"),
        (lambda: ColumnGroup(GRID, (Opaque("rand()", "NON_DETERMINISTIC"),)), "SQL cannot say"),
        (lambda: ColumnGroup(GRID, features=(Feature(DAY, "day"),)), "day is no predicate"),
    ],
)
def test_what_could_not_be_applied_cannot_be_made(make: Any, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        make()


def test_a_design_of_one_group_has_it_and_others_say_why_not() -> None:
    whole = ColumnGroup(GRID)
    assert Design((whole,)).group is whole
    two = Design((ColumnGroup(GRID, columns=("a",)), ColumnGroup(VECTORS, columns=("b",))))
    with pytest.raises(Exception, match="A design of 2 column groups cannot be used where whole rows"):
        _ = two.group


@pytest.mark.parametrize(
    ("value", "type_", "holds"),
    [
        (127, "byte", True),
        (128, "byte", False),
        (True, "integer", False),
        (2**31, "date", False),
        (2**63 - 1, "timestamp", True),
        (1.5, "float", True),
        (1, "double", False),
        (Decimal("9.99"), "decimal(3,2)", True),
        (Decimal("9.990"), "decimal(3,2)", True),
        (Decimal("9.999"), "decimal(3,2)", False),
        (Decimal(10), "decimal(3,2)", False),
        (Decimal(0), "decimal(2,2)", True),
        (Decimal("NaN"), "decimal(3,2)", False),
        ("a", "string", True),
        (b"a", "string", False),
        (b"a", "binary", True),
        (False, "boolean", True),
        (1000, "time(6)", True),
        (1, "time(6)", False),
        ({}, "map<int,int>", False),
    ],
)
def test_values_are_of_their_type(value: Value, type_: str, holds: bool) -> None:
    assert is_value_of(value, Type.parse(type_)) is holds
