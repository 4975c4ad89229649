"""A stored layout, decoded: the queries that it was made for, and what places rows."""

from __future__ import annotations

import json
from dataclasses import dataclass

from skipstone.catalog.layouts import LayoutRecord, damaged_layout, layout_path, load_layout
from skipstone.catalog.store import FileStore
from skipstone.layout.assignment import Assignment, blocks_of
from skipstone.layout.codec import assignment_from_json
from skipstone.layout.layouts import LAYOUTS
from skipstone.layout.selforg import CURVES
from skipstone.predicate.codec import from_json
from skipstone.workload.predicates import LoggedFilter
from skipstone.workload.queries import BrokenQuery

__all__ = ["StoredLayout", "stored_layout"]


@dataclass(frozen=True, slots=True, eq=False)
class StoredLayout:
    """A record with its workload and its assignment; ``unusable`` are filters that cannot be read."""

    record: LayoutRecord
    workload: tuple[LoggedFilter, ...]
    assignment: Assignment
    unusable: tuple[BrokenQuery, ...] = ()


def stored_layout(store: FileStore, layout: str, root: str) -> StoredLayout | None:
    """Read a layout; None if it is not stored, and an error that names the file if it cannot be decoded."""
    record = load_layout(store, layout, root)
    if record is None:
        return None
    try:
        assignment = assignment_from_json(dict(record.assignment))
        if blocks_of(assignment) < 1 or record.strategy not in LAYOUTS or record.curve not in CURVES:
            raise ValueError("it describes no layout that there is")
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
    return StoredLayout(record, tuple(workload), assignment, tuple(unusable))
