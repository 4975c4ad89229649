"""A segment is the same after it was stored, and whatever else is found is no segment."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.catalog.segments import EVERY_TYPE, A, S, bounds, feature, segment, value_sets

from skipstone.catalog import Segment, decode, encode
from skipstone.catalog.segment import FORMAT
from skipstone.catalog.store import digest_of
from skipstone.errors import SkipstoneError
from skipstone.predicate.expr import Call, Column, Expr, Value, is_opaque
from skipstone.predicate.types import DOUBLE, INT, STRING, Type
from skipstone.pruning.blocks import Statistics


def again(stored: Segment) -> Segment:
    return decode(encode(stored))


def same(left: Value, right: Value) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        # repr tells -0.0 from 0.0 and takes NaN for NaN.
        return repr(left) == repr(right)
    return type(left) is type(right) and left == right


def assert_same_statistics(left: Statistics, right: Statistics) -> None:
    assert left.type == right.type
    for side in ("low", "high"):
        before, after = getattr(left, side), getattr(right, side)
        assert before.type == after.type
        assert all(map(same, before.to_pylist(), after.to_pylist()))
    np.testing.assert_array_equal(left.nulls, right.nulls)
    np.testing.assert_array_equal(left.nans, right.nans)


@pytest.mark.parametrize("name", EVERY_TYPE)
def test_bounds_of_every_type_come_back_exactly(name: str) -> None:
    type_ = Type.parse(name)
    column = Column(("x", "nested.with`odd name"), type_)
    kept = bounds(type_, *EVERY_TYPE[name], nulls=[3, -1], nans=[0, -1])
    found = again(segment(["f0", "f1"], {column: kept}))
    assert list(found.blocks.statistics) == [column]
    assert_same_statistics(found.blocks.statistics[column], kept)


@pytest.mark.parametrize("name", EVERY_TYPE)
def test_value_sets_of_every_type_come_back_exactly(name: str) -> None:
    type_ = Type.parse(name)
    low, high = EVERY_TYPE[name]
    dictionary = [low[0], high[0]]
    column = Column(("x",), type_)
    kept = bounds(type_, low, high, values=value_sets(dictionary, [[low[0]], None]))
    values = again(segment(["f0", "f1"], {column: kept})).blocks.statistics[column].values
    assert values is not None
    assert all(map(same, values.dictionary, dictionary))
    assert values.words.tolist() == [[1], [0]]
    assert values.known.tolist() == [True, False]


def test_ranges_come_back_and_only_they_need_a_format_that_earlier_versions_refuse() -> None:
    sets = replace(value_sets(["a", "m"], [["a"], ["m"]]), last=("l", "z"))
    data = encode(segment(["f0", "f1"], {S: bounds(STRING, ["a", "m"], ["l", "z"], values=sets)}))
    values = decode(data).blocks.statistics[S].values
    assert values is not None
    assert (values.dictionary, values.last) == (("a", "m"), ("l", "z"))
    assert format_of(data) == FORMAT == 3
    plain = bounds(STRING, ["a"], ["a"], values=value_sets(["a"], [["a"]]))
    assert format_of(encode(segment(["f"], {S: plain}))) == 2
    header = json.loads(pq.read_table(io.BytesIO(data)).schema.metadata[b"skipstone"])
    header["statistics"][0]["last"] = ["l"]
    with pytest.raises(SkipstoneError, match="not every range has an end"):
        decode(rewritten(data, statistics=header["statistics"]))


def format_of(data: bytes) -> int:
    return int(json.loads(pq.read_table(io.BytesIO(data)).schema.metadata[b"skipstone"])["format"])


def test_nan_in_a_value_set_comes_back_as_nan() -> None:
    column = Column(("x",), DOUBLE)
    nan = math.nan
    kept = bounds(DOUBLE, [1.0], [1.0], nans=[2], values=value_sets([1.0, nan], [[1.0, nan]]))
    values = again(segment(["f"], {column: kept})).blocks.statistics[column].values
    assert values is not None
    assert values.words.tolist() == [[3]]
    assert values.dictionary[0] == 1.0
    assert repr(values.dictionary[1]) == "nan"


def test_more_values_and_features_than_a_word_has_bits_come_back() -> None:
    numbers = list(range(130))
    kept = bounds(INT, [0, 0], [129, 129], values=value_sets(numbers, [[0, 63, 64, 129], numbers]))
    bits = {feature(A, number): [number % 3 == 0, number == 129] for number in numbers}
    stored = segment(["f0", "f1"], {A: kept}, bits)
    found = again(stored).blocks
    values = found.statistics[A].values
    assert values is not None
    assert kept.values is not None
    np.testing.assert_array_equal(values.words, kept.values.words)
    assert found.features == stored.blocks.features
    np.testing.assert_array_equal(found.unions, stored.blocks.unions)
    np.testing.assert_array_equal(found.union_known, stored.blocks.union_known)


def test_files_settings_time_and_the_sql_of_expressions_come_back() -> None:
    month = Call("month", (Column(("d",), Type.parse("date")),), INT)
    stored = segment(
        ["dir=ä b/part 1.parquet", "p%20q"],
        {month: bounds(INT, [1, 2], [3, 4]), S: bounds(STRING, ["a", None], ["b", None])},
        texts={month: "month(d)"},
    )
    found = again(stored)
    assert found.files.paths == stored.files.paths
    assert found.files.sizes.tolist() == [1000, 1000]
    assert found.files.times.tolist() == [5, 5]
    assert found.blocks.rows.tolist() == [10, 10]
    assert found.settings == stored.settings
    assert found.created == stored.created
    assert found.texts == {month: "month(d)"}


def test_a_segment_without_files_comes_back() -> None:
    found = again(segment([], {A: bounds(INT, [], [])}, {feature(A, 1): []}))
    assert len(found.files) == 0
    assert found.blocks.unions.shape == (0, 1)


@pytest.mark.parametrize("group", [None, 0, 7])
def test_the_layout_and_the_column_group_come_back(group: int | None) -> None:
    found = again(replace(segment(["f"]), layout="5d0c2f6e91ab", group=group))
    assert (found.layout, found.group) == ("5d0c2f6e91ab", group)


def test_a_segment_of_format_1_is_read_and_holds_all_columns() -> None:
    (path,) = (Path(__file__).parent / "data").glob("00000001-*.parquet")
    data = path.read_bytes()
    assert digest_of(data) in path.name
    found = decode(data, path.name)
    assert (found.layout, found.group) == ("5d0c2f6e91ab", None)
    assert found.files.paths == ("a.parquet", "b.parquet")
    assert_same_statistics(found.blocks.statistics[A], bounds(INT, [1, 5], [4, 9]))
    assert list(found.texts.values()) == ["month(d)"]
    assert [feature.text for feature in found.blocks.features] == ["s = 'x'"]
    assert found.blocks.unions.tolist() == [[1], [0]]


def rewritten(data: bytes, **changes: object) -> bytes:
    """The segment's bytes with another header."""
    table = pq.read_table(io.BytesIO(data))
    header = json.loads(table.schema.metadata[b"skipstone"]) | changes
    out = io.BytesIO()
    pq.write_table(table.replace_schema_metadata({"skipstone": json.dumps(header)}), out)
    return out.getvalue()


