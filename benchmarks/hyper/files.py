"""The same on real files: tables laid out by ``optimize`` without a log, and the ranges planned on each.

What a range scans are the rows of the files that Spark is left to read, by the product's own rule and with
its choice among replicas. One range of each attribute is also run, with skipping on and off; its results are
compared and its time taken.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import skipstone
from benchmarks.context import context_of
from benchmarks.hyper.lineitem import NAME, Range, one_of_each, read_rows
from benchmarks.hyper.simulations import BALANCES, CURVES, by_attribute, curve_order
from benchmarks.pieces import Piece
from skipstone.actions.replay import rows_read
from skipstone.api import Table
from skipstone.layout.sample import Sample
from skipstone.progress import Progress
from skipstone.pruning.blocks import BlockSet
from skipstone.pruning.prune import prune
from skipstone.spark import DataFrame, SparkSession
from skipstone.workload.queries import Query, Workload

__all__ = ["GENERATED", "REPLICAS", "Tables", "planned_shares", "pruned_shares"]

GENERATED = "as generated"
REPLICAS: Mapping[str, str] = {"three replicas": "least-allocated", "three replicas, worst": "worst"}
"""Tables with two replicas besides, by the balance of their trees."""


@dataclass(frozen=True, slots=True)
class Tables:
    """Makes tables below ``home`` from the generated file, with about ``blocks`` blocks."""

    spark: SparkSession
    home: Path
    source: Path
    blocks: int

    @property
    def block_rows(self) -> int:
        """Rows of a block."""
        return max(1, int(pq.read_metadata(self.source).num_rows) // self.blocks)

    def made(self, name: str) -> Piece:
        """A table in an order of its own, or laid out by a tree, or by three."""
        if name == GENERATED or name in CURVES:
            return self._ordered(name)
        self.plain(name, "delta")
        return self.laid_out(name, REPLICAS.get(name, name), 3 if name in REPLICAS else 1)

    def plain(self, name: str, form: str, part: int = 1) -> None:
        """Write the generated rows as they are, or one of so many parts of them."""
        target = self._fresh(name)
        self._rows(part).write.format(form).save(str(target))

    def dealt(self, name: str, part: int = 1) -> None:
        """Write the rows, dealt out at random to as many Parquet files as there are blocks."""
        target = self._fresh(name)
        self._rows(part).repartition(max(1, self.blocks // part)).write.parquet(str(target))

    def _rows(self, part: int) -> DataFrame:
        rows = self.spark.read.parquet(str(self.source))
        return rows if part == 1 else rows.where(f"pmod(xxhash64(l_orderkey), {part}) = 0")

    def laid_out(self, name: str, tree: str, copies: int) -> Piece:
        """Lay a plain table out by a kind of tree, or by as many as there are to be copies."""
        table = skipstone.table(self.spark, f"{NAME}={self.home / name}")
        options = {"balance": BALANCES[tree]}
        return asdict(table.optimize(None, "hyper", self.block_rows, layout_options=options, replicas=copies))

    def scanned(self, name: str, ranges: Sequence[Range], progress: Progress | None = None) -> Piece:
        """What all ranges scan of the real files, and what running one of each attribute takes."""
        table = skipstone.table(self.spark, f"{NAME}={self.home / name}")
        table.index()
        report = table.replay(Workload(tuple(Query(each.sql) for each in one_of_each(ranges))), progress)
        shares = _shares(table, ranges)
        _check_same([q.rows_scanned / q.rows_total for q in report.queries], ranges, shares)
        return {"files": len(context_of(table).snapshot), **report.summary(), **by_attribute(ranges, shares)}

    def planned(self, name: str, ranges: Sequence[Range]) -> Piece:
        """What ranges would scan of the real files by their statistics; thousands take a minute so."""
        table = skipstone.table(self.spark, f"{NAME}={self.home / name}")
        table.index()
        return by_attribute(ranges, pruned_shares(context_of(table).catalog.blocks, ranges))

    def _ordered(self, name: str) -> Piece:
        """Rows in the order in which they were generated or that of a curve over all columns, cut evenly."""
        target, rows = self._fresh(name), _taken(pq.read_table(self.source))
        target.mkdir()
        order = np.arange(len(rows))
        if name in CURVES:
            columns = read_rows(self.source)
            order = curve_order(Sample(np.zeros((len(rows), 0), np.bool_), columns, 1.0), CURVES[name])
        for number, block in enumerate(np.array_split(order, self.blocks)):
            part = rows.take(pa.array(block))
            pq.write_table(part, target / f"part-{number:05}.snappy.parquet", compression="snappy")
        return {"files": self.blocks}

    def _fresh(self, name: str) -> Path:
        shutil.rmtree(self.home / name, ignore_errors=True)
        return self.home / name


def _taken(rows: pa.Table) -> pa.Table:
    """Rows of which some can be taken, which Arrow cannot do with views of texts."""
    plain = [
        pa.field(field.name, pa.string()) if field.type == pa.string_view() else field
        for field in rows.schema
    ]
    return rows.cast(pa.schema(plain)).combine_chunks()


def _shares(table: Table, ranges: Sequence[Range]) -> list[float]:
    return planned_shares(table, [each.sql for each in ranges])


def planned_shares(table: Table, texts: Sequence[str]) -> list[float]:
    """The shares of the table's rows in the files that queries with one scan read."""
    context = context_of(table)
    total = int(table.frame().count())
    scans = (context.engine.scans_of(text)[0] for text in texts)
    return [rows_read(context.table, scan, total) / total for scan in scans]


def pruned_shares(blocks: BlockSet, ranges: Sequence[Range]) -> list[float]:
    """The shares of the rows in the blocks that cannot be skipped."""
    return [float(blocks.rows[~prune(each.filter, blocks).skip].sum() / blocks.rows.sum()) for each in ranges]


def _check_same(replayed: Sequence[float], ranges: Sequence[Range], shares: Sequence[float]) -> None:
    """What was planned is what was read."""
    planned = dict(zip(ranges, shares, strict=True))
    wanted = [planned[each] for each in one_of_each(ranges)]
    if not np.allclose(replayed, wanted):
        raise AssertionError(f"replayed {replayed}, planned {wanted}")
