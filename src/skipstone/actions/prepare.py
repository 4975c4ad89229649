"""From a table and a query log to everything that fitting a layout needs.

Steps: parse the queries against the table, mine features, draw a sample with all atoms evaluated. What is
prepared serves every layout, so that they are compared on the same rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from skipstone.arguments import checked
from skipstone.catalog.column_names import ColumnNames
from skipstone.errors import SkipstoneError
from skipstone.layout.additional import additional_features
from skipstone.layout.contract import Fitted
from skipstone.layout.sample import Fitting, WorkloadView
from skipstone.layout.view import workload_view
from skipstone.predicate.codec import canonical_text
from skipstone.predicate.expr import Column, Expr
from skipstone.predicate.render import unwritable
from skipstone.pruning.blocks import Counts, Feature
from skipstone.spark import DataFrame, SparkSession
from skipstone.spark.bridge.parse_sql import TableSource, parse_queries
from skipstone.spark.bridge.read_back import read_back
from skipstone.spark.engine.assign import LogicalNames
from skipstone.spark.engine.job_settings import DRAWN
from skipstone.spark.engine.open_table import TableFiles
from skipstone.spark.engine.sample import Drawn, draw, ordered_inputs
from skipstone.spark.engine.session_copy import copied_session
from skipstone.spark.engine.tracked import Kept, expressions_to_keep
from skipstone.workload.analysis import Analysis, analyze
from skipstone.workload.predicates import LoggedFilter, date_filters, logged_filters
from skipstone.workload.queries import BrokenQuery, Workload, first_of

__all__ = [
    "SAMPLE_ROWS",
    "Asked",
    "Prepared",
    "Wishes",
    "default_block_bytes",
    "parse_log",
    "prepare",
]

SAMPLE_ROWS = 300_000
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a user may ask of a layout; None means: choose for me.

    ``rough`` is for estimates only: features are not checked to be what Spark reads back.
    """

    block_rows: int | None = None
    partition_by: str | None = None
    num_features: int | None = None
    threshold: float | None = None
    leave_out_dates: bool = False
    sample_rows: int = SAMPLE_ROWS
    seed: int = 0
    rough: bool = False
    curve: str = "z"

    def __post_init__(self) -> None:
        """Refuse numbers out of range."""
        numbers = checked(
            block_rows=self.block_rows,
            num_features=self.num_features,
            threshold=self.threshold,
            sample_rows=self.sample_rows,
        )
        for name, value in numbers.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """The queries that layouts are judged by; ``bits`` are those of the view's atoms."""

    entries: tuple[LoggedFilter, ...]
    view: WorkloadView
    bits: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A table, its workload, the mined features and a sample of the files at ``places``.

    Layouts are fitted for ``entries`` and judged by ``asked``. ``logged`` are the entries with their filters
    as they were logged, where predicates that cannot be used were left out of them.
    """

    files: TableFiles
    places: Counts
    names: LogicalNames
    entries: tuple[LoggedFilter, ...]
    unusable: tuple[BrokenQuery, ...]
    analysis: Analysis
    fitting: Fitting
    drawn: Drawn
    total_rows: int
    partition: Kept | None
    fingerprint: str
    asked: Asked
    logged: tuple[LoggedFilter, ...] = ()

    @property
    def logged_workload(self) -> tuple[tuple[Expr, float], ...]:
        """The distinct filters as they were logged, each with its weight."""
        view = _view(self.logged) if self.logged else self.fitting.workload
        return tuple(zip(view.filters, view.weights.tolist(), strict=True))

    def features_of(self, fitted: Fitted) -> tuple[Feature, ...]:
        """The features whose bits blocks of this layout get: the mined ones, its own, and additional ones."""
        fitting = self.fitting
        every = (*fitting.features, *fitted.features, *additional_features(fitting))
        return tuple({feature.predicate: feature for feature in reversed(every)}.values())[::-1]

    def expressions_of(self, fitted: Fitted) -> tuple[Expr, ...]:
        """The expressions that get statistics: the layout's own, and all that the workload compares."""
        every = dict.fromkeys((*fitted.expressions, *self.fitting.sample.columns))
        return tuple(expr for expr in every if not isinstance(expr, Column))


def parse_log(
    spark: SparkSession, files: TableFiles, name: str, queries: Workload
) -> tuple[tuple[LoggedFilter, ...], tuple[BrokenQuery, ...]]:
    """The filters that the log's queries put on this table, and the statements that cannot be used."""
    parsed = parse_queries(spark, queries, {name: TableSource(files.schema, files.root)})
    return logged_filters(parsed, name), parsed.unusable


