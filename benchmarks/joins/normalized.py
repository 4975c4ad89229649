"""The templates of TPC-H as joins again, and how much of lineitem they scan and need.

Eight templates read lineitem (:mod:`benchmarks.tpch.queries`). Here their FROM clauses are joins of the
tables that each of them reads. Layouts are fitted to queries with some parameters and judged by queries with
others.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import skipstone
from benchmarks.joins.scanned import needed_rows, scanned
from benchmarks.pieces import Piece
from benchmarks.tpch.queries import TABLE, TEMPLATES, TEST_SEED, TRAINING_SEED, tpch_queries
from skipstone.spark import SparkSession
from skipstone.workload.queries import Query, Workload

__all__ = ["Normalized", "normalized_queries"]

_TABLES = ("part", "supplier", "customer", "nation", "region", "orders")
_JOINS = {
    "orders": "orders ON l_orderkey = o_orderkey",
    "customer": "customer ON o_custkey = c_custkey",
    "part": "part ON l_partkey = p_partkey",
    "supplier": "supplier ON l_suppkey = s_suppkey",
    "cn": "{cn} ON c_nationkey = cn_nationkey",
    "cr": "{cr} ON cn_regionkey = cr_regionkey",
    "sn": "{sn} ON s_nationkey = sn_nationkey",
    "sr": "{sr} ON sn_regionkey = sr_regionkey",
}
_OF = {
    "q3": ("orders", "customer"),
    "q5": ("orders", "customer", "supplier", "cn", "cr", "sn", "sr"),
    "q6": (),
    "q8": ("orders", "customer", "part", "supplier", "cn", "cr", "sn"),
    "q10": ("orders", "customer", "cn"),
    "q12": ("orders",),
    "q14": ("part",),
    "q19": ("part",),
}
_RENAMED = {
    side
    + kind: f"(SELECT {whole[0]}_name AS {side}{kind}_name, {whole[0]}_regionkey AS {side}{kind}_regionkey"
    + (f", n_nationkey AS {side}{kind}_nationkey" if whole == "nation" else "")
    + f" FROM {whole}) AS {side}{kind}"
    for side in "cs"
    for kind, whole in (("n", "nation"), ("r", "region"))
}


def normalized_queries(per_template: int, seed: int) -> Workload:
    """The queries of all templates, one template after the other."""
    plain = tpch_queries(per_template, seed).queries
    names = [name for name in TEMPLATES for _ in range(per_template)]
    return Workload(tuple(Query(_joined(name, query.sql)) for name, query in zip(names, plain, strict=True)))


def _joined(name: str, sql: str) -> str:
    joins = "".join(f" JOIN {_JOINS[each].format_map(_RENAMED)}" for each in _OF[name])
    return sql.replace(f"FROM {TABLE}", f"FROM lineitem{joins}")


@dataclass(frozen=True, slots=True)
class Normalized:
    """Makes lineitem below ``home`` of what ``source`` has, in about ``blocks`` files."""

    spark: SparkSession
    home: Path
    source: Path
    blocks: int
    per_template: int = 10

    def tables(self) -> Piece:
        """The joined tables, as they are generated."""
        for name in _TABLES:
            shutil.rmtree(self._path(name), ignore_errors=True)
            rows = self.spark.read.parquet(str(self.source / f"{name}.parquet"))
            rows.write.format("delta").save(self._path(name))
        return {"tables": list(_TABLES)}

    def laid_out(self, joined: bool) -> Piece:
        """Lineitem by a qd-tree for the training queries, with their joins or for its own columns only."""
        name = _name(joined)
        shutil.rmtree(self._path(name), ignore_errors=True)
        rows = self.spark.read.parquet(str(self.source / "lineitem.parquet"))
        rows.write.format("delta").save(self._path(name))
        # Only Delta tables have states, so of a join with plain files nothing is said.
        self._bind(delta=joined)
        table = skipstone.table(self.spark, f"lineitem={self._path(name)}")
        block_rows = max(1, rows.count() // self.blocks)
        done = table.optimize(normalized_queries(self.per_template, TRAINING_SEED), "qdtree", block_rows)
        return {"files": done.files_after, "percent_expected": done.percent_after}

    def needed(self) -> Piece:
        """How many rows queries with other parameters need."""
        self._bind(delta=True)
        name = _name(joined=False)
        self.spark.read.format("delta").load(self._path(name)).createOrReplaceTempView("lineitem")
        every = " JOIN ".join(("lineitem", *(text.format_map(_RENAMED) for text in _JOINS.values())))
        return needed_rows(self.spark, every, self._templates())

    def measured(self, joined: bool, needed: Piece) -> Piece:
        """What these queries scan, and what they need, in percent of the rows."""
        self._bind(delta=True)
        path = self._path(_name(joined))
        skipstone.table(self.spark, f"lineitem={path}")
        return scanned(self.spark, path, self._templates(), needed)

    def _templates(self) -> dict[str, list[str]]:
        queries, size = normalized_queries(self.per_template, TEST_SEED).queries, self.per_template
        return {
            name: [query.sql for query in queries[index * size : (index + 1) * size]]
            for index, name in enumerate(TEMPLATES)
        }

    def _bind(self, delta: bool) -> None:
        for name in _TABLES:
            path = self._path(name) if delta else str(self.source / f"{name}.parquet")
            frame = self.spark.read.format("delta" if delta else "parquet").load(path)
            frame.createOrReplaceTempView(name)

    def _path(self, name: str) -> str:
        return str(self.home / name)


def _name(joined: bool) -> str:
    return "lineitem_joined" if joined else "lineitem_alone"
