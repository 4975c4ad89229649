"""TPC-H queries on one denormalised table: the workload of GSOP (VLDB 2016, section 7.2).

Ten templates with selective filters, made queries of the denormalised table as for SOP
(:mod:`benchmarks.tpch.queries`), which five of them are shared with. In the others subqueries that only
correlate the table with itself go; what is left reads the columns that the paper counts: 4 in q11, 4 in
q16, 3 in q20, 5 in q21 and 2 in q22.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from benchmarks.tpch.queries import TABLE, TEMPLATES, TEST_SEED, TRAINING_SEED, Draw
from benchmarks.tpch.values import BRANDS, NATIONS, TYPES
from skipstone.workload.queries import Query, Workload

__all__ = ["GSOP_TEMPLATES", "gsop_queries", "gsop_workloads"]

_COLORS = ("almond", "azure", "blush", "chocolate", "coral", "cyan", "forest", "frosted", "green", "honeydew")
_MOST_SIZE, _SIZES, _CODES = 50, 8, 7


def _q11(draw: Draw) -> str:
    return f"""SELECT l_partkey, sum(ps_supplycost * ps_availqty) AS value
FROM {TABLE}
WHERE sn_name = '{draw.one_of(tuple(NATIONS))}'
GROUP BY l_partkey"""


def _q16(draw: Draw) -> str:
    kind = draw.one_of(TYPES).rsplit(" ", 1)[0]
    sizes: list[int] = []
    while len(sizes) < _SIZES:
        size = draw.number(1, _MOST_SIZE)
        sizes += [] if size in sizes else [size]
    return f"""SELECT p_brand, p_type, p_size, count(DISTINCT l_suppkey) AS supplier_cnt
FROM {TABLE}
WHERE p_brand <> '{draw.one_of(BRANDS)}' AND p_type NOT LIKE '{kind}%'
  AND p_size IN ({", ".join(map(str, sizes))})
GROUP BY p_brand, p_type, p_size"""


def _q20(draw: Draw) -> str:
    return f"""SELECT DISTINCT s_name
FROM {TABLE}
WHERE p_name LIKE '{draw.one_of(_COLORS)}%' AND sn_name = '{draw.one_of(tuple(NATIONS))}'"""


def _q21(draw: Draw) -> str:
    return f"""SELECT s_name, count(*) AS numwait
FROM {TABLE}
WHERE o_orderstatus = 'F' AND l_receiptdate > l_commitdate AND sn_name = '{draw.one_of(tuple(NATIONS))}'
GROUP BY s_name"""


def _q22(draw: Draw) -> str:
    codes: list[int] = []
    while len(codes) < _CODES:
        code = 10 + draw.number(0, len(NATIONS) - 1)
        codes += [] if code in codes else [code]
    return f"""SELECT substring(c_phone, 1, 2) AS cntrycode, count(*) AS numcust, sum(c_acctbal) AS totacctbal
FROM {TABLE}
WHERE substring(c_phone, 1, 2) IN ({", ".join(f"'{code}'" for code in codes)}) AND c_acctbal > 0.00
GROUP BY substring(c_phone, 1, 2)"""


GSOP_TEMPLATES: dict[str, Callable[[Draw], str]] = {
    **{name: TEMPLATES[name] for name in ("q3", "q5", "q6", "q12", "q19")},
    "q11": _q11,
    "q16": _q16,
    "q20": _q20,
    "q21": _q21,
    "q22": _q22,
}


def gsop_queries(per_template: int, seed: int = TRAINING_SEED) -> Workload:
    """``per_template`` queries of each template; those of a template depend on no other."""
    queries: list[str] = []
    for name, template in GSOP_TEMPLATES.items():
        draw = Draw(Random(f"gsop {name} {seed}"))
        queries += [template(draw) for _ in range(per_template)]
    return Workload(tuple(Query(sql, position=index) for index, sql in enumerate(queries, start=1)))


def gsop_workloads() -> tuple[Workload, Workload]:
    """1,000 training queries, and 100 test queries made independently of them."""
    return gsop_queries(100, TRAINING_SEED), gsop_queries(10, TEST_SEED)
