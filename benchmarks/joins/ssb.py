"""The Star Schema Benchmark: how much of the facts its queries scan, with all filters on the dimensions.

The facts are laid out by a qd-tree for queries with some parameters, and judged by queries with others.
Beside these stand the 13 queries as they are published.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import skipstone
from benchmarks.joins.scanned import needed_rows, scanned
from benchmarks.joins.ssb_data import DIMENSIONS, FACTS, SOURCES, ssb_tables
from benchmarks.joins.ssb_queries import EVERY_JOIN, PUBLISHED, ssb_queries, ssb_query
from benchmarks.pieces import Piece
from skipstone.spark import SparkSession

__all__ = ["StarSchema"]

_TRAINING_SEED, _TEST_SEED = 1, 2


@dataclass(frozen=True, slots=True)
class StarSchema:
    """Makes the tables below ``home`` of TPC-H's in ``source``, the facts in about ``blocks`` files."""

    spark: SparkSession
    home: Path
    source: Path
    blocks: int
    per_query: int = 10

    def tables(self) -> Piece:
        """All tables as Delta tables, the facts in the order of their keys."""
        sources = {name: f"parquet.`{(self.source / name).resolve()}.parquet`" for name in SOURCES}
        for name, text in ssb_tables(sources).items():
            shutil.rmtree(self._path(name), ignore_errors=True)
            rows = self.spark.sql(text)
            if name == FACTS:
                rows = rows.repartitionByRange("lo_orderkey").sortWithinPartitions("lo_orderkey")
            rows.write.format("delta").save(self._path(name))
        return {"rows": {name: self._rows(name).count() for name in (*DIMENSIONS, FACTS)}}

    def laid_out(self) -> Piece:
        """The facts by a qd-tree for the training queries."""
        self._bind()
        table = skipstone.table(self.spark, f"{FACTS}={self._path(FACTS)}")
        block_rows = max(1, self._rows(FACTS).count() // self.blocks)
        done = table.optimize(ssb_queries(self.per_query, _TRAINING_SEED), "qdtree", block_rows)
        return {"files": done.files_after, "percent_expected": done.percent_after}

    def measured(self) -> Piece:
        """What queries with other parameters scan and need, and those that are published."""
        self._bind()
        path = self._path(FACTS)
        skipstone.table(self.spark, f"{FACTS}={path}")
        queries, size = ssb_queries(self.per_query, _TEST_SEED).queries, self.per_query
        drawn = {
            name: [query.sql for query in queries[index * size : (index + 1) * size]]
            for index, name in enumerate(PUBLISHED)
        }
        published = {name: [ssb_query(name, parameters)] for name, parameters in PUBLISHED.items()}
        found, exact = (
            scanned(self.spark, path, templates, needed_rows(self.spark, EVERY_JOIN, templates))
            for templates in (drawn, published)
        )
        return {**found, "published": exact}

    def _bind(self) -> None:
        for name in DIMENSIONS:
            self._rows(name).createOrReplaceTempView(name)

    def _rows(self, name: str) -> skipstone.spark.DataFrame:
        return self.spark.read.format("delta").load(self._path(name))

    def _path(self, name: str) -> str:
        return str(self.home / f"ssb_{name}")