def test_a_newer_format_is_refused_with_the_advice_to_upgrade() -> None:
    data = rewritten(encode(segment(["f"])), format=FORMAT + 1)
    with pytest.raises(SkipstoneError, match=r"^here was written by a newer skipstone .* upgrade skipstone"):
        decode(data, "here")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"PAR1",
        b"not Parquet at all",
        encode(segment(["f"]))[:-9],
        rewritten(encode(segment(["f"])), statistics=[{"expr": ["column", ["a"], "integer"]}]),
        rewritten(encode(segment(["f"])), features=[{"sql": "a", "expr": ["no such node"]}]),
        rewritten(encode(segment(["f"])), format="one"),
        rewritten(encode(segment(["f"])), group="one"),
        rewritten(encode(segment(["f"])), group=-1),
        rewritten(encode(segment(["f"])), group=True),
        encode(segment(["f", "f"])),
    ],
    ids=[
        "empty",
        "magic",
        "text",
        "cut",
        "statistics",
        "feature",
        "version",
        "group",
        "no group",
        "true",
        "path twice",
    ],
)
def test_damage_is_one_sentence_that_names_the_file(data: bytes) -> None:
    with pytest.raises(
        SkipstoneError, match=r"^t/_skipstone/x is damaged \(.*\); delete it and index again\.$"
    ) as e:
        decode(data, "t/_skipstone/x")
    assert "\n" not in str(e.value)


def test_a_parquet_file_of_somebody_else_is_damage() -> None:
    out = io.BytesIO()
    pq.write_table(pa.table({"a": [1]}), out)
    with pytest.raises(SkipstoneError, match="is damaged"):
        decode(out.getvalue())


def test_what_cannot_be_read_of_a_segment_is_left_out_and_named(caplog: pytest.LogCaptureFixture) -> None:
    """Such as a kind of expression that a later skipstone has; bits keep their indices."""
    kept: dict[Expr, Statistics] = {A: bounds(INT, [1, 2], [3, 4]), S: bounds(STRING, ["a", "b"], ["c", "d"])}
    features = {feature(A, 7): [True, False], feature(S, "x"): [False, True]}
    data = encode(segment(["f0", "f1"], kept, features))
    table = pq.read_table(io.BytesIO(data))
    header = json.loads(table.schema.metadata[b"skipstone"])
    header["features"][0]["expr"] = header["statistics"][0]["expr"] = ["from the future", 1]
    out = io.BytesIO()
    pq.write_table(table.replace_schema_metadata({b"skipstone": json.dumps(header).encode()}), out)
    found = decode(out.getvalue())
    assert list(found.blocks.statistics) == [S]
    assert_same_statistics(found.blocks.statistics[S], kept[S])
    assert is_opaque(found.blocks.features[0].predicate)
    assert found.blocks.features[1] == list(features)[1]
    assert found.blocks.unions.tolist() == decode(data).blocks.unions.tolist()
    assert next(iter(features)).text in caplog.text
