"""Stored layouts: what a table was laid out by, so that later rows can follow and others can look.

``TABLE/_skipstone/layouts/ID.json``, written once and never changed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from skipstone.catalog.segment import FORMAT
from skipstone.catalog.store import FOLDER, FileStore
from skipstone.errors import SkipstoneError
from skipstone.predicate.codec import from_json
from skipstone.predicate.expr import Expr

__all__ = ["LayoutRecord", "filters_of_layout", "has_layout", "load_layout", "save_layout"]

_LAYOUTS = f"{FOLDER}/layouts"


@dataclass(frozen=True, slots=True)
class LayoutRecord:
    """A fitted layout.

    ``assignment`` is the JSON of :mod:`skipstone.layout.codec`; ``workload`` holds the filters that it was
    fitted for (as expressions, with weights), ``fingerprint`` tells one workload from another.
    """

    id: str
    strategy: str
    created: str
    table_version: int
    block_rows: int
    partition_by: str | None
    parameters: Mapping[str, Any]
    features: tuple[str, ...]
    expressions: tuple[str, ...]
    sort: tuple[str, ...]
    fingerprint: str
    workload: tuple[tuple[Any, float], ...]
    assignment: Mapping[str, Any]

    @property
    def curve(self) -> str:
        """The curve that its blocks were cut along, if it is of a kind that has a choice."""
        return str(self.parameters.get("curve") or "z")


def save_layout(store: FileStore, record: LayoutRecord) -> None:
    """Store a layout under its id."""
    data = {"format": FORMAT, **asdict(record)}
    store.write(f"{_LAYOUTS}/{record.id}.json", json.dumps(data).encode())


def filters_of_layout(record: LayoutRecord) -> tuple[tuple[tuple[Expr, float], ...], tuple[str, ...]]:
    """The filters that a layout was fitted for, with their weights, and those that cannot be read as text."""
    found: list[tuple[Expr, float]] = []
    unreadable: list[str] = []
    for filter_, weight in record.workload:
        try:
            found.append((from_json(filter_), weight))
        except ValueError:
            unreadable.append(json.dumps(filter_))
    return tuple(found), tuple(unreadable)


def has_layout(store: FileStore, layout: str) -> bool:
    """Whether a layout is stored; one whose rewrite was killed right after its commit is not."""
    return f"{layout}.json" in store.names(_LAYOUTS)


def load_layout(store: FileStore, layout: str) -> LayoutRecord:
    """Read a layout again."""
    name = f"{_LAYOUTS}/{layout}.json"
    data = json.loads(store.read(name))
    if data.pop("format") > FORMAT:
        raise SkipstoneError(f"{name} was written by a newer skipstone; upgrade skipstone.")
    tuples = {key: tuple(data[key]) for key in ("features", "expressions", "sort")}
    workload = tuple((filter_, weight) for filter_, weight in data["workload"])
    return LayoutRecord(**{**data, **tuples, "workload": workload})
