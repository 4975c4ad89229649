"""Features that serve queries not in the log: excluded values, and the bounds that queries come near.

Features are mined from the log, the strictest first, so that others are kept only for queries that no
stricter one serves. A later query with other constants is subsumed by none of them and reads everything. Two
kinds of features are general enough:

*Is not v*, for each value v of a column that queries compare with lists. One list is hardly asked for twice,
but each implies that the row's value is none of those outside it. So where all rows of a block have the
value v, every query whose list lacks v skips it. Of m values such features leave m + 1 vectors, for a row
lacks one of them at most. Where the columns are blocked with others, whose features multiply the vectors,
that is lost: the feature conflict that column groups are for (GSOP, VLDB 2016, section 1).

*Bounds*, for each column that queries compare with many constants: some of these, from the loosest on. A
query has all bounds that are looser than its own, whatever it asks for.

Cost: one check of implication for each filter and each such feature.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from skipstone.layout.column_access import Bits
from skipstone.layout.filtered import subjects
from skipstone.layout.ranks import rank
from skipstone.layout.table_view import ColumnReads, FitWorkload, TableView
from skipstone.predicate.evaluate import order_key
from skipstone.predicate.expr import Comparison, Expr, In, Literal, Not, columns_of, type_of
from skipstone.predicate.implies import implies
from skipstone.predicate.render import to_sql
from skipstone.pruning.blocks import Feature

__all__ = ["MOST_BOUNDS", "MOST_VALUES", "with_general_features"]

MOST_VALUES = 64
"""Of a column with more values, blocks of single values would be too many."""
MOST_BOUNDS = 8
"""Of a column and a direction."""
_FEWEST = 8
"""Fewer lists or constants than that are features themselves."""


def with_general_features(view: TableView, workload: FitWorkload, reads: ColumnReads) -> FitWorkload:
    """The workload with such features behind its own."""
    queries = workload.queries
    known = {feature.predicate for feature in workload.features}
    found = {
        predicate: bits
        for predicate, bits in (*_excluded_values(view, workload), *_bounds(view, workload))
        if predicate not in known
    }
    if not found:
        return replace(workload, reads=reads)
    about = [columns_of(filter_) for filter_ in queries.filters]
    asked = np.array(
        [
            [columns_of(each) <= columns and implies(filter_, each) for each in found]
            for filter_, columns in zip(queries.filters, about, strict=True)
        ],
        np.bool_,
    )[reads.query]
    bits = np.array(list(found.values())).T
    return replace(
        workload,
        features=(*workload.features, *(Feature(each, to_sql(each)) for each in found)),
        feature_weights=np.concatenate([workload.feature_weights, reads.weights @ asked]),
        feature_bits=np.concatenate([workload.feature_bits, bits], axis=1),
        reads=replace(reads, features=np.concatenate([reads.features, asked], axis=1)),
    )


def _excluded_values(view: TableView, workload: FitWorkload) -> Iterator[tuple[Expr, Bits]]:
    """Of columns with few values that many lists are about: each value, excluded, and the rows without it."""
    sample, queries = view.sample, workload.queries
    lists: dict[Expr, int] = {}
    for atom, key in subjects(sample, queries).items():
        predicate = queries.atoms[atom]
        if isinstance(predicate, In) and predicate.arg == key:
            lists[key] = lists.get(key, 0) + 1
    for key, count in lists.items():
        column = rank(sample.columns[key])
        if count < _FEWEST or len(column.array) > MOST_VALUES or column.has_nan:
            continue
        for code, value in enumerate(column.values):
            excluded = Not(Comparison("=", key, Literal(value, type_of(key))))
            yield excluded, np.asarray((column.codes >= 0) & (column.codes != code))


def _bounds(view: TableView, workload: FitWorkload) -> Iterator[tuple[Expr, Bits]]:
    """Of columns that are compared with many constants: some of these, the loosest among them."""
    sample, queries = view.sample, workload.queries
    constants: dict[tuple[Expr, str], list[tuple[Any, int]]] = {}
    for number, key in subjects(sample, queries).items():
        match queries.atoms[number]:
            case Comparison(("<" | "<=" | ">" | ">=") as op, subject, Literal(value)) if subject == key:
                if value is not None:
                    constants.setdefault((key, op[0]), []).append((order_key(value), number))
    for (_, direction), found in constants.items():
        if len(found) < _FEWEST:
            continue
        # From the loosest to the strictest.
        found.sort(key=lambda each: each[0], reverse=direction == "<")
        for at in np.unique(np.linspace(0, len(found) - 1, MOST_BOUNDS).round().astype(int)):
            number = found[at][1]
            yield queries.atoms[number], np.asarray(sample.bits[:, number])