def prepare(
    spark: SparkSession,
    files: TableFiles,
    entries: Sequence[LoggedFilter],
    unusable: Sequence[BrokenQuery],
    wishes: Wishes,
    chosen: Counts | None = None,
    analysis: Analysis | None = None,
    judges: Sequence[LoggedFilter] | None = None,
) -> Prepared:
    """Mine features and draw a sample of the chosen files, all of them by default.

    ``analysis`` is that of the same queries, if they were analysed before. ``judges`` are the queries that
    layouts are judged by, by default those that they are fitted for.
    """
    if not entries:
        raise SkipstoneError(
            f"No query of the log reads {files.root}; there is nothing to fit a layout to"
            f"{first_of(unusable)}."
        )
    if analysis is None:
        analysis = analyze(
            entries,
            threshold=wishes.threshold,
            num_features=wishes.num_features,
            leave_out=date_filters if wishes.leave_out_dates else None,
            seed=wishes.seed,
        )
    view = _view(entries)
    if not view.atoms:
        raise SkipstoneError(
            f"No query of the log has a usable filter on {files.root}; there is nothing to fit a layout to."
        )
    names = LogicalNames.of(ColumnNames.from_schema(files.schema))
    places = np.arange(len(files.files)) if chosen is None else chosen
    frame = files.live(copied_session(spark, DRAWN), places)
    partition = _partition(spark, files, wishes.partition_by)
    view, features, weights = _features(spark, files, frame, names, view, analysis, wishes.rough)
    total_rows = frame.count()
    block_rows = wishes.block_rows or _default_block_rows(total_rows, int(files.files.sizes[places].sum()))
    if total_rows < 2 * block_rows:
        raise SkipstoneError(
            f"{files.root} has {total_rows:,} rows, which is less than two blocks of {block_rows:,} rows; "
            "there is nothing to rearrange (see --block-rows)."
        )
    judged = view if judges is None else _view(judges)
    atoms = tuple(dict.fromkeys((*view.atoms, *judged.atoms)))
    drawn = draw(
        frame,
        total_rows,
        wishes.sample_rows,
        atoms,
        ordered_inputs(atoms),
        names,
        None if partition is None else partition.expr,
        wishes.seed,
    )
    places_of = {atom: place for place, atom in enumerate(atoms)}
    bits = drawn.sample.bits
    fitting = Fitting(
        sample=replace(drawn.sample, bits=bits[:, : len(view.atoms)]),
        workload=view,
        block_rows=block_rows,
        features=features,
        feature_weights=weights,
        feature_bits=bits[:, [places_of[feature.predicate] for feature in features]],
        seed=wishes.seed,
        curve=wishes.curve,
    )
    return Prepared(
        files,
        places,
        names,
        tuple(entries),
        tuple(unusable),
        analysis,
        fitting,
        drawn,
        total_rows,
        partition,
        _print(view),
        Asked(
            tuple(entries if judges is None else judges),
            judged,
            bits if judges is None else bits[:, [places_of[atom] for atom in judged.atoms]],
        ),
    )


def _view(entries: Sequence[LoggedFilter]) -> WorkloadView:
    return workload_view([entry.filter for entry in entries], [entry.weight for entry in entries])


def _partition(spark: SparkSession, files: TableFiles, text: str | None) -> Kept | None:
    if text is None:
        return None
    none = files.frame(spark, np.zeros(0, np.int64))
    return expressions_to_keep(spark, none, files.schema, [text])[0]


def _default_block_rows(rows: int, size: int) -> int:
    return max(1, int(rows * default_block_bytes(size) / max(size, 1)))


def default_block_bytes(size: int) -> int:
    """Blocks of 1 to 64 MiB, such that there are about 64 of them in a small table."""
    return min(64 * _MIB, max(_MIB, size // 64))


def _features(
    spark: SparkSession,
    files: TableFiles,
    frame: DataFrame,
    names: LogicalNames,
    view: WorkloadView,
    analysis: Analysis,
    rough: bool,
) -> tuple[WorkloadView, tuple[Feature, ...], np.ndarray]:
    """The mined features as Spark reads them back; their predicates are made atoms of the view."""
    kept: list[Feature] = []
    weights: list[float] = []
    atoms = list(view.atoms)
    wanted = [mined for mined in analysis.features if unwritable(mined.predicate) is None]
    texts = [names.sql(mined.predicate) for mined in wanted]
    read = [mined.predicate for mined in wanted]
    if not rough:
        read = [*read_back(spark, frame, files.schema, texts)]  # type: ignore[list-item]
    for mined, text, predicate in zip(wanted, texts, read, strict=True):
        # A feature that Spark reads back differently would never be found by a query.
        if predicate != mined.predicate:
            continue
        kept.append(Feature(predicate, text))
        weights.append(mined.weight)
        if predicate not in atoms:
            atoms.append(predicate)
    return replace(view, atoms=tuple(atoms)), tuple(kept), np.array(weights, np.float64)


def _print(view: WorkloadView) -> str:
    lines = sorted(f"{canonical_text(f)} {w}" for f, w in zip(view.filters, view.weights, strict=True))
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
