"""Horizontal partitions: valid for exactly the files that they cover, readable by the same columns."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.catalog.replica_parts import files, part

from skipstone.catalog import Files
from skipstone.catalog.replicas import NO_REPLICAS, Replicas, holds_columns, replicas_of
from skipstone.catalog.types_json import PHYSICAL_NAME

# Validity


def test_without_partitions_nothing_is_valid() -> None:
    assert len(NO_REPLICAS) == 0
    assert NO_REPLICAS.valid_in(files("a")).tolist() == []
    assert NO_REPLICAS.ids() == NO_REPLICAS.partition_values == ()


def test_a_partition_is_valid_where_all_its_files_are_among_others() -> None:
    replicas = replicas_of([part("r.1", files("a", "b")), part("r.2", files("c"))])
    assert replicas.valid_in(files("c", "b", "x", "a")).tolist() == [True, True]
    assert replicas.valid_in(files("a", "c")).tolist() == [False, True], "b is gone"
    assert replicas.valid_in(files()).tolist() == [False, False]


@pytest.mark.parametrize(
    "now", [files("a", size=1001), files("a", time=8), files("a", vectors={"a": "u1:3"})]
)
def test_a_file_of_another_size_time_or_deletion_vector_makes_it_invalid(now: Files) -> None:
    assert replicas_of([part("r.1", files("a"))]).valid_in(files("a")).tolist() == [True]
    assert replicas_of([part("r.1", files("a"))]).valid_in(now).tolist() == [False]


@pytest.mark.parametrize(
    ("now", "valid"),
    [
        ({"a": "u1:3"}, True),
        ({"a": "u1:4"}, False),
        ({"a": "u2:3"}, False),
        ({"b": "u1:3"}, False),
        ({}, False),
    ],
)
def test_a_copy_of_the_rows_that_a_deletion_vector_leaves_needs_the_same_vector(
    now: dict[str, str], valid: bool
) -> None:
    replicas = replicas_of([part("r.1", files("a", vectors={"a": "u1:3"}))])
    assert replicas.valid_in(files("a", "b", vectors=now)).tolist() == [valid]


def test_files_are_numbered_by_path_size_time_and_vector() -> None:
    some = [
        files("a", "b"),
        files("b"),
        files("b", size=2),
        files("b", time=2),
        files("b", vectors={"b": "v:1"}),
    ]
    replicas = replicas_of([part(f"r.{number}", covered) for number, covered in enumerate(some)])
    assert replicas.covered_number.tolist() == [0, 1, 1, 2, 3, 4]
    assert replicas.covered_by.tolist() == [0, 0, 1, 2, 3, 4]


def test_blocks_know_their_partition_and_replicas_are_told_oldest_first() -> None:
    one = replace(part("r.1", files("a"), [1, 2, 3]), partition_values=("x", "y", "z"))
    two = replace(part("q.2", files("a"), [4]), created="2025-01-01T00:00:00+00:00")
    replicas = replicas_of([one, two])
    assert replicas.part_of.tolist() == [0, 0, 0, 1]
    assert replicas.catalog.files.sizes.tolist() == [1, 2, 3, 4]
    assert replicas.partition_values == ("x", "y", "z", "")
    assert replicas.ids() == ("q", "r")
    assert [each.name for each in replicas.parts] == ["r.1", "q.2"]


@st.composite
def _histories(draw: st.DrawFn) -> tuple[Replicas, Files]:
    """Some partitions, and a snapshot in which some of the files that they cover are others."""
    paths = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=4, unique=True)
    identity = st.tuples(
        st.sampled_from([1, 2]), st.sampled_from([1, 2]), st.sampled_from(["", "u:1", "w:1"])
    )

    def some(names: list[str]) -> Files:
        drawn = [draw(identity) for _ in names]
        vectors = tuple(each[2] for each in drawn)
        return Files(
            tuple(names),
            np.array([each[0] for each in drawn], np.int64),
            np.array([each[1] for each in drawn], np.int64),
            vectors if any(vectors) else (),
        )

    parts = [part(f"r.{number}", some(draw(paths))) for number in range(draw(st.integers(0, 4)))]
    return replicas_of(parts), some(draw(paths))


def _identities(some: Files) -> set[tuple[str, int, int, str]]:
    vectors = some.vectors or ("",) * len(some)
    return set(zip(some.paths, some.sizes.tolist(), some.times.tolist(), vectors, strict=True))


@given(_histories())
def test_property_a_partition_is_valid_exactly_if_the_snapshot_has_all_it_covers(
    history: tuple[Replicas, Files],
) -> None:
    replicas, snapshot = history
    expected = [_identities(each.covered) <= _identities(snapshot) for each in replicas.parts]
    assert replicas.valid_in(snapshot).tolist() == expected


# Columns


def field(name: str, type_: object, physical: str = "", nullable: bool = True) -> dict[str, Any]:
    metadata = {PHYSICAL_NAME: physical} if physical else {}
    return {"name": name, "type": type_, "nullable": nullable, "metadata": metadata}


def struct(*fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "struct", "fields": list(fields)}


def array(element: object, contains_null: bool = True) -> dict[str, Any]:
    return {"type": "array", "elementType": element, "containsNull": contains_null}


def map_of(key: object, value: object) -> dict[str, Any]:
    return {"type": "map", "keyType": key, "valueType": value, "valueContainsNull": True}


def holds(stored: object, asked: object) -> bool:
    return holds_columns(json.dumps(stored), json.dumps(asked))


A, S = field("a", "integer"), field("s", "string")


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        (struct(A, S), struct(A, S)),
        (struct(A, S), struct(S, A)),
        (struct(A, S), struct(A)),
        (struct(A), struct(field("a", "integer", nullable=False))),
        (struct(field("v", struct(A, S))), struct(field("v", struct(S)))),
        (struct(field("v", array(struct(A, S)))), struct(field("v", array(struct(A), contains_null=False)))),
        (
            struct(field("v", map_of("string", array(struct(A, S))))),
            struct(field("v", map_of("string", array(struct(S))))),
        ),
        (struct(field("old", "integer", "col-1")), struct(field("new", "integer", "col-1"))),
        (
            struct(field("v", struct(field("old", "long", "col-2")), "col-1")),
            struct(field("w", struct(field("new", "long", "col-2")), "col-1")),
        ),
        (struct(A, S), struct()),
    ],
)
def test_files_that_have_all_columns_asked_for_can_be_read(stored: object, asked: object) -> None:
    assert holds(stored, asked)


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        (struct(A), struct(A, S)),
        (struct(A), struct(field("a", "long"))),
        (struct(A), struct(field("A", "integer"))),
        (struct(field("a", "decimal(10,2)")), struct(field("a", "decimal(12,2)"))),
        (struct(field("a", "timestamp")), struct(field("a", "timestamp_ntz"))),
        (struct(field("v", struct(A))), struct(field("v", struct(A, S)))),
        (struct(field("v", struct(A))), struct(field("v", array("integer")))),
        (struct(field("v", "integer")), struct(field("v", struct(A)))),
        (struct(field("v", struct(A))), struct(field("v", "integer"))),
        (struct(field("v", array("integer"))), struct(field("v", array("long")))),
        (struct(field("v", array(struct(A)))), struct(field("v", array(struct(A, S))))),
        (struct(field("v", map_of("string", "integer"))), struct(field("v", map_of("string", "long")))),
        (struct(field("v", map_of("integer", "integer"))), struct(field("v", map_of("long", "integer")))),
        (
            struct(field("v", map_of("string", struct(A)))),
            struct(field("v", map_of("string", struct(field("a", "short"))))),
        ),
        # A column was dropped, and another of its name and type was added.
        (struct(field("a", "integer", "col-1")), struct(field("a", "integer", "col-2"))),
        (struct(A), struct(field("a", "integer", "col-1"))),
        # Two columns have swapped their names, and their types differ.
        (
            struct(field("a", "integer", "col-1"), field("b", "string", "col-2")),
            struct(field("a", "integer", "col-2"), field("b", "string", "col-1")),
        ),
        (
            struct(field("v", struct(field("a", "long", "col-2")), "col-1")),
            struct(field("v", struct(field("a", "long", "col-3")), "col-1")),
        ),
        # What this version of skipstone has never heard of is not taken for the same.
        (
            struct(field("v", {"type": "udt", "class": "x", "sqlType": "integer"})),
            struct(A, field("v", {"type": "udt", "class": "y", "sqlType": "integer"})),
        ),
    ],
)
def test_files_that_lack_a_column_or_have_it_in_another_type_cannot_be_read(
    stored: object, asked: object
) -> None:
    assert not holds(stored, asked)


_NAMES = st.sampled_from("abcdefg")
_LEAVES = st.sampled_from(["integer", "long", "string", "decimal(10,2)", "timestamp"])


def _structs(types: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(_NAMES, types, min_size=1, max_size=3).map(
        lambda fields: struct(*(field(name, type_, f"col-{name}") for name, type_ in fields.items()))
    )


_TYPES = st.recursive(
    _LEAVES,
    lambda types: st.one_of(
        _structs(types), types.map(array), st.tuples(_LEAVES, types).map(lambda kv: map_of(*kv))
    ),
    max_leaves=6,
)
SCHEMAS = _structs(_TYPES)


def _each_struct(type_: Any, change: Callable[[dict[str, Any]], None]) -> None:
    """Change all structs inside a type, innermost first."""
    if isinstance(type_, dict):
        for key in ("elementType", "keyType", "valueType"):
            _each_struct(type_.get(key), change)
        for each in type_.get("fields", ()):
            _each_struct(each["type"], change)
        if type_["type"] == "struct":
            change(type_)


@given(SCHEMAS, st.randoms(use_true_random=False))
def test_property_columns_left_out_renamed_and_in_another_order_are_held(
    schema: dict[str, Any], random: Any
) -> None:
    asked = deepcopy(schema)

    def change(found: dict[str, Any]) -> None:
        random.shuffle(found["fields"])
        del found["fields"][random.randint(1, len(found["fields"])) :]
        for each in found["fields"]:
            each["name"] += str(random.randint(0, 9))
            each["nullable"] = random.random() < 0.5

    _each_struct(asked, change)
    assert holds(schema, asked)


@given(SCHEMAS, st.randoms(use_true_random=False))
def test_property_one_column_more_or_of_another_type_is_not_held(schema: dict[str, Any], random: Any) -> None:
    structs: list[dict[str, Any]] = []
    asked = deepcopy(schema)
    _each_struct(asked, structs.append)
    found = random.choice(structs)
    if random.random() < 0.5:
        found["fields"].append(field("more", "integer", "col-more"))
    else:
        random.choice(found["fields"])["type"] = "binary"
    assert not holds(schema, asked)
