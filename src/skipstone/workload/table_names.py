"""Names of tables in SQL text, plain or qualified."""

from __future__ import annotations

from collections.abc import Sequence

from skipstone.workload.statements import tokens

__all__ = ["quoted", "replace_name", "same_ending"]


def same_ending(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether one name is the other, or the other with less in front.

    >>> same_ending(["orders"], ["sales", "orders"]), same_ending(["a", "orders"], ["b", "orders"])
    (True, False)
    """
    shared = min(len(left), len(right))
    return list(left[-shared:]) == list(right[-shared:])


def replace_name(sql: str, parts: Sequence[str], view: str) -> str:
    """Replace a qualified name wherever it begins a dotted name: as a relation and before a column.

    >>> replace_name("SELECT s.t.a FROM S.`t` WHERE x.s.t = 's.t'", ["s", "t"], "v")
    "SELECT `v`.a FROM `v` WHERE x.s.t = 's.t'"
    """
    wanted = [part.lower() for part in parts]
    pieces = [token for token in tokens(sql) if not sql[token.start : token.end].isspace()]
    out, done = [], 0
    for index, token in enumerate(pieces):
        chain = pieces[index : index + 2 * len(wanted) - 1]
        dotted = [sql[piece.start : piece.end] for piece in chain]
        starts = index == 0 or sql[pieces[index - 1].start : pieces[index - 1].end] != "."
        if (
            starts
            and token.start >= done
            and [_unquoted(text) for text in dotted[::2]] == wanted
            and set(dotted[1::2]) <= {"."}
        ):
            out += [sql[done : token.start], quoted(view)]
            done = chain[-1].end
    return "".join([*out, sql[done:]])


def quoted(name: str) -> str:
    """A name in back-ticks.

    >>> quoted("a`b")
    '`a``b`'
    """
    return "`" + name.replace("`", "``") + "`"


def _unquoted(name: str) -> str:
    plain = name[1:-1].replace("``", "`") if name.startswith("`") else name
    return plain.lower()
