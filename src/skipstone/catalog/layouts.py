"""Stored layouts: what a table was laid out by, so that later rows can follow and others can look.

``TABLE/_skipstone/layouts/ID-DIGEST.json``, written once and never changed. The digest is that of the
bytes, as in the names of segments. Earlier formats are still read: 1 and 2 had no column groups and kept of
features, expressions and sort keys the SQL only. Format 1 had no digest (``ID.json``), so in such a file only
that can be noticed which leaves no record of a layout.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from skipstone.catalog.digest import digest_of
from skipstone.catalog.store import FOLDER, FileStore
from skipstone.errors import DamagedFileError, SkipstoneError

__all__ = [
    "LAYOUTS",
    "GroupRecord",
    "LayoutRecord",
    "StoredExpr",
    "damaged_layout",
    "layout_path",
    "load_layout",
    "save_layout",
]

FORMAT = 3
_FIRST_WITH_GROUPS = 3
LAYOUTS = f"{FOLDER}/layouts"
_NAME = re.compile(r"(?P<id>[0-9a-z]+)(?:-(?P<digest>[0-9a-f]{12}))?\.json")


@dataclass(frozen=True, slots=True)
class StoredExpr:
    """An expression as SQL and as the JSON of :mod:`skipstone.predicate.codec`; None in earlier formats."""

    sql: str
    expr: object | None = None


@dataclass(frozen=True, slots=True)
class GroupRecord:
    """A column group: its columns by their stored names, None for all of them, and how its rows were placed.

    ``assignment`` is the JSON of :mod:`skipstone.layout.codec`; ``features`` and ``expressions`` are what
    its blocks have bits and statistics of, ``sort`` the order inside a block.
    """

    columns: tuple[str, ...] | None
    assignment: Mapping[str, Any]
    sort: tuple[StoredExpr, ...]
    features: tuple[StoredExpr, ...]
    expressions: tuple[StoredExpr, ...]


@dataclass(frozen=True, slots=True)
class LayoutRecord:
    """A fitted layout.

    ``options`` are those of the layout's own that the user gave, ``parameters`` what was chosen.
    ``workload`` holds the filters that it was fitted for (as expressions, with weights), ``fingerprint``
    tells one workload from another.
    """

    id: str
    strategy: str
    created: str
    table_version: int
    block_rows: int
    partition_by: str | None
    options: Mapping[str, str]
    parameters: Mapping[str, Any]
    fingerprint: str
    workload: tuple[tuple[Any, float], ...]
    groups: tuple[GroupRecord, ...]

    @property
    def group(self) -> GroupRecord:
        """The only column group, of layouts of whole rows."""
        if len(self.groups) != 1:
            raise SkipstoneError(
                f"The layout {self.id} has {len(self.groups)} column groups, not whole rows."
            )
        return self.groups[0]


def save_layout(store: FileStore, record: LayoutRecord) -> None:
    """Store a layout under its id."""
    data = json.dumps({"format": FORMAT, **asdict(record)}).encode()
    store.write(f"{LAYOUTS}/{record.id}-{digest_of(data)}.json", data)


def layout_path(store: FileStore, layout: str) -> str | None:
    """Where a layout is stored; one whose rewrite was killed right after its commit is not."""
    found = [match for name in store.names(LAYOUTS) if (match := _NAME.fullmatch(name))]
    mine = sorted(
        (match for match in found if match["id"] == layout), key=lambda match: match["digest"] or ""
    )
    return f"{LAYOUTS}/{mine[-1][0]}" if mine else None


def load_layout(store: FileStore, layout: str, root: str = "") -> LayoutRecord | None:
    """Read a layout again; None if it is not stored, and an error that names the file if it is damaged."""
    path = layout_path(store, layout)
    if path is None:
        return None
    name = f"{root}/{path}" if root else path
    try:
        data = store.read(path)
        digest = _name_of(path)["digest"]
        if digest is not None and digest != digest_of(data):
            raise ValueError("its bytes do not fit its name")
        stored = json.loads(data)
        version = stored.pop("format")
        if version > FORMAT:
            raise SkipstoneError(f"{name} was written by a newer skipstone; upgrade skipstone.")
        return _record(stored if version >= _FIRST_WITH_GROUPS else _with_group(stored), layout)
    except DamagedFileError as problem:
        raise damaged_layout(name, problem) from problem
    except SkipstoneError:
        raise
    except Exception as problem:
        raise damaged_layout(name, problem) from problem


def damaged_layout(name: str, problem: Exception) -> DamagedFileError:
    """The sentence about a layout file that cannot be used."""
    reason = " ".join(str(problem).split()).rstrip(".") or type(problem).__name__
    return DamagedFileError(
        f"{name} is damaged ({reason}); no query is affected, but delete it and lay the table out anew "
        "(skipstone optimize)."
    )


def _name_of(path: str) -> re.Match[str]:
    found = _NAME.fullmatch(path.rpartition("/")[2])
    assert found is not None
    return found


def _with_group(stored: dict[str, Any]) -> dict[str, Any]:
    """The fields of an earlier format as they are called now: one group with all columns."""
    if stored.keys() != _EARLIER_FIELDS:
        raise ValueError("it has other fields than a layout")
    texts = {key: [{"sql": text, "expr": None} for text in stored.pop(key)] for key in _EXPRESSIONS}
    group = {"columns": None, "assignment": stored.pop("assignment"), **texts}
    curve = stored["parameters"].get("curve")
    return {**stored, "options": {} if curve is None else {"curve": curve}, "groups": [group]}


_EXPRESSIONS = ("sort", "features", "expressions")
_EARLIER_FIELDS = {each.name for each in fields(LayoutRecord)} - {"options", "groups"} | {
    "assignment",
    *_EXPRESSIONS,
}


def _record(stored: dict[str, Any], layout: str) -> LayoutRecord:
    """The record, if each of its fields is what it should be; any exception says that one is not."""
    if stored.keys() != {each.name for each in fields(LayoutRecord)}:
        raise ValueError("it has other fields than a layout")
    if stored["id"] != layout:
        raise ValueError(f"it describes the layout {stored['id']}")
    for key in ("strategy", "created", "fingerprint"):
        _require(isinstance(stored[key], str), key)
    _require(datetime.fromisoformat(stored["created"]).tzinfo is not None, "created")
    _require(type(stored["table_version"]) is int, "table_version")
    _require(type(stored["block_rows"]) is int and stored["block_rows"] > 0, "block_rows")
    _require(stored["partition_by"] is None or isinstance(stored["partition_by"], str), "partition_by")
    for key in ("options", "parameters"):
        _require(isinstance(stored[key], dict), key)
    _require(all(isinstance(value, str) for value in stored["options"].values()), "options")
    workload = tuple((filter_, float(weight)) for filter_, weight in stored["workload"])
    _require(all(math.isfinite(weight) and weight >= 0 for _, weight in workload), "workload")
    groups = tuple(_group(group) for group in stored["groups"])
    _require(len(groups) > 0, "groups")
    return LayoutRecord(**{**stored, "workload": workload, "groups": groups})


def _group(stored: dict[str, Any]) -> GroupRecord:
    columns = None if stored["columns"] is None else tuple(stored["columns"])
    _require(columns is None or all(isinstance(column, str) for column in columns), "columns")
    _require(isinstance(stored["assignment"], dict), "assignment")
    texts = {key: tuple(StoredExpr(**each) for each in stored[key]) for key in _EXPRESSIONS}
    for key, values in texts.items():
        _require(all(isinstance(value.sql, str) for value in values), key)
    return GroupRecord(**{**stored, "columns": columns, **texts})


def _require(holds: bool, field: str) -> None:
    if not holds:
        raise ValueError(f"its {field} cannot be right")
