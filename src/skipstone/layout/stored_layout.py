"""A stored layout, decoded: the queries that it was made for, and the design by which rows are placed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from skipstone.catalog.layout_records import (
    GroupRecord,
    LayoutRecord,
    StoredExpr,
    damaged_layout,
    layout_path,
    load_layout,
)
from skipstone.catalog.store import FileStore
from skipstone.catalog.tracked import TrackedSet
from skipstone.layout.assignment_json import assignment_from_json, assignment_to_json
from skipstone.layout.contract import ColumnGroup, Design
from skipstone.layout.layouts import layout_named, layout_options
from skipstone.predicate.codec import from_json, to_json
from skipstone.predicate.expr import Expr
from skipstone.predicate.render import unwritable
from skipstone.pruning.blocks import Feature
from skipstone.workload.predicates import LoggedFilter
from skipstone.workload.queries import BrokenQuery

__all__ = ["StoredLayout", "design_of", "group_record", "stored_layout"]


@dataclass(frozen=True, slots=True, eq=False)
class StoredLayout:
    """A record with its workload and its design; ``unusable`` are filters that cannot be read.

    Layouts of earlier formats have features, expressions and sort keys as SQL only. These are in the record
    and not in the design.
    """

    record: LayoutRecord
    workload: tuple[LoggedFilter, ...]
    design: Design
    unusable: tuple[BrokenQuery, ...] = ()


def group_record(group: ColumnGroup, sort: Sequence[str], tracked: TrackedSet) -> GroupRecord:
    """A column group as it was written.

    Its blocks may have more bits and statistics than the design asks for, and ``sort``, the SQL of its sort
    keys, is empty where blocks are too small to be sorted.
    """
    return GroupRecord(
        columns=group.columns,
        assignment=assignment_to_json(group.assignment),
        sort=tuple(StoredExpr(sql, to_json(expr)) for expr, sql in zip(group.sort, sort, strict=False)),
        features=tuple(StoredExpr(each.text, to_json(each.predicate)) for each in tracked.features),
        expressions=tuple(StoredExpr(sql, to_json(expr)) for expr, sql in tracked.texts.items()),
    )


def stored_layout(store: FileStore, layout: str, root: str) -> StoredLayout | None:
    """Read a layout; None if it is not stored, and an error that names the file if it cannot be decoded."""
    record = load_layout(store, layout, root)
    if record is None:
        return None
    try:
        layout_named(record.strategy)
        layout_options(record.strategy, record.options)
        design = design_of(record)
    except Exception as problem:
        raise damaged_layout(f"{root}/{layout_path(store, layout)}", problem) from problem
    workload: list[LoggedFilter] = []
    unusable: list[BrokenQuery] = []
    for filter_, weight in record.workload:
        try:
            workload.append(LoggedFilter(from_json(filter_), weight))
        except (ValueError, KeyError, TypeError):
            reason = f"layout {record.id} has it, and it cannot be read"
            unusable.append(BrokenQuery(json.dumps(filter_), reason))
    return StoredLayout(record, tuple(workload), design, tuple(unusable))


def design_of(record: LayoutRecord) -> Design:
    """The design that a record describes; raises ValueError, KeyError or TypeError if it describes none."""
    return Design(tuple(_group(group) for group in record.groups), dict(record.parameters))


def _group(record: GroupRecord) -> ColumnGroup:
    return ColumnGroup(
        assignment=assignment_from_json(record.assignment),
        sort=tuple(expr for expr, _ in _read(record.sort)),
        features=tuple(Feature(expr, sql) for expr, sql in _read(record.features)),
        expressions=tuple(expr for expr, _ in _read(record.expressions)),
        columns=record.columns,
    )


def _read(stored: Sequence[StoredExpr]) -> list[tuple[Expr, str]]:
    """The expressions with their SQL; what a user had tracked and we could not write again is left out."""
    found = [(from_json(each.expr), each.sql) for each in stored if each.expr is not None]
    return [(expr, sql) for expr, sql in found if unwritable(expr) is None]
