"""Which columns the queries of a log read, and which features subsume them: what column groups are chosen by.

Entries with the same filter and the same columns are one kind of query. A query reads the columns of its
filter too, and all columns if the log does not say which. Cost: one check of implication for each filter and
each feature on columns of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skipstone.layout.sample import WorkloadView
from skipstone.layout.table_view import ColumnReads
from skipstone.predicate.expr import Expr, columns_of
from skipstone.predicate.implies import implies
from skipstone.predicate.normalize import normalize_filter
from skipstone.pruning.blocks import Feature
from skipstone.workload.predicates import LoggedFilter

__all__ = ["column_reads", "read_columns"]


def column_reads(
    names: Sequence[str], entries: Sequence[LoggedFilter], queries: WorkloadView, features: Sequence[Feature]
) -> ColumnReads:
    """The kinds of queries in the order of the log; ``queries`` are the view of the same entries."""
    index = {name: number for number, name in enumerate(names)}
    number_of = {filter_: number for number, filter_ in enumerate(queries.filters)}
    normal: dict[Expr, int] = {}
    kinds: dict[tuple[int, tuple[int, ...]], float] = {}
    for entry in entries:
        if entry.filter not in normal:
            normal[entry.filter] = number_of[normalize_filter(entry.filter)]
        read = tuple(sorted(index[name] for name in read_columns(entry, names)))
        kind = normal[entry.filter], read
        kinds[kind] = kinds.get(kind, 0.0) + entry.weight
    columns = np.zeros((len(kinds), len(names)), np.bool_)
    for row, (_, read) in enumerate(kinds):
        columns[row, list(read)] = True
    query = np.array([number for number, _ in kinds], np.int64)
    subsumed = np.array([_subsuming(filter_, features) for filter_ in queries.filters], np.bool_)
    bits = subsumed.reshape(len(queries.filters), len(features))[query]
    return ColumnReads(tuple(names), columns, query, bits, np.array(list(kinds.values()), np.float64))


def read_columns(entry: LoggedFilter, names: Sequence[str]) -> frozenset[str]:
    """The columns of a table that a scan of it reads."""
    if not entry.columns:
        return frozenset(names)
    filtered = (column.path[0] for column in columns_of(entry.filter))
    return frozenset((*entry.columns, *filtered)) & frozenset(names)


def _subsuming(filter_: Expr, features: Sequence[Feature]) -> list[bool]:
    columns = columns_of(filter_)
    return [
        columns_of(feature.predicate) <= columns and implies(filter_, feature.predicate)
        for feature in features
    ]
