"""The same on real files: tables laid out by ``optimize`` without a log, and the ranges replayed on each.

The cost of a rewrite is held against a plain write of the same rows as Parquet.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import skipstone
from benchmarks.context import context_of
from benchmarks.hyper.lineitem import NAME, Range, one_of_each
from benchmarks.hyper.simulations import BALANCES, by_attribute
from benchmarks.pieces import Piece
from skipstone.actions.context import Context
from skipstone.catalog.decide import decide
from skipstone.progress import Progress
from skipstone.spark import SparkSession
from skipstone.workload.queries import Query, Workload

__all__ = ["Tables"]


@dataclass(frozen=True, slots=True)
class Tables:
    """Makes tables below ``home`` from the generated file, with about ``blocks`` blocks."""

    spark: SparkSession
    home: Path
    source: Path
    blocks: int
    clock: Callable[[], float]

    def plain(self) -> Piece:
        """The seconds of a plain write as Parquet, and of one as a Delta table, which is then laid out."""
        seconds = {}
        for format_ in ("parquet", "delta"):
            target = self._fresh(f"plain-{format_}")
            started = self.clock()
            self.spark.read.parquet(str(self.source)).write.format(format_).save(str(target))
            seconds[f"{format_}_seconds"] = self.clock() - started
        return {**seconds, "rows": self.spark.read.parquet(str(self.source)).count()}

    def laid_out(self, name: str, rows: int) -> Piece:
        """A copy of the plain table, laid out with one balance."""
        target = self._fresh(name)
        shutil.copytree(self.home / "plain-delta", target)
        table = skipstone.table(self.spark, f"{NAME}={target}")
        options = {"balance": BALANCES[name]}
        report = table.optimize(None, "hyper", max(1, rows // self.blocks), layout_options=options)
        return asdict(report)

    def scanned(self, name: str, ranges: Sequence[Range], progress: Progress | None = None) -> Piece:
        """What all ranges scan of the real files; one of each attribute is replayed, its results compared."""
        table = skipstone.table(self.spark, f"{NAME}={self.home / name}")
        table.index()
        report = table.replay(Workload(tuple(Query(each.sql) for each in one_of_each(ranges))), progress)
        return {**report.summary(), **by_attribute(ranges, _shares(context_of(table), ranges))}

    def _fresh(self, name: str) -> Path:
        shutil.rmtree(self.home / name, ignore_errors=True)
        return self.home / name


def _shares(context: Context, ranges: Sequence[Range]) -> list[float]:
    """The shares of the table's rows in the files that the ranges read."""
    catalog, settings = context.catalog, context.engine.reader_settings()
    mine = context.snapshot.files.indices_in(catalog.files)
    rows = catalog.blocks.rows[mine]
    read = [~decide(each.filter, catalog, settings).skip[mine] for each in ranges]
    return [float(rows[files].sum() / rows.sum()) for files in read]
