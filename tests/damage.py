"""Files that are not what was written: bits flipped, cut off, or something else altogether."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import TypeVar

from skipstone.errors import SkipstoneError

__all__ = ["attempt", "damaged"]

_Result = TypeVar("_Result")
OTHERS = (
    b"",
    b"{",
    b"null",
    b"[]",
    b"{}",
    b"7",
    b'"text"',
    b"[" * 100_000,
    b"\xff\xfe",
    b'{"format": 1}',
    b'{"format": "1"}',
    b'{"format": null}',
    b'{"format": 99}',
)


def attempt(call: Callable[[], _Result]) -> tuple[_Result | None, str]:
    """What a call returns, or the sentence that it fails with; any other exception fails the test."""
    try:
        return call(), ""
    except SkipstoneError as problem:
        return None, str(problem)


def damaged(data: bytes, seed: int = 0, flips: int = 400) -> Iterator[bytes]:
    """Variants of a file, each another than it: a wrong bit, a part of it, other JSON, other types in it."""
    draw = random.Random(seed)
    indices = range(len(data)) if len(data) <= flips else sorted(draw.sample(range(len(data)), flips))
    for index in indices:
        yield data[:index] + bytes([data[index] ^ 1 << draw.randrange(8)]) + data[index + 1 :]
    for length in {0, 1, len(data) // 2, len(data) - 1}:
        yield data[:length]
    yield data + b"\0"
    yield from OTHERS
    yield from _other_types(data)


def _other_types(data: bytes) -> Iterator[bytes]:
    """JSON in which one value is of another type, or gone."""
    try:
        fields = json.loads(data)
    except ValueError:
        return
    for name in fields:
        yield json.dumps({key: value for key, value in fields.items() if key != name}).encode()
        others: tuple[object, ...] = (None, -1, 0, 1e400, "x", [], {}, [[]], {"kind": "tree"}, True)
        for other in others:
            if fields[name] != other:
                yield json.dumps({**fields, name: other}).encode()
