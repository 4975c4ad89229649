r"""String patterns: LIKE as a list of pieces, and the regular expressions Java and Python agree on.

A LIKE pattern is cut at its ``%`` signs into *segments*; a segment is a sequence of characters in
which None stands for ``_``, any one character. The first segment is anchored at the start, the
last at the end, and the middle ones are found from left to right. Taking the leftmost position for
each is enough, so matching costs O(length * pattern) and never backtracks.

>>> segments("ab%_c%", "\\")
(('a', 'b', None), ('c',), ())
>>> like("xa\nb", segments("%a_b", "\\"))
True
"""

from __future__ import annotations

import re
from functools import lru_cache

__all__ = ["NotPortable", "Segments", "like", "pattern_of", "portable_regex", "segments"]

Segments = tuple[tuple[str | None, ...], ...]
LINE_ENDS = frozenset("\n\r\x85\u2028\u2029")


class NotPortable(ValueError):
    """A pattern that Spark rejects, or that Java and Python may read differently."""


@lru_cache(maxsize=4096)
def segments(pattern: str, escape: str) -> Segments:
    """The pattern cut at its ``%`` signs; raises :class:`NotPortable` where Spark would fail."""
    found: list[list[str | None]] = [[]]
    chars = iter(pattern)
    for char in chars:
        if char == escape:
            escaped = next(chars, None)
            if escaped is None or escaped not in ("_", "%", escape):
                raise NotPortable(pattern)
            found[-1].append(escaped)
        elif char == "%":
            found.append([])
        else:
            found[-1].append(None if char == "_" else char)
    return _tidy(tuple(tuple(segment) for segment in found))


def _tidy(parts: Segments) -> Segments:
    """``%%`` is ``%`` and ``%_`` is ``_%``: one way to write each run of wildcards."""
    if len(parts) == 1:
        return parts
    tidy: list[list[str | None]] = [list(parts[0])]
    for number, part in enumerate(parts[1:], start=1):
        body = list(part)
        while body and body[0] is None:
            # The character matched by a leading _ may as well be taken before the % as after it.
            tidy[-1].append(body.pop(0))
        if body or number == len(parts) - 1:
            tidy.append(body)
    return tuple(tuple(part) for part in tidy)


def pattern_of(parts: Segments) -> str:
    """The LIKE pattern, escaped by a backslash, that :func:`segments` cuts into these parts."""
    escaped = {None: "_", "_": "\\_", "%": "\\%", "\\": "\\\\"}
    return "%".join("".join(escaped.get(char, char or "") for char in part) for part in parts)


def like(text: str, parts: Segments) -> bool:
    """Whether the whole text matches."""
    if len(parts) == 1:
        return len(text) == len(parts[0]) and _at(text, 0, parts[0])
    first, *middle, last = parts
    start, end = len(first), len(text) - len(last)
    if start > end or not _at(text, 0, first) or not _at(text, end, last):
        return False
    for part in middle:
        position = next((i for i in range(start, end - len(part) + 1) if _at(text, i, part)), None)
        if position is None:
            return False
        start = position + len(part)
    return True


def _at(text: str, start: int, part: tuple[str | None, ...]) -> bool:
    return all(char is None or text[start + i] == char for i, char in enumerate(part))


# --- regular expressions ---------------------------------------------------------------------
#
# Java and Python differ in what ends a line (for . and $), in Unicode classes and boundaries, in
# nested and intersected character classes, and in error cases. What is left below means the same
# in both. Quantified groups hold neither quantifiers nor (except under ?) alternatives: that also
# rules out exponential backtracking.

_ESCAPED = r"\\[dDwWsS.\-+*?()\[\]{}|^$/\\]"
_IN_CLASS = rf"(?:{_ESCAPED}|[A-Za-z0-9]-[A-Za-z0-9]|[A-Za-z0-9 _.,:;/@#%=!~'\"])"
_ATOM = re.compile(rf"{_ESCAPED}|\[\^?{_IN_CLASS}+\]|[^\\\[\](){{}}|*+?^$\x00-\x1f]")
_QUANTIFIER = re.compile(r"(?:[*+?]|\{\d{1,3}(?:,(?:\d{1,3})?)?\})\??(?![*+?{])")
_GROUP_OPEN = re.compile(r"\((?:\?:|(?!\?))")


@lru_cache(maxsize=1024)
def portable_regex(pattern: str) -> tuple[re.Pattern[str], bool]:
    """The Python regex that finds what Java's does, and whether line ends must be absent."""
    _check(pattern)
    text = re.sub(r"(\\.)|\$", lambda found: found[1] or r"\Z", pattern)
    try:
        compiled = re.compile(text, re.ASCII)
    except (re.error, OverflowError) as error:
        raise NotPortable(pattern) from error
    return compiled, "." in pattern or "$" in pattern


def _check(pattern: str) -> None:
    """Walk over the pattern; raise unless every piece of it is in the common subset."""
    position = 0
    # Per open group: whether it holds a quantifier, and whether it holds an alternative.
    groups: list[list[bool]] = [[False, False]]
    last: list[bool] | None = None  # what a quantifier here would repeat; None for nothing
    while position < len(pattern):
        if found := _QUANTIFIER.match(pattern, position):
            if last is None or last[0] or (last[1] and found[0][0] != "?"):
                raise NotPortable(pattern)
            groups[-1][0] = True
            last = None
        elif found := _GROUP_OPEN.match(pattern, position):
            groups.append([False, False])
            last = None
        elif found := _ATOM.match(pattern, position):
            last = [False, False]
        elif pattern[position] == ")" and len(groups) > 1:
            last = groups.pop()
            groups[-1] = [groups[-1][0] or last[0], groups[-1][1] or last[1]]
        elif pattern[position] in "|^$":
            groups[-1][1] |= pattern[position] == "|"
            last = None
        else:
            raise NotPortable(pattern)
        position = found.end() if found else position + 1
    if len(groups) > 1:
        raise NotPortable(pattern)
