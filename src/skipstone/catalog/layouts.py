"""Stored layouts: what a table was laid out by, so that later rows can follow and others can look.

``TABLE/_skipstone/layouts/ID-DIGEST.json``, written once and never changed. The digest is that of the
bytes, as in the names of segments. Format 1 had none (``ID.json``); such files are still read, and of these
only that can be noticed which leaves no record of a layout.
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

__all__ = ["LAYOUTS", "LayoutRecord", "damaged_layout", "layout_path", "load_layout", "save_layout"]

FORMAT = 2
LAYOUTS = f"{FOLDER}/layouts"
_NAME = re.compile(r"(?P<id>[0-9a-z]+)(?:-(?P<digest>[0-9a-f]{12}))?\.json")


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
        if stored.pop("format") > FORMAT:
            raise SkipstoneError(f"{name} was written by a newer skipstone; upgrade skipstone.")
        return _record(stored, layout)
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
    for key in ("parameters", "assignment"):
        _require(isinstance(stored[key], dict), key)
    texts = {key: tuple(stored[key]) for key in ("features", "expressions", "sort")}
    for key, values in texts.items():
        _require(all(isinstance(value, str) for value in values), key)
    workload = tuple((filter_, float(weight)) for filter_, weight in stored["workload"])
    _require(all(math.isfinite(weight) and weight >= 0 for _, weight in workload), "workload")
    return LayoutRecord(**{**stored, **texts, "workload": workload})


def _require(holds: bool, field: str) -> None:
    if not holds:
        raise ValueError(f"its {field} cannot be right")
