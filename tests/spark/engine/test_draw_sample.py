"""Samples for fitting: what the driver gets of long texts and of oddly named columns."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from skipstone.predicate.expr import Column, Comparison, Expr, Literal
from skipstone.predicate.types import STRING
from skipstone.spark.engine import draw_sample
from skipstone.spark.engine.draw_sample import Request, count_vectors, draw, ordered_inputs
from skipstone.spark.engine.engine import Engine
from skipstone.spark.engine.source import Source


def test_of_long_texts_the_driver_gets_the_beginning_and_the_truth_of_all(
    spark: SparkSession, tmp_path: Path
) -> None:
    texts = "concat(lpad(id, 3, '0'), repeat('ø', 5000), 'end', id)"
    spark.range(0, 100, 1, 2).selectExpr(f"{texts} AS _metadata").write.parquet(str(tmp_path / "texts"))
    table = Source(Engine.of(spark), str(tmp_path / "texts")).open()
    frame = table.live(table.file_indices)
    column = Column(("_metadata",), STRING)
    text = frame.where("_metadata LIKE '007%'").first()[0]  # type: ignore[index]
    atom: Expr = Comparison("=", column, Literal(text, STRING))
    drawn = draw(table, Request(table.file_indices, 100, 1_000, (atom,), ordered_inputs([atom])))
    assert drawn.sample.bits.sum() == 1
    values = drawn.sample.columns[column].to_pylist()
    assert len(set(values)) == 100
    assert {len(value) for value in values} == {256}
    assert len(drawn.file_paths) == 2, "of a table with a column of that name too"


def test_of_too_many_vectors_those_of_the_most_rows_are_kept(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draw_sample, "_MOST_VECTORS", 2)
    spark.range(100).write.parquet(str(tmp_path / "numbers"))
    table = Source(Engine.of(spark), str(tmp_path / "numbers")).open()
    found = count_vectors(table, table.file_indices, ["id < 50", "id < 80", "id >= 95"], None)
    assert dict(zip(map(tuple, found.vectors.tolist()), found.counts.tolist(), strict=True)) == {
        (True, True, False): 50,
        (False, True, False): 30,
    }
