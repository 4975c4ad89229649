"""Optimising a table: fit the layout, rewrite the files, keep what later rows need.

A Delta table is rewritten in place, in one commit. A directory of Parquet files has no atomic swap: its rows
go to a new Delta table, or it is made a Delta table first.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

import numpy as np

from skipstone.actions.cost_store import remember
from skipstone.actions.prepare import Prepared
from skipstone.catalog.layouts import LayoutRecord, save_layout
from skipstone.errors import SkipstoneError, TableChangedError
from skipstone.estimate.advice import AS_IT_LIES, Advice, advise, shape_of_rewrite
from skipstone.estimate.cost import Observation
from skipstone.estimate.cost_inputs import Economy
from skipstone.layout.assignment import blocks_of
from skipstone.layout.codec import assignment_to_json
from skipstone.layout.contract import Fitted
from skipstone.layout.layouts import LAYOUTS
from skipstone.layout.sop import fit_table
from skipstone.predicate.codec import to_json
from skipstone.predicate.expr import Column
from skipstone.progress import Progress, Steps
from skipstone.pruning.blocks import Counts, Feature
from skipstone.spark import SparkSession
from skipstone.spark.bridge.runtime import Runtime
from skipstone.spark.engine.assign import with_block
from skipstone.spark.engine.column_sizes import column_sizes
from skipstone.spark.engine.job_progress import watch
from skipstone.spark.engine.job_settings import DRAWN
from skipstone.spark.engine.open_table import TableFiles
from skipstone.spark.engine.rewrite import Plan, Rewriting, Rewritten
from skipstone.spark.engine.sample import vector_counts
from skipstone.spark.engine.session_copy import copied_session
from skipstone.spark.engine.tracked import (
    Kept,
    columns_to_keep,
    own_expressions,
    own_features,
    still_to_keep,
)
from skipstone.view import Grid, Share, View, Viewed, count
from skipstone.workload.queries import BrokenQuery, broken_and_left_out

__all__ = ["OptimizeReport", "fit", "fit_one", "rewrite_table"]

LOG = logging.getLogger("skipstone")
_PAGE_ROWS = 20_000
"""Rows of a Parquet page at most. In a block of one page no reader can make use of an order."""
_PARTS = 1000


@dataclass(frozen=True, slots=True, repr=False)
class OptimizeReport(Viewed):
    """What an optimisation did; ``layout_id`` is empty and ``version`` -1 when the table was left alone.

    ``reason`` says what was done, or why nothing was. ``percent_before`` and ``percent_after`` are estimates
    of the share of rows that the log's queries scan. ``version`` is the table version that the commit made.
    """

    root: str
    layout: str
    layout_id: str
    reason: str
    percent_before: float | None
    percent_after: float | None
    files_before: int
    files_after: int
    rows: int
    fit_seconds: float
    rewrite_seconds: float
    version: int
    unusable: tuple[BrokenQuery, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        told = asdict(self)
        del told["unusable"]
        return told | broken_and_left_out(self.unusable)

    def view(self) -> View:
        """What was done, why, and what it lets queries skip."""
        if not self.layout_id:
            return View(f"{self.root} was left as it is: {self.reason}.")
        notes, shares = [self.reason], []
        if self.percent_before is not None and self.percent_after is not None:
            notes.append(
                f"the log's queries scan about {self.percent_after:.2f} % of the rows instead of "
                f"{self.percent_before:.2f} %"
            )
            for name, scanned in (("before", self.percent_before), ("after", self.percent_after)):
                shares.append((name, Share(scanned, 100, f"{scanned:.2f} %")))
        notes.append(f"fitted in {self.fit_seconds:.1f} s, rewritten in {self.rewrite_seconds:.1f} s")
        return View(
            f"Rewrote {count(self.rows, 'row')} of {self.root} by {self.layout}: "
            f"{count(self.files_before, 'file')} became {self.files_after:,}, table version {self.version}.",
            notes=tuple(notes),
            grids=(Grid("Rows scanned", ("", "of all rows"), tuple(shares)),) if shares else (),
        )


def fit(
    spark: SparkSession,
    prepared: Prepared,
    chosen: Counts,
    layout: str,
    progress: Progress | None = None,
    economy: Economy | None = None,
) -> tuple[str, Fitted | None, Advice]:
    """The layout to use, fitted; with ``auto`` the best of all, or none when the table lies best already."""
    steps = Steps(progress, _PARTS, {"simulating": 3, "counting": 1})
    simulating = steps.step("simulating")
    advice = advise(prepared, None if layout == "auto" else (layout,), simulating, economy)
    name = advice.best if layout == "auto" else layout
    if name == AS_IT_LIES:
        return name, None, advice
    if name not in advice.fitted:
        raise SkipstoneError(next(row.problem for row in advice.layouts if row.layout == name))
    if name != "sop":
        return name, advice.fitted[name], advice
    with watch(spark, steps.step("counting"), "counting vectors"):
        return name, _fit_sop(spark, prepared, chosen), advice


def fit_one(spark: SparkSession, prepared: Prepared, layout: str) -> Fitted:
    """A layout that was chosen already."""
    if layout == "sop":
        return _fit_sop(spark, prepared, prepared.places)
    return LAYOUTS[layout].fit(prepared.fitting)


def _fit_sop(spark: SparkSession, prepared: Prepared, chosen: Counts) -> Fitted:
    """SOP on the feature vectors of the whole table, which Spark has reduced to their counts."""
    fitting = prepared.fitting
    texts = [feature.text for feature in fitting.features]
    frame = prepared.files.live(copied_session(spark, DRAWN), chosen)
    by = None if prepared.partition is None else prepared.partition.expr
    vectors, counts, partitions = vector_counts(frame, texts, by, prepared.names)
    return fit_table(fitting, vectors, counts, by, partitions)


def rewrite_table(
    spark: SparkSession,
    runtime: Runtime,
    prepared: Prepared,
    chosen: Counts,
    layout: str,
    fitted: Fitted,
    progress: Progress | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    started: datetime | None = None,
) -> tuple[str, Rewritten]:
    """Rewrite the chosen files by a fitted layout, store the layout and remember how long it took.

    What was written to the table since it was listed stays as it is. ``started`` is when the work began, if
    that was earlier than now.
    """
    begun = started or clock()
    created = clock().isoformat()
    layout_id = uuid.uuid4().hex[:12]
    files, names = prepared.files, prepared.names
    rewriting = Rewriting(spark, runtime, files.root)
    places = _places_now(files, chosen, rewriting.before)
    sizes = column_sizes(spark, files, chosen)
    kept, features = _to_keep(spark, runtime, prepared, fitted)
    sorted_by = fitted.sort if prepared.fitting.block_rows > _PAGE_ROWS else ()
    sort = tuple(names.sql(expr) for expr in sorted_by)
    plan = Plan(
        chosen=places,
        assign=lambda frame: with_block(frame, fitted.assignment, names),
        blocks=blocks_of(fitted.assignment),
        sort=sort,
        kept=kept,
        features=features,
        # A file of a layout shows few of a column's values, so the new files are no sample of them.
        values=prepared.fitting.sample.few_values(),
        layout=layout_id,
        created=created,
    )
    rewritten = rewriting.run(plan, progress)
    record = LayoutRecord(
        id=layout_id,
        strategy=layout,
        created=created,
        table_version=rewritten.version,
        block_rows=prepared.fitting.block_rows,
        partition_by=None if prepared.partition is None else prepared.partition.sql,
        parameters=fitted.parameters,
        features=tuple(feature.text for feature in features),
        expressions=tuple(item.sql for item in kept if not isinstance(item.expr, Column)),
        sort=sort,
        fingerprint=prepared.fingerprint,
        workload=tuple((to_json(filter_), weight) for filter_, weight in prepared.logged_workload),
        assignment=assignment_to_json(fitted.assignment),
    )
    try:
        save_layout(runtime.store(files.root), record)
    except SkipstoneError as problem:
        # Whoever sees it fail would take the table for untouched.
        LOG.warning("%s was rewritten, but its layout could not be written down: %s", files.root, problem)
    shape = shape_of_rewrite(prepared, fitted, sizes)
    remember(spark, [Observation.rewrite(shape, (clock() - begun).total_seconds())])
    return layout_id, rewritten


def _places_now(files: TableFiles, chosen: Counts, now: TableFiles) -> Counts:
    """Where the chosen files are in the table as it is now; others may have come and gone meanwhile."""
    places = {path: place for place, path in enumerate(now.files.paths)}
    found = [places.get(files.files.paths[place], -1) for place in chosen.tolist()]
    same_columns = (files.schema, files.partition_schema) == (now.schema, now.partition_schema)
    if -1 in found or not same_columns:
        raise TableChangedError(f"{files.root} was changed while its layout was fitted; run it again.")
    return np.array(found, np.int64)


def _to_keep(
    spark: SparkSession, runtime: Runtime, prepared: Prepared, fitted: Fitted
) -> tuple[tuple[Kept, ...], tuple[Feature, ...]]:
    """Statistics of all columns, what the layout and the workload want, and what `index` was asked for."""
    files, names = prepared.files, prepared.names
    none = files.frame(spark, np.zeros(0, np.int64))
    kept = {item.expr: item for item in columns_to_keep(files.schema)}
    texts = [names.sql(expr) for expr in prepared.expressions_of(fitted)]
    for item in own_expressions(spark, none, files.schema, texts):
        kept.setdefault(item.expr, item)
    wanted = {feature.predicate: feature for feature in prepared.fitting.features}
    more = [names.sql(f.predicate) for f in prepared.features_of(fitted) if f.predicate not in wanted]
    for feature in own_features(spark, none, files.schema, more):
        wanted.setdefault(feature.predicate, feature)
    asked = [segment for segment in runtime.catalog(files.root).segments if not segment.layout]
    items, others = still_to_keep(
        spark,
        none,
        files.schema,
        [text for segment in asked for text in segment.texts.values()],
        [feature.text for segment in asked for feature in segment.blocks.features],
    )
    for item in items:
        kept.setdefault(item.expr, item)
    for feature in others:
        wanted.setdefault(feature.predicate, feature)
    return tuple(kept.values()), tuple(wanted.values())
