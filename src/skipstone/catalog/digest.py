"""The digest that the catalog's files carry in their names."""

from __future__ import annotations

import hashlib

__all__ = ["digest_of"]


def digest_of(data: bytes) -> str:
    """Twelve hexadecimal digits that a wrong bit changes.

    >>> digest_of(b"block"), digest_of(b"blocj")
    ('87174d45f782', '5c3fe2046ff2')
    """
    return hashlib.blake2b(data, digest_size=6).hexdigest()
