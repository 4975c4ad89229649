r"""SQL text to statements: split at the semicolons that end one.

A semicolon inside quotes, back-ticks or a comment ends nothing. When a quote is never closed the rest of
the file would be one long string; then the statement that opened it is given up at the next semicolon at
a line's end, and splitting goes on behind it, so that one broken statement costs no other.

>>> [statement.sql for statement in split_statements("SELECT ';' ; -- a; b\nSELECT 2")]
["SELECT ';'", '-- a; b\nSELECT 2']
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Statement", "Token", "split_statements", "tokens"]

_SINGLE = re.compile(
    r"""(?P<comment>--(?:\\\n|[^\r\n])*)|(?P<bracket>/\*)|(?P<raw>\b[rR](?:'[^']*'|"[^"]*"))"""
    r"""|(?P<quote>['"])|(?P<name>`(?:[^`]|``)*`|\w+)|(?P<tick>`)|(?P<other>.)""",
    re.DOTALL,
)
_BACKSLASHED = {quote: re.compile(rf"{quote}(?:[^{quote}\\]|\\.)*{quote}", re.DOTALL) for quote in "'\""}
_DOUBLED = {quote: re.compile(f"{quote}[^{quote}]*{quote}", re.DOTALL) for quote in "'\""}
_LINE_END = re.compile(r";[ \t]*(?:--[^\n]*)?(?:\r?\n|$)")


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of SQL text: ``kind`` is comment, string, name, other, or unclosed for an open quote."""

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement without its semicolon; ``problem`` says why it has no proper end."""

    sql: str
    line: int
    problem: str = ""


def tokens(text: str, start: int = 0, backslash: bool = True) -> Iterator[Token]:
    """The tokens from ``start`` on; ``backslash`` says whether a backslash escapes inside quotes."""
    strings = _BACKSLASHED if backslash else _DOUBLED
    while start < len(text):
        found = _SINGLE.match(text, start)
        assert found is not None
        kind, end = found.lastgroup or "other", found.end()
        if kind == "quote":
            closed = strings[found.group()].match(text, start)
            kind, end = ("string", closed.end()) if closed else ("unclosed", len(text))
        elif kind == "bracket":
            closing = _bracket_end(text, start)
            kind, end = ("comment", closing) if closing else ("unclosed", len(text))
        elif kind == "tick":
            kind, end = "unclosed", len(text)
        elif kind == "raw":
            kind = "string"
        yield Token(kind, start, end)
        start = end


def _bracket_end(text: str, start: int) -> int | None:
    # Spark's bracketed comments nest.
    depth = 0
    for mark in re.compile(r"/\*|\*/").finditer(text, start):
        depth += 1 if mark.group() == "/*" else -1
        if depth == 0:
            return mark.end()
    return None


def split_statements(text: str, backslash: bool = True) -> list[Statement]:
    """All statements of a file in order; pieces that hold only blanks and comments are left out."""
    out: list[Statement] = []
    start = 0
    while start < len(text):
        start = _split_from(text, start, backslash, out)
    return out


def _split_from(text: str, start: int, backslash: bool, out: list[Statement]) -> int:
    """Append the statements from ``start`` up to the end or the first broken one; return where to go on."""
    pending: list[Statement] = []
    suspect: tuple[int, int, int, int] | None = None  # pending, statement, quote and cut of a doubtful string
    begin, content = start, False
    for token in tokens(text, start, backslash):
        piece = text[token.start : token.end]
        if token.kind in ("string", "unclosed"):
            cut = _LINE_END.search(text, token.start, token.end)
            if cut and suspect is None:
                suspect = (len(pending), begin, token.start, cut.start())
            if token.kind == "unclosed":
                count, begin, quote, end = suspect or (len(pending), begin, token.start, len(text))
                out.extend(pending[:count])
                problem = f"the {text[quote]} on line {_line(text, quote)} is never closed"
                out.append(_statement(text, begin, end, problem))
                return end + 1
        if piece == ";" and token.kind == "other":
            if content:
                pending.append(_statement(text, begin, token.start))
            begin, content = token.end, False
        elif token.kind != "comment" and not piece.isspace():
            content = True
    if content:
        pending.append(_statement(text, begin, len(text)))
    out.extend(pending)
    return len(text)


def _statement(text: str, begin: int, end: int, problem: str = "") -> Statement:
    sql = text[begin:end]
    return Statement(sql.strip(), _line(text, begin + len(sql) - len(sql.lstrip())), problem)


def _line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1
