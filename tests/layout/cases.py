"""A small table with skew, NULL, NaN and correlated columns, and a workload on it, from one seed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from skipstone.layout.assignment import Assignment, Numbers
from skipstone.layout.contract import Design
from skipstone.layout.layouts import fit_layout
from skipstone.layout.numbers import block_numbers
from skipstone.layout.sample import Sample, WorkloadView
from skipstone.layout.table_view import FitWorkload, TableView
from skipstone.layout.workload_view import workload_view
from skipstone.predicate.evaluate import evaluate
from skipstone.predicate.expr import And, Column, Comparison, Expr, In, IsNull, Literal, Match, Or, type_of
from skipstone.predicate.normalize import normalize_filter
from skipstone.predicate.render import to_sql
from skipstone.predicate.types import DATE, DOUBLE, INT, STRING
from skipstone.pruning.blocks import Feature

DAY, SHIPPED = Column(("day",), DATE), Column(("shipped",), DATE)
KIND, CITY = Column(("kind",), STRING), Column(("city",), STRING)
PRICE, REGION = Column(("price",), DOUBLE), Column(("region",), INT)
COLUMNS = (DAY, SHIPPED, KIND, CITY, PRICE, REGION)
KINDS = tuple(f"kind {number:02d}" for number in range(60))
CITIES = ("Aachen", "Bonn", "Celle", "Döbeln", "Emden")


def compare(op: str, column: Column, value: object) -> Expr:
    return Comparison(op, column, Literal(value, column.type))


def rows_of(count: int, seed: int) -> list[dict[Column, object]]:
    rng = np.random.default_rng(seed)
    rows: list[dict[Column, object]] = []
    for _ in range(count):
        day = int(rng.integers(0, 1000))
        price = float(rng.choice([math.nan, -0.0, 0.0, *rng.uniform(0, 100, 20)]))
        rows.append(
            {
                DAY: day,
                SHIPPED: None if rng.random() < 0.05 else day + int(rng.integers(1, 60)),
                KIND: None if rng.random() < 0.05 else KINDS[min(59, int(rng.exponential(15)))],
                CITY: CITIES[int(rng.integers(0, 5))],
                PRICE: None if rng.random() < 0.1 else price,
                REGION: int(rng.zipf(2.0) % 7),
            }
        )
    return rows


def filters(count: int, seed: int) -> list[Expr]:
    """Queries from five templates, one of them with an OR, one with a pattern."""
    rng = np.random.default_rng(seed)
    out: list[Expr] = []
    for number in range(count):
        start = int(rng.integers(0, 10)) * 100
        city = CITIES[int(rng.integers(0, 5))]
        kind = KINDS[int(rng.integers(0, 30))]
        span = (compare(">=", DAY, start), compare("<", DAY, start + 100))
        templates: list[Expr] = [
            And((*span, compare("=", CITY, city))),
            And((compare("=", KIND, kind), compare(">", SHIPPED, start))),
            Or(
                (
                    And((compare("=", REGION, 1), compare("<", PRICE, 10.0))),
                    And((compare("=", REGION, 3), compare("=", CITY, city))),
                )
            ),
            And((Match("ends_with", KIND, "7"), In(CITY, tuple(Literal(c, STRING) for c in CITIES[:2])))),
            Or((IsNull(SHIPPED), compare(">", PRICE, 95.0))),
        ]
        out.append(templates[number % 5])
    return [normalize_filter(each) for each in out]


def bits_of(predicates: Sequence[Expr], rows: Sequence[dict[Column, object]]) -> np.ndarray:
    bits = np.zeros((len(rows), len(predicates)), np.bool_)
    for index, predicate in enumerate(predicates):
        bits[:, index] = [evaluate(predicate, row) is True for row in rows]
    return bits


def column_arrays(rows: Sequence[dict[Column, object]]) -> dict[Expr, pa.Array]:
    types = {DATE: pa.int64(), INT: pa.int64(), STRING: pa.string(), DOUBLE: pa.float64()}
    return {column: pa.array([row[column] for row in rows], types[type_of(column)]) for column in COLUMNS}


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """A view of a table and the workload that layouts are fitted for."""

    view: TableView
    workload: FitWorkload

    @property
    def sample(self) -> Sample:
        return self.view.sample

    @property
    def queries(self) -> WorkloadView:
        return self.workload.queries

    def with_queries(self, queries: WorkloadView, bits: np.ndarray | None = None) -> Case:
        """Another workload on the same rows, whose atoms have these bits."""
        bits = self.sample.bits if bits is None else bits
        return replace(
            self.with_sample(replace(self.sample, bits=bits)),
            workload=replace(self.workload, queries=queries),
        )

    def with_sample(self, sample: Sample) -> Case:
        return replace(self, view=replace(self.view, sample=sample))

    def without_features(self) -> Case:
        return replace(self, workload=FitWorkload(self.queries))

    def fit(self, layout: str, **options: str) -> Design:
        return fit_layout(layout, self.view, self.workload, options)

    def numbers(self, assignment: Assignment) -> Numbers:
        """The block of each sampled row."""
        return block_numbers(assignment, self.sample, self.queries.atoms)


def case(rows: int = 3000, queries: int = 60, block_rows: int = 600, seed: int = 7) -> Case:
    """A sample of every tenth row, and the features of the workload that several queries share."""
    data = rows_of(rows, seed)
    view = workload_view(filters(queries, seed))
    chosen = [compare("=", CITY, city) for city in CITIES] + [
        compare("=", REGION, 1),
        Match("ends_with", KIND, "7"),
        And((compare("=", CITY, "Bonn"), compare("<", DAY, 300))),
    ]
    features = tuple(Feature(normalize_filter(each), to_sql(each)) for each in chosen)
    sample = Sample(bits_of(view.atoms, data), column_arrays(data), 10.0)
    weights = np.arange(10.0, 10.0 + len(features))
    bits = bits_of([feature.predicate for feature in features], data)
    return Case(TableView(sample, block_rows), FitWorkload(view, features, weights, bits))


def with_features_as_atoms(case: Case) -> Case:
    """As the optimiser prepares it: the features' bits are in the sample too."""
    workload = case.workload
    new = [
        number
        for number, feature in enumerate(workload.features)
        if feature.predicate not in case.queries.atoms
    ]
    atoms = (*case.queries.atoms, *(workload.features[number].predicate for number in new))
    bits = np.concatenate([case.sample.bits, workload.feature_bits[:, new]], axis=1)
    return case.with_queries(replace(case.queries, atoms=atoms), bits)


def by_city(case: Case) -> Case:
    """The same rows in horizontal partitions by city, one of which is not listed."""
    values = CITIES[:4]
    cities = case.sample.columns[CITY].to_pylist()
    parts = np.array([values.index(city) if city in values else len(values) for city in cities], np.int32)
    return case.with_sample(replace(case.sample, partition=parts, partition_values=values, partition_by=CITY))


def needed(view: WorkloadView, rows: Sequence[dict[Column, object]]) -> np.ndarray:
    shares: np.ndarray = bits_of(view.filters, rows).mean(axis=0)
    return shares
