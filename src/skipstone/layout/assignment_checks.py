"""What holds of every assignment: with this it can be written as SQL and as JSON, and every row has a block.

The checks look at whole arrays, so that they cost next to nothing beside fitting. A failed one is a
ValueError: a fault of whoever made the assignment, or a damaged file.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from skipstone.predicate.canonical import is_value_of
from skipstone.predicate.evaluate import order_key
from skipstone.predicate.expr import Expr, Value, type_of
from skipstone.predicate.render import to_sql, unwritable
from skipstone.predicate.types import BOOLEAN
from skipstone.pruning.blocks import Words

__all__ = [
    "check_count",
    "check_number",
    "check_numbers",
    "check_predicate",
    "check_values",
    "check_vectors",
    "check_writable",
    "require",
]

_MOST = 1 << 31


def require(holds: bool, sentence: str) -> None:
    """Refuse what does not hold."""
    if not holds:
        raise ValueError(sentence)


def check_count(count: int, name: str) -> None:
    """A number of blocks or buckets: at least one, and Python's own integer, which JSON has too."""
    require(type(count) is int and 0 < count < _MOST, f"{name} is {count!r} and not a number of them")


def check_number(number: object, below: int, name: str) -> None:
    """One of so many blocks or buckets."""
    require(type(number) is int and 0 <= number < below, f"{name} is {number!r} and not below {below}")


def check_numbers(numbers: npt.NDArray[np.int32], count: int, below: int, name: str) -> None:
    """So many numbers of blocks or buckets."""
    require(numbers.dtype == np.int32 and numbers.shape == (count,), f"{name} is not {count} numbers")
    inside = not count or (int(numbers.min()) >= 0 and int(numbers.max()) < below)
    require(inside, f"a number of {name} is not below {below}")


def check_writable(expr: Expr) -> None:
    """An expression that Spark reads as it was meant."""
    part = unwritable(expr)
    if part is not None:
        raise ValueError(f"SQL cannot say {to_sql(part)}")


def check_predicate(expr: Expr) -> None:
    """A writable expression that is true or false."""
    check_writable(expr)
    require(type_of(expr) == BOOLEAN, f"{to_sql(expr)} is no predicate")


def check_values(expr: Expr, values: Sequence[Value], name: str) -> None:
    """Strictly increasing values of the expression's type."""
    type_ = type_of(expr)
    require(type_.ordered, f"values of {to_sql(expr)} have no order")
    require(all(is_value_of(value, type_) for value in values), f"{name} are not all of the type {type_}")
    keys = [order_key(value) for value in values]
    require(all(low < high for low, high in pairwise(keys)), f"{name} do not increase")


def check_vectors(features: Sequence[Expr], vectors: Words) -> None:
    """Distinct vectors of features; a vector that occurred twice would join each of its rows twice."""
    require(len(features) > 0, "vectors have at least one feature")
    for feature in features:
        check_predicate(feature)
    words = (len(features) + 63) // 64
    fits = vectors.dtype == np.uint64 and vectors.shape[1:] == (words,)
    require(fits, f"vectors of {len(features)} features have {words} words")
    whole = np.ascontiguousarray(vectors).view(np.dtype((np.void, 8 * words))).reshape(-1)
    distinct = len(np.unique(vectors[:, 0] if words == 1 else whole))
    require(distinct == len(vectors), "a vector occurs twice")
