"""Queries on three attributes of lineitem: some to adapt to, and others of the same kind to judge by.

* ``q6`` are TPC-H's query 6 with its own parameters: a year of shipping from 1993 to 1997, a discount within
  0.01 of one from 0.02 to 0.09, and quantities below 24 or 25.
* ``recent`` asks for what was shipped lately, as dashboards do: a quarter inside the last year of the data, a
  fifth of the quantities and a tenth of the prices.
"""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np

from skipstone.workload.queries import Query, Workload

__all__ = ["KINDS", "workload"]

KINDS = ("q6", "recent")
_QUERIES = 60
_SELECT = "SELECT count(*), sum(l_extendedprice * l_discount) FROM lineitem WHERE "
_LAST_YEAR, _QUARTER = date(1997, 12, 1), timedelta(days=91)
"""The last rows are shipped on 1998-12-01."""


def workload(kind: str, seed: int, count: int = 1) -> Workload:
    """Sixty queries, each of which was asked so many times."""
    rng = np.random.default_rng(seed)
    condition = {"q6": _query_6, "recent": _recent}[kind]
    return Workload(tuple(Query(_SELECT + condition(rng), count=count) for _ in range(_QUERIES)))


def _query_6(rng: np.random.Generator) -> str:
    year, discount = int(rng.integers(1993, 1998)), int(rng.integers(2, 10))
    return (
        f"l_shipdate >= DATE'{year}-01-01' AND l_shipdate < DATE'{year + 1}-01-01' "
        f"AND l_discount BETWEEN {(discount - 1) / 100:.2f} AND {(discount + 1) / 100:.2f} "
        f"AND l_quantity < {int(rng.integers(24, 26))}"
    )


def _recent(rng: np.random.Generator) -> str:
    day = _LAST_YEAR + timedelta(days=int(rng.integers(0, 365 - 91)))
    quantity, price = int(rng.integers(1, 41)), int(rng.integers(1, 91)) * 1_000
    return (
        f"l_shipdate >= DATE'{day}' AND l_shipdate < DATE'{day + _QUARTER}' "
        f"AND l_quantity >= {quantity} AND l_quantity < {quantity + 10} "
        f"AND l_extendedprice >= {price} AND l_extendedprice < {price + 10_000}"
    )
