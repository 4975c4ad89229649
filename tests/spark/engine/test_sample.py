"""Samples for fitting: what the driver gets of long texts and of oddly named columns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pyspark.sql import SparkSession

from skipstone.catalog.column_names import ColumnNames
from skipstone.predicate.expr import Column, Comparison, Expr, Literal
from skipstone.predicate.types import STRING
from skipstone.spark.engine import sample
from skipstone.spark.engine.assign import LogicalNames
from skipstone.spark.engine.sample import draw, ordered_inputs, vector_counts


def test_of_long_texts_the_driver_gets_the_beginning_and_the_truth_of_all(
    spark: SparkSession, tmp_path: Path
) -> None:
    texts = "concat(lpad(id, 3, '0'), repeat('ø', 5000), 'end', id)"
    spark.range(0, 100, 1, 2).selectExpr(f"{texts} AS _metadata").write.parquet(str(tmp_path / "texts"))
    frame = spark.read.parquet(str(tmp_path / "texts"))
    column = Column(("_metadata",), STRING)
    text = frame.where("_metadata LIKE '007%'").first()[0]  # type: ignore[index]
    atom: Expr = Comparison("=", column, Literal(text, STRING))
    names = LogicalNames.of(ColumnNames.from_schema(frame.schema.json()))
    drawn = draw(frame, 100, 1_000, [atom], ordered_inputs([atom]), names)
    assert drawn.sample.bits.sum() == 1
    values = drawn.sample.columns[column].to_pylist()
    assert len(set(values)) == 100
    assert {len(value) for value in values} == {256}
    assert len(drawn.file_paths) == 2, "of a table with a column of that name too"


def test_of_too_many_vectors_those_of_the_most_rows_are_kept(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sample, "_MOST_VECTORS", 2)
    frame = spark.range(100)
    names = LogicalNames.of(ColumnNames.from_schema(frame.schema.json()))
    vectors, counts, _ = vector_counts(frame, ["id < 50", "id < 80", "id >= 95"], None, names)
    assert dict(zip(map(tuple, vectors.tolist()), counts.tolist(), strict=True)) == {
        (True, True, False): 50,
        (False, True, False): 30,
    }
    assert counts.dtype == np.int64
