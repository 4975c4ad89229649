"""What follows an append by a layout: the new files get their statistics, and the decision log a line."""

from __future__ import annotations

from dataclasses import dataclass

from skipstone.actions.context import Context
from skipstone.actions.index import index_laid_out
from skipstone.catalog.decisions import Decision, save_decision
from skipstone.estimate.reuse_decision import LAID_OUT
from skipstone.spark.engine.append_by_layout import LayoutAppend

__all__ = ["publish_append"]


@dataclass(frozen=True, slots=True)
class _Published:
    """The files of an append: those that are blocks of the layout, and those with too many rows for one."""

    files: int
    bytes: int
    overflowing_files: int
    overflowing_bytes: int

    def sentence(self, append: LayoutAppend) -> str:
        layout = append.record.strategy
        said = f"{append.rows:,} rows were appended by the layout {layout}"
        if not self.overflowing_files:
            return said
        too_much = self.overflowing_bytes / 1e6
        return f"{said}, except for {too_much:,.1f} MB that were too much for their blocks"

    def to_dict(self) -> dict[str, object]:
        return {
            "files": self.files,
            "bytes": self.bytes,
            "overflowing_files": self.overflowing_files,
            "overflowing_bytes": self.overflowing_bytes,
        }


def publish_append(context: Context, append: LayoutAppend, write_seconds: float) -> Decision:
    """Index what was appended; until then, and if that fails, it is read like any other new file.

    The context's table is the one after the append.
    """
    started, record, snapshot = context.clock(), append.record, context.snapshot
    laid_out, overflowing = append.file_indices(context.table)
    with context.engine.watch(context.progress, "indexing blocks"):
        for indices, layout in ((laid_out, record.id), (overflowing, "")):
            if len(indices):
                index_laid_out(context, indices, layout, started.isoformat())
    published = _Published(
        len(laid_out), snapshot.bytes_of(laid_out), len(overflowing), snapshot.bytes_of(overflowing)
    )
    ended = context.clock()
    numbers = {
        "data": "new",
        "table_version": snapshot.version,
        "layout": record.strategy,
        "layout_id": record.id,
        "rows": append.rows,
        **published.to_dict(),
        "write_seconds": write_seconds,
        "index_seconds": (ended - started).total_seconds(),
    }
    sentence = published.sentence(append)
    return save_decision(context.store, Decision(ended.isoformat(), True, LAID_OUT, sentence, numbers))
