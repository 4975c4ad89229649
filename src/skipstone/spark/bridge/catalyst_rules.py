"""One rule per kind of Catalyst expression; its arguments are understood already."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skipstone.catalog.column_names import ColumnNames
from skipstone.predicate.expr import (
    And,
    Call,
    Column,
    Comparison,
    Expr,
    In,
    IsNull,
    Like,
    Literal,
    Match,
    Not,
    Opaque,
    Or,
    columns_of,
    type_of,
)
from skipstone.predicate.types import BOOLEAN, Kind, Type
from skipstone.spark.bridge.catalyst_calls import Params, call, literal, params_of, snake_case

__all__ = ["SESSION_DEPENDENT", "CatalystNode", "junction", "opaque", "rule_for"]

_COMPARISONS = {
    "EqualTo": "=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "EqualNullSafe": "<=>",
}
_MATCHES = {"StartsWith": "starts_with", "EndsWith": "ends_with", "Contains": "contains", "RLike": "rlike"}
SESSION_DEPENDENT = {
    *("CurrentDate", "CurrentTimestamp", "CurrentTime", "CurrentTimeZone", "CurrentUser", "CurrentDatabase"),
    *("CurrentCatalog", "CurrentPath", "CurrentBatchTimestamp", "SessionUser", "Now", "LocalTimestamp"),
}
_NAMES = {
    "UnaryMinus": "negate",
    "TruncDate": "trunc",
    "TruncTimestamp": "date_trunc",
    "DateFormatClass": "date_format",
    "RegExpExtract": "regexp_extract",
    "RegExpReplace": "regexp_replace",
}


@dataclass(frozen=True, slots=True)
class CatalystNode:
    """One Catalyst node with the expressions that its children became."""

    name: str
    fields: Mapping[str, Any]
    type: Type
    args: tuple[Expr, ...]
    names: ColumnNames
    settings: Params


def opaque(text: str, code: str, args: Sequence[Expr], type_: Type) -> Opaque:
    """Something that is not understood, with the columns that its arguments read."""
    read = {column for arg in args for column in columns_of(arg)}
    return Opaque(text, code, tuple(sorted(read, key=lambda column: column.path)), type_)


def _refuse(node: CatalystNode, code: str = "UNSUPPORTED") -> Opaque:
    return opaque(snake_case(node.name.rsplit(".", 1)[-1]), code, node.args, node.type)


def junction(kind: type[And | Or], args: Sequence[Expr]) -> Expr:
    """AND or OR, flat; of a single part, that part."""
    flat = [part for arg in args for part in (arg.args if isinstance(arg, kind) else (arg,))]
    return kind(tuple(flat)) if len(flat) > 1 else flat[0]


def rule_for(name: str) -> Callable[[CatalystNode], Expr]:
    """How expressions of a Catalyst class are read."""
    return _RULES.get(name, _generic)


def _generic(node: CatalystNode) -> Expr:
    if node.name in SESSION_DEPENDENT:
        return _refuse(node, "SESSION_DEPENDENT")
    # A leaf that is neither column nor literal reads something that is not in the row; classes outside the
    # package, or in one of its sub-packages, may hold code.
    if not node.args or "." in node.name:
        return _refuse(node)
    params = params_of(node.fields, node.args, node.type)
    if params is None:
        return _refuse(node)
    return call(_NAMES.get(node.name, snake_case(node.name)), node.args, node.type, (*params, *node.settings))


def _column(node: CatalystNode) -> Expr:
    parent: tuple[str, ...] = ()
    if node.args:
        if not isinstance(node.args[0], Column):
            field = (("field", node.fields["name"]),)
            return call("get_struct_field", node.args, node.type, (*field, *node.settings))
        parent = node.args[0].path
    found = node.names.resolve(parent, node.fields["name"], node.fields["metadata"])
    # The stored type of a struct is the table's; a plan may have pruned fields out of it.
    type_ = found.type if found.type is not None and node.type.kind is Kind.OTHER else node.type
    column = Column(found.path, type_)
    return Opaque(node.fields["name"], found.problem, (column,), type_) if found.problem else column


def _literal(node: CatalystNode) -> Expr:
    return literal(node.fields["value"], node.type) or _refuse(node)


def _compared(arg: Expr) -> Expr:
    # Comparisons take all NaNs for one and -0.0 for 0.0 anyway.
    return arg.args[0] if isinstance(arg, Call) and arg.name == "normalize_nan_and_zero" else arg


def _comparison(node: CatalystNode) -> Expr:
    left, right = map(_compared, node.args)
    return Comparison(_COMPARISONS[node.name], left, right)


def _in(node: CatalystNode) -> Expr:
    arg, *values = map(_compared, node.args)
    if not values:
        return _refuse(node)  # an empty list means one thing or another, by a legacy setting
    literals = tuple(value for value in values if isinstance(value, Literal))
    if len(literals) == len(values):
        return In(arg, literals)
    return junction(Or, [Comparison("=", arg, value) for value in values])


def _in_set(node: CatalystNode) -> Expr:
    arg = _compared(node.args[0])
    members = [literal(value, type_of(arg)) for value in node.fields["members"]]
    values = tuple(value for value in members if isinstance(value, Literal))
    if not values or len(values) < len(members):
        return _refuse(node)
    return In(arg, tuple(sorted(values, key=_order)))


def _order(member: Literal) -> tuple[int, Any]:
    value: Any = member.value
    if value is None:
        return (2, 0)
    return (1, 0) if isinstance(value, float) and math.isnan(value) else (0, value)  # NaN is the last number


def _constant_text(expr: Expr) -> str | None:
    return expr.value if isinstance(expr, Literal) and isinstance(expr.value, str) else None


def _pattern(expr: Expr) -> str | None:
    """A pattern that Spark matches against decoded text, in which U+FFFD stands for any broken byte."""
    text = _constant_text(expr)
    return None if text is None or "\ufffd" in text else text


def _like(node: CatalystNode) -> Expr:
    pattern = _pattern(node.args[1])
    return _generic(node) if pattern is None else Like(node.args[0], pattern, node.fields["escapeChar"])


def _match(node: CatalystNode) -> Expr:
    pattern = (_pattern if node.name == "RLike" else _constant_text)(node.args[1])
    return _generic(node) if pattern is None else Match(_MATCHES[node.name], node.args[0], pattern)


def _like_many(node: CatalystNode) -> Expr:
    parts: list[Expr] = []
    for pattern in node.fields["patterns"]:
        if pattern is not None and (not isinstance(pattern, str) or "\ufffd" in pattern):
            return _refuse(node)
        like = Literal(None, BOOLEAN) if pattern is None else Like(node.args[0], pattern)
        parts.append(Not(like) if node.name.startswith("Not") else like)
    return junction(And if node.name.endswith("All") else Or, parts) if parts else _refuse(node)


def _cast(node: CatalystNode) -> Expr:
    if type_of(node.args[0]).kind is Kind.OTHER and node.type.kind is not Kind.OTHER:
        return _refuse(node)
    params: list[tuple[str, str]] = []
    if not node.fields["sameInAllModes"]:
        params.append(("mode", node.fields["evalMode"].lower()))
    if node.fields["needsTimeZone"]:
        params.append(("timezone", str(node.fields["timeZoneId"])))
    return call("cast", node.args, node.type, (*params, *node.settings))


def _map_get(node: CatalystNode) -> Expr:
    return call("map_get", node.args, node.type, node.settings)


def _array_get(node: CatalystNode) -> Expr:
    """``arr[i]`` counts from 0; ``element_at(arr, i)`` from 1, and from the end when negative."""
    array, index = node.args
    if node.name == "ElementAt" and json.loads(type_of(array).text)["type"] == "map":
        return _map_get(node)
    params = params_of(node.fields, node.args, node.type)
    if params is None or "defaultValueOutOfBound" in dict(params):
        return _refuse(node)
    kept = tuple(param for param in params if param[0] != "shape")
    base = "0"
    if node.name == "ElementAt":
        if isinstance(index, Literal) and isinstance(index.value, int) and index.value > 0:
            index = Literal(index.value - 1, index.type)
        else:
            base = "1"
    return call("array_get", (array, index), node.type, (*kept, ("base", base), *node.settings))


_RULES: dict[str, Callable[[CatalystNode], Expr]] = {
    "AttributeReference": _column,
    "GetStructField": _column,
    "Literal": _literal,
    "In": _in,
    "InSet": _in_set,
    "IsNull": lambda node: IsNull(node.args[0]),
    "IsNotNull": lambda node: Not(IsNull(node.args[0])),
    "Like": _like,
    "Cast": _cast,
    "GetMapValue": _map_get,
    "GetArrayItem": _array_get,
    "ElementAt": _array_get,
    **dict.fromkeys(_COMPARISONS, _comparison),
    **dict.fromkeys(_MATCHES, _match),
    **dict.fromkeys(("LikeAll", "LikeAny", "NotLikeAll", "NotLikeAny"), _like_many),
}
