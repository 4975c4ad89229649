"""Expressions as Spark SQL: what Spark reads back is the same expression, in every session.

Literals carry their type (``5L``, ``1.50BD``, ``DATE '2024-01-31'``), odd names get back-ticks and
parentheses appear only where precedence asks for them. Opaque parts show as their text. Settings that a
call was made under, such as its time zone, are not in the text: a session that has others reads another call.
:func:`unwritable` finds what SQL cannot say at all.

>>> from skipstone.predicate.types import INT
>>> x = Column(("x",), INT)
>>> to_sql(And((Comparison(">", x, Literal(3, INT)), Not(IsNull(x)))))
'x > 3 AND x IS NOT NULL'
"""

from __future__ import annotations

from skipstone.predicate.containers import container_sql
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
    type_of,
    walk,
)
from skipstone.predicate.function_names import EXTRACTED, OPERATORS, SQL_NAMES, TRY_NAMES
from skipstone.predicate.joined_column import text_of
from skipstone.predicate.literals import identifier, literal_sql, plain_sql, text_sql, type_sql
from skipstone.predicate.partner import Partner, partner_of
from skipstone.predicate.types import Kind

__all__ = ["to_sql", "unwritable"]

_OR, _AND, _NOT, _PREDICATE, _SUM, _PRODUCT, _UNARY, _PRIMARY = range(8)
_BINDING = {"+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "%": _PRODUCT, "div": _PRODUCT}
_TRIMMED = {"string_trim": "BOTH", "string_trim_left": "LEADING", "string_trim_right": "TRAILING"}
_MATCH = {"starts_with": "startswith", "ends_with": "endswith", "contains": "contains"}


def to_sql(expr: Expr) -> str:
    """The expression as Spark SQL text."""
    return _sql(expr)[0]


def unwritable(expr: Expr) -> Expr | None:
    """The first part that SQL cannot say, so that Spark would read something else, or nothing, back."""
    return next((part for part in walk(expr) if _is_unwritable(part)), None)


def _is_unwritable(part: Expr) -> bool:
    match part:
        case Opaque() | In(_, ()):
            return True
        case Column(path):
            return any("${" in name for name in path)  # where a variable would be put
        case Literal(int() as nanos, type_) if type_.kind is Kind.TIME:
            return nanos % 1000 != 0  # a constant has microseconds
        case Call("literal", ()):
            return container_sql(part) is None
        case Call("joined_column"):
            return True  # it is no value of a row
        case Call("partner"):
            partner = partner_of(part)
            return partner is None or unwritable(partner.where) is not None
    return False


def _at(expr: Expr, needed: int) -> str:
    """The text, in parentheses if it binds more weakly than its context allows."""
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
            return _comparison(op, left, right), _PREDICATE
        case In(arg, values):
            return f"{_at(arg, _SUM)} IN ({_members(arg, values)})", _PREDICATE
        case IsNull(arg):
            return f"{_at(arg, _SUM)} IS NULL", _PREDICATE
        case Like(arg, pattern, escape):
            return f"{_at(arg, _SUM)} LIKE {_like(pattern, escape)}", _PREDICATE
        case Match("rlike", arg, pattern):
            return f"{_at(arg, _SUM)} RLIKE {text_sql(pattern)}", _PREDICATE
        case Match(kind, arg, pattern):
            return f"{_MATCH[kind]}({to_sql(arg)}, {text_sql(pattern)})", _PRIMARY
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
            return _comparison("!=", left, right), _PREDICATE
        case IsNull(inner):
            return f"{_at(inner, _SUM)} IS NOT NULL", _PREDICATE
        case In(inner, values):
            return f"{_at(inner, _SUM)} NOT IN ({_members(inner, values)})", _PREDICATE
        case Like(inner, pattern, escape):
            return f"{_at(inner, _SUM)} NOT LIKE {_like(pattern, escape)}", _PREDICATE
    return f"NOT {_at(arg, _PRIMARY)}", _NOT


def _comparison(op: str, left: Expr, right: Expr) -> str:
    if isinstance(right, Literal) and right.value is not None and type_of(left) == right.type:
        return f"{_at(left, _SUM)} {op} {plain_sql(right)}"
    return f"{_at(left, _SUM)} {op} {_at(right, _SUM)}"


def _members(arg: Expr, values: tuple[Literal, ...]) -> str:
    same = all(value.type == type_of(arg) for value in values)
    return ", ".join(map(plain_sql if same else literal_sql, values))


def _list(args: tuple[Expr, ...]) -> str:
    return ", ".join(to_sql(arg) for arg in args)


def _like(pattern: str, escape: str) -> str:
    return f"{text_sql(pattern)}{_escape(escape)}"


def _escape(char: str) -> str:
    # After ESCAPE only a constant between quotes may stand.
    quote = '"' if char == "'" else "'"
    return "" if char == "\\" else f" ESCAPE {quote}{char}{quote}"


def _call(call: Call) -> tuple[str, int]:
    name, args = call.name, call.args
    trying = ("mode", "try") in call.params
    if name in OPERATORS and len(args) == 2 and not (trying and name in TRY_NAMES):
        return _operation(OPERATORS[name], *args)
    match name, args:
        case "negate", (arg,):
            # A sign before digits is part of a constant.
            return f"-({to_sql(arg)})" if isinstance(arg, Literal) else f"-{_at(arg, _PRIMARY)}", _UNARY
        case "bitwise_not", (arg,):
            return f"~{_at(arg, _PRIMARY)}", _UNARY
        case (("string_trim" | "string_trim_left" | "string_trim_right"), (arg, what)):
            return f"trim({_TRIMMED[name]} {to_sql(what)} FROM {to_sql(arg)})", _PRIMARY
        case "like", (arg, pattern):
            escape = _escape(dict(call.params).get("escapeChar", "\\"))
            return f"{_at(arg, _SUM)} LIKE {_at(pattern, _SUM)}{escape}", _PREDICATE
        case (("get_timestamp" | "make_timestamp"), _):
            # Which of the two types a name without a zone means is up to the session.
            zone = "ntz" if call.type.kind is Kind.TIMESTAMP_NTZ else "ltz"
            made = "to_timestamp" if name == "get_timestamp" else name
            return f"{made}_{zone}({_list(args)})", _PRIMARY
        case "cast", (arg,):
            return f"{'TRY_CAST' if trying else 'CAST'}({to_sql(arg)} AS {type_sql(call.type)})", _PRIMARY
        case "array_get", (arg, key) if ("base", "1") in call.params:
            return f"element_at({to_sql(arg)}, {to_sql(key)})", _PRIMARY
        case (("map_get" | "array_get"), (arg, key)):
            return f"{_at(arg, _PRIMARY)}[{to_sql(key)}]", _PRIMARY
        case "case_when", _ if len(args) >= 2:
            return _case(args), _PRIMARY
        case "get_struct_field", (arg,):
            return f"{_at(arg, _PRIMARY)}.{identifier(dict(call.params).get('field', '?'))}", _PRIMARY
        case "partner", _ if (partner := partner_of(call)) is not None:
            return _partner(partner), _PRIMARY
        case "joined_column", _:
            return text_of(call), _PRIMARY
        case "literal", ():
            return container_sql(call) or dict(call.params).get("value", "literal()"), _PRIMARY
    if name in EXTRACTED and len(args) == 1:
        return f"extract({EXTRACTED[name]} FROM {to_sql(args[0])})", _PRIMARY
    sql_name = TRY_NAMES[name] if trying and name in TRY_NAMES else SQL_NAMES.get(name, name)
    return f"{identifier(sql_name)}({_list(args)})", _PRIMARY


def _partner(partner: Partner) -> str:
    """For people: Spark is given a column with the truth instead."""
    name = identifier(partner.table.rstrip("/").rpartition("/")[2])
    pairs = zip(partner.table_keys, partner.keys, strict=True)
    keys = " AND ".join(f"{name}.{to_sql(other)} = {to_sql(own)}" for other, own in pairs)
    return " ".join(("EXISTS (SELECT 1 FROM", name, "WHERE", keys, "AND", _at(partner.where, _AND))) + ")"


def _operation(sign: str, left: Expr, right: Expr) -> tuple[str, int]:
    if sign not in _BINDING:
        return f"({_at(left, _PRIMARY)} {sign} {_at(right, _PRIMARY)})", _PRIMARY
    binding = _BINDING[sign]
    # The right side needs more: a - (b - c) is not a - b - c, and float sums do not associate.
    return f"{_at(left, binding)} {sign} {_at(right, binding + 1)}", binding


def _case(args: tuple[Expr, ...]) -> str:
    pairs = len(args) // 2
    branches = "".join(f" WHEN {to_sql(args[2 * i])} THEN {to_sql(args[2 * i + 1])}" for i in range(pairs))
    otherwise = f" ELSE {to_sql(args[-1])}" if len(args) % 2 else ""
    return f"CASE{branches}{otherwise} END"
