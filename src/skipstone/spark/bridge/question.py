"""What the shim asks about a scan: the table, the filter, and the state of the table's replicas."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NotRequired, TypedDict

from skipstone.catalog.choose_copies import CopyState
from skipstone.catalog.column_names import ColumnNames
from skipstone.predicate.expr import And, Expr, Literal, Opaque
from skipstone.predicate.types import BOOLEAN
from skipstone.spark.bridge.catalyst import TreeJson, expr_from_catalyst
from skipstone.spark.bridge.partners import JoinedTable, PartnerJson, partner_filters, whole_filters

__all__ = ["Question", "QuestionJson"]


class QuestionJson(TypedDict):
    """A question as the shim writes it; ``unusable`` has the code and the text of each such conjunct."""

    root: str
    version: int
    schema: str
    conjuncts: list[TreeJson]
    unusable: list[tuple[str, str]]
    settings: dict[str, str]
    copies: dict[str, list[int]] | None
    partners: NotRequired[list[PartnerJson]]


@dataclass(frozen=True, slots=True)
class Question:
    """A scan of a registered table under a filter, as the shim describes it."""

    root: str
    version: int
    filter: Expr
    settings: Mapping[str, str]
    names: ColumnNames
    schema: str
    copies: CopyState | None = None

    @classmethod
    def read(cls, text: str | QuestionJson, logged: bool = False) -> Question:
        """Read the shim's JSON; in a logged filter are the conditions on joined tables one by one, too."""
        asked: QuestionJson = json.loads(text) if isinstance(text, str) else text
        names = _names_of(asked["schema"])
        parts = [expr_from_catalyst(tree, names) for tree in asked["conjuncts"]]
        parts += [Opaque(text, code) for code, text in asked["unusable"]]
        through_joins = partner_filters if logged else whole_filters
        parts += through_joins(asked.get("partners", []), names, _joined)
        filter_ = parts[0] if len(parts) == 1 else And(tuple(parts)) if parts else Literal(True, BOOLEAN)
        found = asked.get("copies")  # logged questions have none
        copies = None if found is None else CopyState.read(found)
        return cls(
            asked["root"], asked["version"], filter_, asked["settings"], names, asked["schema"], copies
        )


def _joined(found: PartnerJson) -> JoinedTable | None:
    """A joined table as the query reads it."""
    return JoinedTable(found["table"], _names_of(found["schema"]), found["state"])


@lru_cache(maxsize=256)
def _names_of(schema: str) -> ColumnNames:
    return ColumnNames.from_schema(schema)
