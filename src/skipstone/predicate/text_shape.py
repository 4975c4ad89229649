"""What a text pattern demands of strings: how they start, how they end, what is somewhere inside.

A shape is a conjunction of such demands. It is all that is kept of ``LIKE``, ``startswith``,
``endswith`` and ``contains``. The strings of two shapes are those of their :func:`combined` shape.

>>> TextShape(prefix="abc").implies(TextShape(pieces=frozenset({"bc"})))
True
>>> combined(TextShape(prefix="ab"), TextShape(prefix="b")) is None
True
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from skipstone.predicate.patterns import segments

__all__ = ["ANY_TEXT", "TextShape", "combined", "like_shape"]


@dataclass(frozen=True, slots=True)
class TextShape:
    """Strings with this prefix and this suffix that contain all the pieces."""

    prefix: str = ""
    suffix: str = ""
    pieces: frozenset[str] = frozenset()

    def matches(self, text: object) -> bool:
        """Whether a string has this shape."""
        return (
            isinstance(text, str)
            and text.startswith(self.prefix)
            and text.endswith(self.suffix)
            and all(piece in text for piece in self.pieces)
        )

    def implies(self, other: TextShape, *, prefix_known: bool = False) -> bool:
        """Whether all strings of this shape have the other one too.

        ``prefix_known`` says that they are known to start with the other's prefix anyway.
        """
        parts = (self.prefix, self.suffix, *self.pieces)
        return (
            (prefix_known or self.prefix.startswith(other.prefix))
            and self.suffix.endswith(other.suffix)
            and all(any(piece in part for part in parts) for piece in other.pieces)
        )


ANY_TEXT = TextShape()


def combined(left: TextShape, right: TextShape) -> TextShape | None:
    """The shape of strings that have both; None if there are none."""
    if right in (left, ANY_TEXT):
        return left
    short, prefix = sorted((left.prefix, right.prefix), key=len)
    tail, suffix = sorted((left.suffix, right.suffix), key=len)
    if not prefix.startswith(short) or not suffix.endswith(tail):
        return None
    return TextShape(prefix, suffix, left.pieces | right.pieces)


def like_shape(pattern: str, escape: str) -> TextShape:
    r"""What every match of a LIKE pattern looks like; ValueError if Spark rejects the pattern.

    >>> like_shape("ab_c%", "\\")
    TextShape(prefix='ab', suffix='', pieces=frozenset({'c'}))
    """
    parts = segments(pattern, escape)
    # Runs of known characters: the first one is a prefix, the last a suffix, all are contained.
    runs = [
        "".join(char or "" for char in run)
        for part in parts
        for known, run in itertools.groupby(part, key=lambda char: char is not None)
        if known
    ]
    prefix = runs.pop(0) if parts[0] and parts[0][0] is not None else ""
    ends = bool(parts[-1]) and parts[-1][-1] is not None
    # One run may be both: the whole pattern, which every match is equal to.
    suffix = (runs.pop() if runs else prefix) if ends else ""
    return TextShape(prefix, suffix, frozenset(runs))
