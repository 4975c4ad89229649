"""Rewrites by a design that nobody fitted: for tests of what a rewrite does, whatever the layout is."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from tests.opened import opened

import skipstone
from skipstone.catalog.tracked import TrackedSet
from skipstone.layout.assignment import Node, Split, Tree
from skipstone.layout.contract import ColumnGroup, Design
from skipstone.predicate.expr import Column, Comparison, Literal
from skipstone.predicate.types import LONG
from skipstone.spark.engine.assign import Placing
from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.engine.resolve_tracked import tracked_columns, tracked_features
from skipstone.spark.engine.rewrite import Plan, Rewriting, Rewritten


def design_of_cuts(cuts: Sequence[int] = (500,)) -> Design:
    """Blocks of the rows with ``k`` below each cut, in rising order, and a last one: two by default."""
    root: Node = len(cuts)
    for block, cut in reversed(list(enumerate(cuts))):
        root = Split(Comparison("<", Column(("k",), LONG), Literal(cut, LONG)), block, root)
    return Design((ColumnGroup(Tree(root, len(cuts) + 1)),))


def plan_of(
    table: OpenTable, layout: str, cuts: Sequence[int] = (500,), features: Sequence[str] = ()
) -> Plan:
    """All files of the table, with statistics of its columns and bits of these features."""
    assignment = design_of_cuts(cuts).group.assignment
    return Plan(
        chosen=table.file_indices,
        placing=Placing.of(table, assignment),
        sort=(),
        tracked=TrackedSet(tracked_columns(table.snapshot.schema), tracked_features(table, features)),
        values={},
        layout=layout,
        created=datetime.now(UTC).isoformat(),
    )


def rewrite(table: skipstone.Table, layout: str = "two", cuts: Sequence[int] = (500,)) -> Rewritten:
    """Rewrite the whole table, as it is now, by cuts of its column ``k``."""
    rewriting = Rewriting(opened(table))
    return rewriting.run(plan_of(rewriting.before, layout, cuts))
