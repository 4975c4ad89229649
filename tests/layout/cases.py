"""A small table with skew, NULL, NaN and correlated columns, and a workload on it, from one seed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from skipstone.layout.sample import Fitting, Sample, WorkloadView
from skipstone.layout.view import workload_view
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
        out.append(
            [
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
            ][number % 5]
        )
    return [normalize_filter(each) for each in out]


def bits_of(predicates: Sequence[Expr], rows: Sequence[dict[Column, object]]) -> np.ndarray:
    bits = np.zeros((len(rows), len(predicates)), np.bool_)
    for place, predicate in enumerate(predicates):
        bits[:, place] = [evaluate(predicate, row) is True for row in rows]
    return bits


def column_arrays(rows: Sequence[dict[Column, object]]) -> dict[Expr, pa.Array]:
    types = {DATE: pa.int64(), INT: pa.int64(), STRING: pa.string(), DOUBLE: pa.float64()}
    return {column: pa.array([row[column] for row in rows], types[type_of(column)]) for column in COLUMNS}


def fitting(rows: int = 3000, queries: int = 60, block_rows: int = 600, seed: int = 7) -> Fitting:
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
    return Fitting(
        sample=sample,
        workload=view,
        block_rows=block_rows,
        features=features,
        feature_weights=np.arange(10.0, 10.0 + len(features)),
        feature_bits=bits_of([feature.predicate for feature in features], data),
    )


def with_features_as_atoms(fitting: Fitting) -> Fitting:
    """As the optimiser prepares it: the features' bits are in the sample too."""
    new = [p for p, f in enumerate(fitting.features) if f.predicate not in fitting.workload.atoms]
    atoms = (*fitting.workload.atoms, *(fitting.features[place].predicate for place in new))
    bits = np.concatenate([fitting.sample.bits, fitting.feature_bits[:, new]], axis=1)
    view = replace(fitting.workload, atoms=atoms)
    return replace(fitting, workload=view, sample=replace(fitting.sample, bits=bits))


def by_city(fitting: Fitting) -> Fitting:
    """The same rows in horizontal partitions by city, one of which is not listed."""
    values = CITIES[:4]
    cities = fitting.sample.columns[CITY].to_pylist()
    places = np.array([values.index(city) if city in values else len(values) for city in cities], np.int32)
    sample = replace(fitting.sample, partition=places, partition_values=values, partition_by=CITY)
    return replace(fitting, sample=sample)


def needed(view: WorkloadView, rows: Sequence[dict[Column, object]]) -> np.ndarray:
    return bits_of(view.filters, rows).mean(axis=0)
