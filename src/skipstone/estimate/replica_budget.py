"""How many bytes the replicas of a table may have together: a number of bytes, or a share of the table's.

>>> budget_bytes("50%", 4_000), budget_bytes("20GB", 4_000), budget_bytes("1.5 mb", 4_000)
(2000, 20000000000, 1500000)
"""

from __future__ import annotations

import re

from skipstone.errors import SkipstoneError

__all__ = ["budget_bytes"]

_UNITS = {"B": 1.0, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
_TEXT = re.compile(r"\s*(?P<number>\d{1,15}(?:\.\d{1,15})?)\s*(?P<unit>%|[kmgt]?b)\s*", re.IGNORECASE)


def budget_bytes(text: str, table_bytes: int) -> int:
    """The budget of a table of so many bytes; a text that is none is refused.

    >>> budget_bytes("some", 4_000)
    Traceback (most recent call last):
    skipstone.errors.SkipstoneError: replica_budget must be a share or a size (50%, 20GB), not 'some'.
    """
    found = _TEXT.fullmatch(str(text))
    if found is None:
        raise SkipstoneError(f"replica_budget must be a share or a size (50%, 20GB), not {text!r}.")
    number = float(found["number"])
    if found["unit"] == "%":
        return int(table_bytes * number / 100)
    return int(number * _UNITS[found["unit"].upper()])
