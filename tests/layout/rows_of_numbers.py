"""Views of small tables from plain lists of values, for layouts that need no workload."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from skipstone.layout.sample import Sample
from skipstone.layout.table_view import TableView
from skipstone.predicate.expr import Column, Expr
from skipstone.predicate.types import LONG, Type

__all__ = ["column", "view_of"]


def column(name: str, type_: Type = LONG) -> Column:
    return Column(tuple(name.split(".")), type_)


def view_of(columns: Mapping[Column, Any], blocks: int) -> TableView:
    """All rows are sampled; there are to be about so many blocks."""
    arrays: dict[Expr, pa.Array] = {
        key: values if isinstance(values, pa.Array) else pa.array(values) for key, values in columns.items()
    }
    rows = len(next(iter(arrays.values())))
    sample = Sample(np.zeros((rows, 0), np.bool_), arrays, 1.0)
    return TableView(sample, max(1, rows // blocks))
