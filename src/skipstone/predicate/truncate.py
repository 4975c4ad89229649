"""Shortening string and binary bounds without ever making them wrong.

A minimum may be cut anywhere: a prefix of a text is never greater than the text. A maximum that is
cut must be raised, or it would fall below the values it covers: its last unit is incremented, and
units that cannot be incremented are dropped first. Order is by code point, which is the order of
UTF-8 bytes; the surrogates U+D800 to U+DFFF are no characters and are stepped over.

>>> truncate_min("jeans", 2), truncate_max("jeans", 2)
('je', 'jf')
>>> truncate_max(chr(0x10FFFF) * 3, 2) is None
True
"""

from __future__ import annotations

from typing import TypeVar

__all__ = ["is_range", "successor", "truncate_max", "truncate_min"]

Text = TypeVar("Text", str, bytes)

_LAST = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)


def successor(prefix: Text) -> Text | None:
    r"""The smallest value greater than everything that starts with ``prefix``; None if there is none.

    >>> successor("ab"), successor(b"a\xff"), successor("")
    ('ac', b'b', None)
    """
    if isinstance(prefix, bytes):
        kept = prefix.rstrip(b"\xff")
        return kept[:-1] + bytes([kept[-1] + 1]) if kept else None
    if _valid_length(prefix) < len(prefix):
        return None
    text = prefix.rstrip(chr(_LAST))
    if not text:
        return None
    raised = ord(text[-1]) + 1
    return text[:-1] + chr(_SURROGATES.stop if raised in _SURROGATES else raised)


def is_range(prefix: str) -> bool:
    """Whether everything from a prefix up to its successor starts with the prefix.

    Not so where their bytes are no neighbours: what lies between is no valid UTF-8, but Spark has it too.

    >>> is_range("a"), is_range(chr(0x7F))
    (True, False)
    """
    after = successor(prefix)
    if not prefix or after is None:
        return not prefix
    *head, last = prefix.encode()
    return list(after.encode()) == [*head, last + 1]


def truncate_min(value: Text, limit: int) -> Text:
    """A value of at most ``limit`` characters or bytes that is not greater than ``value``."""
    if isinstance(value, str):
        limit = min(limit, _valid_length(value))
    return value[:limit]


def truncate_max(value: Text, limit: int) -> Text | None:
    """A value of at most ``limit`` characters or bytes that is not smaller than ``value``.

    None, no bound, if every shorter value is smaller.
    """
    if isinstance(value, str):  # noqa: SIM102 (mypy reads the two types one after the other)
        if _valid_length(value) < len(value):
            return None
    return value if len(value) <= limit else successor(value[:limit])


def _valid_length(text: str) -> int:
    """How many characters come before the first lone surrogate, which has no UTF-8 form."""
    return next((index for index, char in enumerate(text) if ord(char) in _SURROGATES), len(text))
