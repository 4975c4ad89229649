"""Rows find their blocks: as on a sample, and by feature vectors of any number of words."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DateType, DoubleType, IntegerType, StringType, StructField, StructType
from tests.layout import cases
from tests.layout.assignments import assignments
from tests.layout.test_assignment import rows, sample_for

from skipstone.catalog.column_names import ColumnNames
from skipstone.catalog.logical_names import LogicalNames
from skipstone.layout.assignment import Assignment, Clusters, Grid, Partitioned, VectorMap, blocks_of
from skipstone.layout.assignment_json import assignment_from_json, assignment_to_json
from skipstone.layout.numbers import block_numbers
from skipstone.layout.pack import pack
from skipstone.predicate.expr import Column, Comparison, Literal
from skipstone.predicate.types import LONG
from skipstone.spark.engine.assign import BLOCK, Placing, with_block
from skipstone.spark.engine.draw_sample import count_vectors
from skipstone.spark.engine.engine import Engine
from skipstone.spark.engine.source import Source

ID = Column(("id",), LONG)


@pytest.fixture(scope="module")
def sampled(spark: SparkSession) -> DataFrame:
    """The rows of the pure tests, with their numbers."""
    types = (DateType(), DateType(), StringType(), StringType(), DoubleType(), IntegerType())
    columns = [StructField(column.path[0], type_) for column, type_ in zip(cases.COLUMNS, types, strict=True)]

    def value(column: Column, it: object) -> object:
        days = column in (cases.DAY, cases.SHIPPED) and it is not None
        return date(1970, 1, 1) + timedelta(days=int(str(it))) if days else it

    data = [
        (number, *(value(column, row[column]) for column in cases.COLUMNS))
        for number, row in enumerate(rows())
    ]
    return spark.createDataFrame(data, StructType([StructField("number", IntegerType()), *columns])).coalesce(
        1
    )


def spread_by_hash(assignment: Assignment) -> bool:
    """Whether Spark's hash of a row decides, which a sample need not follow."""
    parts = assignment.parts if isinstance(assignment, Partitioned) else (assignment,)
    maps = [part for part in parts if isinstance(part, VectorMap)]
    return any((part.ways > (1 if part.spread is None else part.spread.buckets)).any() for part in maps)


@given(assignments())
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), database=None)
def test_spark_puts_the_rows_of_a_sample_into_the_same_blocks(
    sampled: DataFrame, assignment: Assignment
) -> None:
    got = with_block(sampled, assignment, LogicalNames({}))
    assert got.columns == [*sampled.columns, BLOCK]
    found = sorted(got.select("number", BLOCK).collect())
    assert [row["number"] for row in found] == list(range(len(rows()))), "no row is lost or doubled"
    numbers = [row[BLOCK] for row in found]
    if spread_by_hash(assignment):
        assert all(0 <= number < assignment.blocks for number in numbers)
    else:
        sample, atoms = sample_for(assignment)
        assert numbers == block_numbers(assignment, sample, atoms).tolist()


@pytest.mark.parametrize("count", [63, 64, 65, 128, 200])
def test_every_bit_of_a_vector_decides(spark: SparkSession, tmp_path: Path, count: int) -> None:
    """Row n has the features from number n on, so each of them tells two rows apart."""
    features = tuple(Comparison("<", ID, Literal(number + 1, LONG)) for number in range(count))
    bits = np.array([[row <= number for number in range(count)] for row in range(count + 1)])
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
    frame.write.parquet(str(tmp_path / "ids"))
    table = Source(Engine.of(spark), str(tmp_path / "ids")).open()
    texts = [names.sql(feature) for feature in features]
    counted = count_vectors(table, table.file_indices, texts, None)
    assert counted.counts.tolist() == [1] * (count + 1)
    assert {tuple(row) for row in counted.vectors.tolist()} == {tuple(row) for row in bits.tolist()}


@pytest.mark.parametrize("options", [{}, {"balance": "worst"}, {"keys": "kind,day,price"}])
def test_spark_walks_a_hyper_tree_of_more_leaves_than_one_expression_holds_as_the_sample_does(
    sampled: DataFrame, options: dict[str, str]
) -> None:
    case = cases.case(block_rows=100)
    assignment = case.fit("hyper", **options).group.assignment
    assert assignment.blocks == 300
    sample, atoms = sample_for(assignment)
    expected = block_numbers(assignment, sample, atoms)
    found = with_block(sampled, assignment, LogicalNames({})).select("number", BLOCK).collect()
    assert {row[0]: row[1] for row in found} == dict(enumerate(expected.tolist()))
    assert len(set(expected.tolist())) > 30
    whole = Placing(assignment, LogicalNames({}), blocks_of(assignment))
    for placing in (whole, replace(whole, blocks=7)):
        assert placing.expression is not None
        dealt = placing.arranged(sampled, ["number"]).selectExpr("number", "spark_partition_id()").collect()
        assert {row[0]: row[1] for row in dealt} == dict(
            enumerate((expected.astype(np.int64) * placing.blocks // 300).tolist())
        )
