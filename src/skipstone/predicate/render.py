"""Expressions as Spark SQL, to be read by people and parsed by Spark.

Literals carry their type (``5L``, ``1.50BD``, ``DATE '2024-01-31'``), odd names get back-ticks and
parentheses appear only where precedence asks for them. Opaque parts show as their text.

>>> from skipstone.predicate.types import INT
>>> x = Column(("x",), INT)
>>> to_sql(And((Comparison(">", x, Literal(3, INT)), Not(IsNull(x)))))
'x > 3 AND x IS NOT NULL'
"""

from __future__ import annotations

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
)
from skipstone.predicate.functions import CATALYST_NAMES
from skipstone.predicate.literals import identifier, literal_sql, string_sql, type_sql

__all__ = ["to_sql"]

_OR, _AND, _NOT, _PREDICATE, _SUM, _PRODUCT, _UNARY, _PRIMARY = range(8)
_BINARY = {
    "add": ("+", _SUM),
    "subtract": ("-", _SUM),
    "multiply": ("*", _PRODUCT),
    "divide": ("/", _PRODUCT),
    "remainder": ("%", _PRODUCT),
    "mod": ("%", _PRODUCT),
    "div": ("div", _PRODUCT),
}
_MATCH = {"starts_with": "startswith", "ends_with": "endswith", "contains": "contains"}


def to_sql(expr: Expr) -> str:
    """The expression as Spark SQL text."""
    return _sql(expr)[0]


def _at(expr: Expr, needed: int) -> str:
    """The text, in parentheses if it binds more weakly than its place needs."""
    text, binding = _sql(expr)
    return text if binding >= needed else f"({text})"


def _sql(expr: Expr) -> tuple[str, int]:
    match expr:
        case Column(path=path):
            return ".".join(identifier(part) for part in path), _PRIMARY
        case Literal():
            text = literal_sql(expr)
            return text, _UNARY if text.startswith("-") else _PRIMARY
        case Call():
            return _call(expr)
        case Comparison(op, left, right):
            return f"{_at(left, _SUM)} {op} {_at(right, _SUM)}", _PREDICATE
        case In(arg, values):
            return f"{_at(arg, _SUM)} IN ({_list(values)})", _PREDICATE
        case IsNull(arg):
            return f"{_at(arg, _SUM)} IS NULL", _PREDICATE
        case Like(arg, pattern, escape):
            return f"{_at(arg, _SUM)} LIKE {_like(pattern, escape)}", _PREDICATE
        case Match("rlike", arg, pattern):
            return f"{_at(arg, _SUM)} RLIKE {string_sql(pattern)}", _PREDICATE
        case Match(kind, arg, pattern):
            return f"{_MATCH[kind]}({to_sql(arg)}, {string_sql(pattern)})", _PRIMARY
        case And(args):
            return " AND ".join(_at(arg, _NOT) for arg in args), _AND
        case Or(args):
            return " OR ".join(_at(arg, _AND) for arg in args), _OR
        case Not(arg):
            return _not(arg)
        case Opaque(text=text):
            return text, _OR


def _not(arg: Expr) -> tuple[str, int]:
    match arg:
        case Comparison("=", left, right):
            return f"{_at(left, _SUM)} != {_at(right, _SUM)}", _PREDICATE
        case IsNull(inner):
            return f"{_at(inner, _SUM)} IS NOT NULL", _PREDICATE
        case In(inner, values):
            return f"{_at(inner, _SUM)} NOT IN ({_list(values)})", _PREDICATE
        case Like(inner, pattern, escape):
            return f"{_at(inner, _SUM)} NOT LIKE {_like(pattern, escape)}", _PREDICATE
    return f"NOT {_at(arg, _PRIMARY)}", _NOT


def _list(args: tuple[Literal, ...] | tuple[Expr, ...]) -> str:
    return ", ".join(to_sql(arg) for arg in args)


def _like(pattern: str, escape: str) -> str:
    return string_sql(pattern) + ("" if escape == "\\" else f" ESCAPE {string_sql(escape)}")


def _call(call: Call) -> tuple[str, int]:
    name, args = call.name, call.args
    if name in _BINARY and len(args) == 2:
        sign, binding = _BINARY[name]
        # The right side needs more: a - (b - c) is not a - b - c, and float sums do not associate.
        return f"{_at(args[0], binding)} {sign} {_at(args[1], binding + 1)}", binding
    match name, args:
        case "negate", (arg,):
            return f"-{_at(arg, _PRIMARY)}", _UNARY
        case "cast", (arg,):
            trying = ("mode", "try") in call.params
            return f"{'TRY_CAST' if trying else 'CAST'}({to_sql(arg)} AS {type_sql(call.type)})", _PRIMARY
        case "array_get", (arg, key) if ("base", "1") in call.params:
            return f"element_at({to_sql(arg)}, {to_sql(key)})", _PRIMARY
        case (("map_get" | "array_get"), (arg, key)):
            return f"{_at(arg, _PRIMARY)}[{to_sql(key)}]", _PRIMARY
        case "case_when", _ if len(args) >= 2:
            return _case(args), _PRIMARY
        case "get_struct_field", (arg,):
            return f"{_at(arg, _PRIMARY)}.{identifier(dict(call.params).get('field', '?'))}", _PRIMARY
        case "literal", ():
            return dict(call.params).get("value", "literal()"), _PRIMARY
    return f"{identifier(CATALYST_NAMES.get(name, name))}({_list(args)})", _PRIMARY


def _case(args: tuple[Expr, ...]) -> str:
    pairs = len(args) // 2
    branches = "".join(f" WHEN {to_sql(args[2 * i])} THEN {to_sql(args[2 * i + 1])}" for i in range(pairs))
    otherwise = f" ELSE {to_sql(args[-1])}" if len(args) % 2 else ""
    return f"CASE{branches}{otherwise} END"
