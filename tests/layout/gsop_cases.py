"""Small tables whose queries read some columns each, for tests of GSOP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from skipstone.layout.column_reads import column_reads
from skipstone.layout.contract import ColumnGroup, Design
from skipstone.layout.layouts import fit_layout
from skipstone.layout.numbers import block_numbers
from skipstone.layout.sample import Sample
from skipstone.layout.simulate import feature_bits
from skipstone.layout.table_view import FitWorkload, TableView
from skipstone.layout.workload_view import workload_view
from skipstone.predicate.evaluate import evaluate
from skipstone.predicate.expr import And, Column, Comparison, Expr, Literal, Match
from skipstone.predicate.normalize import normalize_filter
from skipstone.predicate.render import to_sql
from skipstone.predicate.types import LONG, STRING
from skipstone.pruning.blocks import Feature
from skipstone.workload.predicates import LoggedFilter

Values = Mapping[str, Sequence[object]]


def column(name: str) -> Column:
    """A column of texts if its name is upper case for A and C or a word, else of numbers."""
    return Column((name,), STRING if name in {"A", "C", "grade", "course"} else LONG)


def compare(name: str, op: str, value: object) -> Expr:
    return Comparison(op, column(name), Literal(value, column(name).type))


def both(*parts: Expr) -> Expr:
    return normalize_filter(And(parts))


@dataclass(frozen=True, slots=True, eq=False)
class GsopCase:
    """A table, all of it in the sample, and what is asked of it."""

    view: TableView
    workload: FitWorkload

    def fit(self, **options: str) -> Design:
        return fit_layout("gsop", self.view, self.workload, options)

    def blocks(self, group: ColumnGroup) -> list[list[int]]:
        """The rows of each block of a group."""
        numbers = block_numbers(group.assignment, self.view.sample, self.workload.queries.atoms)
        return sorted(np.flatnonzero(numbers == number).tolist() for number in np.unique(numbers))


def gsop_case(
    values: Values, asked: Sequence[tuple[str, Expr, float]], features: Sequence[Expr], block_rows: int
) -> GsopCase:
    """``asked`` are the columns that a query selects, with commas, its filter, and how often it runs."""
    entries = [
        LoggedFilter(filter_, times, columns=tuple(names.split(","))) for names, filter_, times in asked
    ]
    view = workload_view([entry.filter for entry in entries], [entry.weight for entry in entries])
    atoms = tuple(dict.fromkeys((*view.atoms, *features)))
    view = type(view)(atoms, view.formulas, view.filters, view.weights)
    columns = {column(name): list(found) for name, found in values.items()}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    bits = np.array([[evaluate(atom, row) is True for atom in atoms] for row in rows])
    sample = Sample(bits, {key: pa.array(found) for key, found in columns.items()}, 1.0)
    kept = tuple(Feature(feature, to_sql(feature)) for feature in features)
    indices = {atom: number for number, atom in enumerate(atoms)}
    known = [feature_bits(feature, indices, bits) for feature in features]
    reads = column_reads(tuple(values), entries, view, kept)
    workload = FitWorkload(
        queries=view,
        features=kept,
        feature_weights=reads.weights @ reads.features,
        feature_bits=np.array([each for each in known if each is not None]).T,
        reads=reads,
    )
    return GsopCase(TableView(sample, block_rows), workload)


# Figure 1.
GRADES: Values = {
    "year": (2012, 2011, 2011, 2013),
    "grade": ("A", "A", "B", "C"),
    "course": ("DB", "AI", "OS", "DB"),
}
# Figure 2: t1 has all three features, t3 the first and the third, t4 the second.
LETTERS: Values = {
    "A": ("m", "n", "m", "o"),
    "B": (-1, 3, 5, -2),
    "C": ("ya", "x", "yb", "z"),
    "D": (2, 1, 1, 2),
}
IS_M, NEGATIVE, IS_2 = compare("A", "=", "m"), compare("B", "<", 0), compare("D", "=", 2)
WITH_Y = Match("starts_with", column("C"), "y")
