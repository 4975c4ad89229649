"""Attributes: the columns of a sample that a tree can cut, as ranks in one order that NULL is part of.

A cut sends the rows for which it is TRUE to one side and all others, NULL among them, to the other. So NULL
stands behind all values, and a rank says all that a cut needs: rows of at most this rank go to the left.
What lies between two neighbouring ranks is one of three predicates.

* ``a <= v`` with the left neighbour v, as in the thesis: a row that equals the value goes to the left;
* ``a < s`` for texts, where s is the shortest text that parts the neighbours. A sample holds only the
  beginning of long texts; a cut that short is decided by this beginning in Spark too;
* ``a IS NOT NULL`` between the last value and NULL.

>>> from skipstone.predicate.expr import Column
>>> from skipstone.predicate.render import to_sql
>>> from skipstone.predicate.types import STRING
>>> tree = attribute(Column(("tree",), STRING), pa.array(["beech", None, "birch", "ash"]))
>>> tree.codes.tolist(), [to_sql(tree.cut(code)) for code in range(3)]
([1, 3, 2, 0], ["tree < 'b'", "tree < 'bi'", 'tree IS NOT NULL'])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from skipstone.layout.ranks import Codes, rank
from skipstone.predicate.expr import Comparison, Expr, IsNull, Literal, Not, type_of
from skipstone.predicate.types import Kind

__all__ = ["ALL_NULL", "CONSTANT", "Attribute", "Rows", "attribute", "attributes", "common_prefix"]

Rows = npt.NDArray[np.int64]
CONSTANT, ALL_NULL = "has one value", "is NULL"
"""Why a column is no attribute, as the end of a sentence about all its sampled rows."""


@dataclass(frozen=True, slots=True, eq=False)
class Attribute:
    """A column or expression with the rank of every sampled row; NULL has the rank behind the last value."""

    expr: Expr
    codes: Codes
    values: pa.Array

    @property
    def null(self) -> int:
        """The rank of NULL."""
        return len(self.values)

    def cut(self, code: int) -> Expr:
        """The predicate that is TRUE for just the rows of at most this rank, which is that of a value."""
        if code == len(self.values) - 1:
            return Not(IsNull(self.expr))
        value, above = (self.values[index].as_py() for index in (code, code + 1))
        if type_of(self.expr).kind in (Kind.STRING, Kind.BINARY):
            return self.below(above[: common_prefix(value, above) + 1])
        return Comparison("<=", self.expr, Literal(value, type_of(self.expr)))

    def below(self, value: object) -> Expr:
        """The predicate that is TRUE for values below this one."""
        return Comparison("<", self.expr, Literal(value, type_of(self.expr)))


def attribute(expr: Expr, column: pa.Array) -> Attribute:
    """A sampled column in one of the Arrow types of block statistics."""
    ranked = rank(column)
    codes = np.where(ranked.codes < 0, np.int32(len(ranked.array)), ranked.codes)
    return Attribute(expr, codes, ranked.array)


def attributes(
    columns: Mapping[Expr, pa.Array], wanted: Sequence[Expr]
) -> tuple[tuple[Attribute, ...], dict[Expr, str]]:
    """Those of the wanted columns that can be cut anywhere; of the others, why not."""
    found: list[Attribute] = []
    left_out: dict[Expr, str] = {}
    for expr in wanted:
        each = attribute(expr, columns[expr])
        if not len(each.values):
            left_out[expr] = ALL_NULL
        elif (each.codes == each.codes[0]).all():
            left_out[expr] = CONSTANT
        else:
            found.append(each)
    return tuple(found), left_out


def common_prefix(low: str | bytes, high: str | bytes) -> int:
    """How long a beginning two texts share."""
    pairs = enumerate(zip(low, high, strict=False))
    return next((number for number, (a, b) in pairs if a != b), min(len(low), len(high)))
