"""The one contract of all layouts: a reduced view of data and workload in, an assignment out.

With horizontal partitions a layout is fitted inside each of them (section 2.2 of SIGMOD'14's SOP), and the
block numbers follow one another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

import numpy as np
import pyarrow as pa

from skipstone.errors import SkipstoneError
from skipstone.layout.assignment import Assignment, Partitioned, Tree
from skipstone.layout.sample import Fitting
from skipstone.predicate.expr import Expr
from skipstone.pruning.blocks import Feature

__all__ = ["Fitted", "Layout", "in_partitions"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A fitted layout.

    Rows inside a block of several pages are sorted by ``sort``. Union vectors are kept for ``features`` and
    statistics for ``expressions``, besides those of the columns. ``parameters`` can be written as JSON;
    ``note`` tells people in a sentence what was chosen.
    """

    assignment: Assignment
    sort: tuple[Expr, ...] = ()
    features: tuple[Feature, ...] = ()
    expressions: tuple[Expr, ...] = ()
    parameters: dict[str, object] = field(default_factory=dict)
    note: str = ""


class Layout(Protocol):
    """A strategy for laying a table out."""

    @property
    def name(self) -> str:
        """What users call it."""
        ...

    def fit(self, fitting: Fitting) -> Fitted:
        """Fit it; raises SkipstoneError with one sentence when that makes no sense."""
        ...


def in_partitions(fitting: Fitting, fit: Callable[[Fitting], Fitted]) -> Fitted:
    """Fit inside each horizontal partition, or once when there are none."""
    sample = fitting.sample
    if sample.partition is None:
        return fit(fitting)
    if sample.partition_by is None:
        raise SkipstoneError("The sample has horizontal partitions but does not say by which expression.")
    fitted: list[Fitted] = []
    for place in range(len(sample.partition_values)):
        rows = np.flatnonzero(sample.partition == place)
        few = len(rows) * sample.scale < 2 * fitting.block_rows
        fitted.append(Fitted(Tree(0, 1)) if few else fit(_restricted(fitting, rows)))
    parts = tuple(part.assignment for part in fitted)
    return Fitted(
        assignment=Partitioned(sample.partition_by, sample.partition_values, parts),
        sort=next((part.sort for part in fitted if part.sort), ()),
        features=_distinct(part.features for part in fitted),
        expressions=_distinct((*[part.expressions for part in fitted], (sample.partition_by,))),
        parameters={"partitions": len(parts)}
        | next((part.parameters for part in fitted if part.parameters), {}),
        note=next((part.note for part in fitted if part.note), ""),
    )


def _distinct(groups: Iterable[Sequence[T]]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(item for group in groups for item in group))


def _restricted(fitting: Fitting, rows: np.ndarray) -> Fitting:
    sample = fitting.sample
    chosen = pa.array(rows)
    columns = {key: column.take(chosen) for key, column in sample.columns.items()}
    smaller = replace(
        sample,
        bits=sample.bits[rows],
        columns=columns,
        partition=None,
        partition_values=(),
        partition_by=None,
    )
    bits = fitting.feature_bits[rows] if len(fitting.feature_bits) else fitting.feature_bits
    return replace(fitting, sample=smaller, feature_bits=bits)
