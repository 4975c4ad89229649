"""What the shim asks about a join of two tables, and the blocks of each task as it reads them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from skipstone.catalog import Catalog
from skipstone.joining.choose import Chosen, Limits, Refused, choose
from skipstone.joining.groups import Tables
from skipstone.joining.spans import NULL_KEY, Keys, spans_of
from skipstone.predicate.expr import Expr, type_of
from skipstone.predicate.normalize import normalize
from skipstone.pruning.blocks import Counts
from skipstone.spark.bridge.loaded_table import LoadedTable
from skipstone.spark.bridge.question import Question, QuestionJson

__all__ = ["group_join"]


class _SideJson(TypedDict):
    """One side: its key as the filter of a question, and the entries of its files, -1 where there is none."""

    question: QuestionJson
    entries: list[int]
    sizes: list[int]
    row_bytes: int


class _JoinJson(TypedDict):
    """A join as the shim writes it."""

    left: _SideJson
    right: _SideJson
    keeps: tuple[bool, bool]
    may_hash: tuple[bool, bool]
    cores: int
    hashed: int


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    """One side's files, and what is known about its key in them."""

    key: Expr
    keys: Keys


def group_join(text: str, table: Callable[[str], LoadedTable]) -> str:
    """The blocks that each task joins, or why there is no such join, as JSON."""
    asked: _JoinJson = json.loads(text)
    found = [_side(side, table) for side in (asked["left"], asked["right"])]
    refused = next((side for side in found if isinstance(side, Refused)), None)
    if refused is not None:
        return _refusal(refused)
    left, right = (side for side in found if isinstance(side, _Side))
    keeps = (asked["keeps"][0], asked["keeps"][1])
    spans = spans_of(left.keys, right.keys, keeps)
    tables = Tables(spans[0], spans[1], len(spans[2]), keeps)
    may_hash = (asked["may_hash"][0], asked["may_hash"][1])
    chosen = choose(tables, Limits(asked["cores"], asked["hashed"], may_hash))
    if isinstance(chosen, Refused):
        return _refusal(chosen)
    return _answer(chosen, spans[2])


def _refusal(refused: Refused) -> str:
    return json.dumps({"code": refused.code, "sentence": refused.sentence})


def _side(asked: _SideJson, table: Callable[[str], LoadedTable]) -> _Side | Refused:
    question = Question.read(asked["question"])
    loaded = table(question.root)
    if loaded.problem or loaded.version != question.version:
        return Refused("CATALOG", loaded.problem or "the catalog was read anew while the query was planned")
    key = normalize(question.filter)
    keys = _keys(key, loaded.catalog, question, asked)
    return (
        Refused("NOT_KNOWN", "nothing is known about the key in a table's blocks")
        if keys is None
        else (_Side(key, keys))
    )


def _keys(key: Expr, catalog: Catalog, question: Question, asked: _SideJson) -> Keys | None:
    """The bounds of the key in each file of the scan; None if none is known."""
    statistics = catalog.blocks.statistics.get(key)
    if statistics is None or statistics.type != type_of(key) or not statistics.type.ordered:
        return None
    entries = np.array(asked["entries"], np.int64)
    usable = (entries >= 0) & ~catalog.foreign(dict(question.settings))[entries]
    low, high = (side.to_pylist() for side in (statistics.low, statistics.high))
    indices = entries.tolist()
    rows = np.where(usable, catalog.blocks.rows[entries], -1)
    return Keys(
        [low[entry] if known else None for entry, known in zip(indices, usable, strict=True)],
        [high[entry] if known else None for entry, known in zip(indices, usable, strict=True)],
        np.where(usable, statistics.nulls[entries], -1),
        rows,
        _weights(rows, np.array(asked["sizes"], np.int64), asked["row_bytes"]),
    )


def _weights(rows: Counts, sizes: Counts, row_bytes: int) -> Counts:
    """What the rows of each file weigh; where they were not counted, as its bytes suggest."""
    counted = rows >= 0
    weight = rows * row_bytes
    ratio = float(weight[counted].sum()) / max(1, int(sizes[counted].sum())) or 4.0
    found: Counts = np.where(counted, weight, (sizes * ratio).astype(np.int64))
    return found


def _answer(chosen: Chosen, values: list[object]) -> str:
    """As ``GroupedJoins`` reads it."""
    grouping = chosen.grouping

    def bound(rank: int) -> int | bool | str | None:
        """The key at which a range begins or ends; none below all keys and above."""
        return _plain(values[rank]) if 0 <= rank < len(values) else None

    return json.dumps(
        {
            "hashed": "none" if chosen.hashed is None else ("left", "right")[chosen.hashed],
            "left": [group.left.tolist() for group in grouping.groups],
            "right": [group.right.tolist() for group in grouping.groups],
            "ranges": [
                [bound(group.low), bound(group.high), group.low == NULL_KEY] for group in grouping.groups
            ],
            "ranged": [grouping.needs_ranges(side) for side in (0, 1)],
            "sentence": chosen.sentence(),
        }
    )


def _plain(value: object) -> int | bool | str:
    """A bound in JSON: dates and times are numbers already, bytes are written as hexadecimal digits."""
    match value:
        case bool() | int():
            return value
        case bytes():
            return value.hex()
    return str(value)
