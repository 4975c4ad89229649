"""From a request to a fitted layout: prepare, fit, simulate. Nothing is written here.

Everything that can be wrong with a request shows here, so that whoever then writes does so in vain only if
the writing itself fails.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from skipstone.actions.cost_store import load_model
from skipstone.actions.prepare import Prepared, Wishes
from skipstone.actions.rewrite import fit
from skipstone.actions.usable import prepare_usable
from skipstone.catalog.column_names import ColumnNames, paths_between
from skipstone.estimate.advice import AS_IT_LIES, Advice
from skipstone.estimate.cost_inputs import economy_of
from skipstone.estimate.worse import refusal
from skipstone.layout.contract import Fitted
from skipstone.predicate.expr import with_columns
from skipstone.progress import Progress, Steps
from skipstone.pruning.blocks import Counts
from skipstone.spark import SparkSession
from skipstone.spark.bridge.runtime import Runtime
from skipstone.spark.engine.job_progress import watch
from skipstone.spark.engine.open_table import TableFiles
from skipstone.workload.predicates import LoggedFilter
from skipstone.workload.queries import BrokenQuery

__all__ = ["Choice", "Request", "Work", "choose", "choose_again"]


@dataclass(frozen=True, slots=True)
class Request:
    """A layout by its name, what it should be like, and whether it may be worse than what is there."""

    layout: str = "auto"
    wishes: Wishes = field(default_factory=Wishes)
    force: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """What is laid out, for which queries, and by whom; without ``places`` all files are."""

    spark: SparkSession
    runtime: Runtime
    files: TableFiles
    entries: Sequence[LoggedFilter]
    unusable: Sequence[BrokenQuery] = ()
    progress: Progress | None = None
    places: Counts | None = None

    @property
    def all_places(self) -> Counts:
        """Where the files that are laid out lie in the table's list of files."""
        return np.arange(len(self.files.files)) if self.places is None else self.places


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """The layout to apply; ``fitted`` is None, and ``reason`` says why, if the files stay as they are.

    ``worse`` is the sentence about a layout that would be worse than what is there.
    """

    prepared: Prepared
    advice: Advice
    layout: str
    fitted: Fitted | None
    fit_seconds: float
    worse: str = ""

    @property
    def percent_before(self) -> float | None:
        """What the log's queries scan now."""
        return self._percent(AS_IT_LIES)

    @property
    def percent_after(self) -> float | None:
        """What they would scan."""
        return self._percent(self.layout)

    def _percent(self, layout: str) -> float | None:
        return next((row.percent_scanned for row in self.advice.layouts if row.layout == layout), None)


def choose(work: Work, request: Request, clock: Callable[[], float] = time.perf_counter) -> Choice:
    """Fit and simulate what is asked for."""
    started = clock()
    places = work.all_places
    steps = Steps(work.progress, len(places), {"sampling": 2, "fitting": 3})
    with watch(work.spark, steps.step("sampling"), "sampling blocks"):
        prepared = prepare_usable(work.spark, work.files, work.entries, work.unusable, request.wishes, places)
        model = load_model(work.spark)
        economy = economy_of(work.spark, work.runtime, work.files, places, model, work.entries)
    name, fitted, advice = fit(work.spark, prepared, places, request.layout, steps.step("fitting"), economy)
    found = Choice(prepared, advice, name, fitted, clock() - started)
    return replace(found, worse=refusal(name, found.percent_before, found.percent_after) or "")


def choose_again(work: Work, request: Request, chosen: Choice, target: TableFiles) -> Choice:
    """The choice for a table with the same rows in other files, such as a copy.

    A fitted layout speaks of stored columns. Where these are called otherwise in the copy, because the
    source renamed some (Delta's column mapping), the same layout is fitted anew.
    """
    here, there = (ColumnNames.from_schema(files.schema) for files in (work.files, target))
    if here.display == there.display:
        places = np.arange(len(target.files))
        return replace(chosen, prepared=replace(chosen.prepared, files=target, places=places))
    paths = paths_between(here, there)
    tops = {path[0]: other[0] for path, other in paths.items()}
    entries = [
        replace(
            entry,
            filter=with_columns(entry.filter, paths),
            columns=tuple(tops.get(column, column) for column in entry.columns),
        )
        for entry in work.entries
    ]
    renamed = replace(work, files=target, entries=entries)
    again = choose(renamed, replace(request, layout=chosen.layout))
    # What the table scans now is what its source scans.
    return replace(again, advice=chosen.advice, worse=chosen.worse)
