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
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import TypeVar

from skipstone.catalog.store import FOLDER, FileStore, digest_of
from skipstone.errors import DamagedFileError, SkipstoneError
from skipstone.json_types import JsonObject, json_int, json_list, json_number, json_object, json_text

__all__ = [
    "ADAPTED_FROM",
    "LAYOUTS",
    "GroupRecord",
    "LayoutRecord",
    "StoredExpr",
    "damaged_layout",
    "layout_path",
    "load_layout",
    "save_layout",
]

Read = TypeVar("Read")
FORMAT = 3
ADAPTED_FROM = "adapted_from"
"""The parameter of an adapted layout that has the ids of those before it, the last one first."""
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

    ``assignment`` is the JSON of :mod:`skipstone.layout.assignment_json`; ``features`` and ``expressions``
    are what its blocks have bits and statistics of, ``sort`` the order inside a block.
    """

    columns: tuple[str, ...] | None
    assignment: JsonObject
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
    parameters: JsonObject
    fingerprint: str
    workload: tuple[tuple[object, float], ...]
    groups: tuple[GroupRecord, ...]

    @property
    def adapted_from(self) -> tuple[str, ...]:
        """The ids of the layouts that this one was adapted from; files that were left alone lie by them."""
        found = self.parameters.get(ADAPTED_FROM, [])
        return tuple(map(str, found)) if isinstance(found, list | tuple) else ()

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
        stored = dict(json_object(json.loads(data)))
        version = json_int(stored.pop("format"))
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


def _with_group(stored: JsonObject) -> JsonObject:
    """The fields of an earlier format as they are called now: one group with all columns."""
    if stored.keys() != _EARLIER_FIELDS:
        raise ValueError("it has other fields than a layout")
    texts = {key: [{"sql": text, "expr": None} for text in json_list(stored[key])] for key in _EXPRESSIONS}
    group = {"columns": None, "assignment": stored["assignment"], **texts}
    curve = json_object(stored["parameters"]).get("curve")
    rest = {key: value for key, value in stored.items() if key != "assignment" and key not in _EXPRESSIONS}
    return {**rest, "options": {} if curve is None else {"curve": curve}, "groups": [group]}


_EXPRESSIONS = ("sort", "features", "expressions")
_EARLIER_FIELDS = {each.name for each in fields(LayoutRecord)} - {"options", "groups"} | {
    "assignment",
    *_EXPRESSIONS,
}


def _record(stored: JsonObject, layout: str) -> LayoutRecord:
    """The record, if each of its fields is what it should be; any exception says that one is not."""
    if stored.keys() != {each.name for each in fields(LayoutRecord)}:
        raise ValueError("it has other fields than a layout")
    if stored["id"] != layout:
        raise ValueError(f"it describes the layout {stored['id']}")
    read = _Fields(stored)
    created = read.get("created", json_text)
    _require(datetime.fromisoformat(created).tzinfo is not None, "created")
    block_rows = read.get("block_rows", json_int)
    _require(block_rows > 0, "block_rows")
    options = {
        key: read.checked("options", json_text, text)
        for key, text in read.get("options", json_object).items()
    }
    workload = tuple(map(_weighted, read.get("workload", json_list)))
    _require(all(math.isfinite(weight) and weight >= 0 for _, weight in workload), "workload")
    groups = tuple(_group(json_object(group)) for group in read.get("groups", json_list))
    _require(len(groups) > 0, "groups")
    return LayoutRecord(
        id=layout,
        strategy=read.get("strategy", json_text),
        created=created,
        table_version=read.get("table_version", json_int),
        block_rows=block_rows,
        partition_by=None if stored["partition_by"] is None else read.get("partition_by", json_text),
        options=options,
        parameters=read.get("parameters", json_object),
        fingerprint=read.get("fingerprint", json_text),
        workload=workload,
        groups=groups,
    )


def _weighted(stored: object) -> tuple[object, float]:
    filter_, weight = json_list(stored)
    return filter_, float(json_number(weight))


def _group(stored: JsonObject) -> GroupRecord:
    if stored.keys() != {each.name for each in fields(GroupRecord)}:
        raise ValueError("it has other fields than a column group")
    read = _Fields(stored)
    columns = None if stored["columns"] is None else read.get("columns", json_list)
    sort, features, expressions = (
        tuple(_stored_expr(key, json_object(each)) for each in read.get(key, json_list))
        for key in _EXPRESSIONS
    )
    return GroupRecord(
        columns=None
        if columns is None
        else tuple(read.checked("columns", json_text, each) for each in columns),
        assignment=read.get("assignment", json_object),
        sort=sort,
        features=features,
        expressions=expressions,
    )


def _stored_expr(key: str, stored: JsonObject) -> StoredExpr:
    _require(stored.keys() <= {"sql", "expr"}, key)
    return StoredExpr(_Fields(stored).get("sql", json_text), stored.get("expr"))


@dataclass(frozen=True, slots=True)
class _Fields:
    """Reads fields; one that is not what it should be is named."""

    stored: JsonObject

    def get(self, key: str, read: Callable[[object], Read]) -> Read:
        return self.checked(key, read, self.stored[key])

    def checked(self, key: str, read: Callable[[object], Read], value: object) -> Read:
        try:
            return read(value)
        except ValueError:
            raise _wrong(key) from None


def _wrong(field: str) -> ValueError:
    return ValueError(f"its {field} cannot be right")


def _require(holds: bool, field: str) -> None:
    if not holds:
        raise _wrong(field)
