"""Catalyst expressions to predicates: one normal reading for live filters, logged SQL and features.

The input is what ``CatalystJson.java`` writes: an expression's nodes, parents first, each with its class,
type and fields. They are read backwards with a stack, so that a chain of a thousand ORs needs no recursion.

What is understood becomes a node of its own; any other deterministic Catalyst expression becomes a
:class:`Call` with all its fields as params, so that equal calls compute equal values; the rest is
:class:`Opaque` with a reason. A scalar or a comparison over something opaque is opaque itself: only AND,
OR and NOT have an opaque part beside parts that can still be used.
"""

from __future__ import annotations

import json
import re
from typing import NotRequired, TypedDict

from skipstone.catalog.column_names import ColumnNames
from skipstone.catalog.types_json import type_from_json
from skipstone.predicate.expr import And, Expr, Not, Opaque, Or, walk
from skipstone.predicate.types import BOOLEAN
from skipstone.spark.bridge.catalyst_calls import Params
from skipstone.spark.bridge.catalyst_rules import SESSION_DEPENDENT, CatalystNode, junction, opaque, rule_for

__all__ = ["TreeJson", "expr_from_catalyst"]

_PACKAGE = "org.apache.spark.sql.catalyst.expressions."
_TRANSPARENT = {
    *("Alias", "KnownNotNull", "KnownNullable", "KnownNotContainsNull", "KnownFloatingPointNormalized"),
}


class _NodeJson(TypedDict):
    """One node: its class, children, type (else boolean) and fields, or why it is refused and its text."""

    c: str
    n: int
    t: NotRequired[str]
    f: NotRequired[dict[str, object]]
    x: NotRequired[str]
    s: NotRequired[str]


class TreeJson(TypedDict):
    """An expression as ``CatalystJson.write`` writes it."""

    settings: dict[str, object]
    nodes: list[_NodeJson]


def expr_from_catalyst(tree: str | TreeJson, names: ColumnNames | None = None) -> Expr:
    """The predicate for an expression written by ``CatalystJson.write``.

    ``names`` has the physical names of the table's columns; pass it whenever a schema is known.
    """
    read: TreeJson = json.loads(tree) if isinstance(tree, str) else tree
    settings = tuple((f"conf.{key}", str(value)) for key, value in read["settings"].items())
    stack: list[Expr] = []
    for node in reversed(read["nodes"]):
        args = tuple(stack.pop() for _ in range(node["n"]))
        stack.append(_build(node, args, names or ColumnNames(), settings))
    (whole,) = stack
    return whole


def _build(raw: _NodeJson, args: tuple[Expr, ...], names: ColumnNames, settings: Params) -> Expr:
    name = raw["c"].removeprefix(_PACKAGE)
    type_ = type_from_json(raw["t"]) if "t" in raw else BOOLEAN
    if "x" in raw:
        code = "SESSION_DEPENDENT" if name in SESSION_DEPENDENT else raw["x"]
        within = _culprit(args)
        if code == "UNSUPPORTED" and within is not None:
            return opaque(within.text, within.code, args, type_)
        return opaque(re.sub(r"#\d+L?", "", raw["s"]), code, args, type_)
    node = CatalystNode(name, raw["f"], type_, args, names, settings)
    if name in ("And", "Or"):
        return junction(And if name == "And" else Or, args)
    if name == "Not":
        return Not(args[0])
    if name in _TRANSPARENT:
        return args[0]
    culprit = _culprit(args)
    if culprit is not None:
        return opaque(culprit.text, culprit.code, args, type_)
    return rule_for(name)(node)


def _culprit(args: tuple[Expr, ...]) -> Opaque | None:
    """The part that is not understood; one with a better reason than that it is not supported, if any."""
    found = [part for arg in args for part in walk(arg) if isinstance(part, Opaque)]
    return min(found, key=lambda part: part.code == "UNSUPPORTED", default=None)
