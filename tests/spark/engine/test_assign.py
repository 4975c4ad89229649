"""Rows find their blocks by feature vectors of any number of words."""

from __future__ import annotations

import numpy as np
import pytest
from pyspark.sql import SparkSession

from skipstone.catalog.column_names import ColumnNames
from skipstone.layout.assignment import Clusters, Grid, VectorMap
from skipstone.layout.codec import assignment_from_json, assignment_to_json
from skipstone.layout.pack import pack
from skipstone.predicate.expr import Column, Comparison, Literal
from skipstone.predicate.types import LONG
from skipstone.spark.engine.assign import BLOCK, LogicalNames, with_block
from skipstone.spark.engine.sample import vector_counts

ID = Column(("id",), LONG)


@pytest.mark.parametrize("count", [63, 64, 65, 128, 200])
def test_every_bit_of_a_vector_decides(spark: SparkSession, count: int) -> None:
    """Row n has the features from number n on, so each of them tells two rows apart."""
    features = tuple(Comparison("<", ID, Literal(place + 1, LONG)) for place in range(count))
    bits = np.array([[row <= place for place in range(count)] for row in range(count + 1)])
    numbers = np.arange(count + 1, dtype=np.int32)
    frame = spark.range(0, count + 1, 1, 1)
    names = LogicalNames.of(ColumnNames.from_schema(frame.schema.json()))
    ways = np.ones(count + 1, np.int32)
    by_vector = VectorMap(features, pack(bits), numbers, ways, 0, count + 1)
    clusters = Clusters(features, pack(bits), numbers, 0, count + 1)
    for assignment in (by_vector, Grid((clusters,), numbers, count + 1)):
        stored = assignment_from_json(assignment_to_json(assignment))
        found = with_block(frame, stored, names).collect()
        assert {row["id"]: row[BLOCK] for row in found} == {row: row for row in range(count + 1)}
    vectors, counts, _ = vector_counts(frame, [names.sql(feature) for feature in features], None, names)
    assert counts.tolist() == [1] * (count + 1)
    assert {tuple(row) for row in vectors.tolist()} == {tuple(row) for row in bits.tolist()}
