"""TPC-H queries on one denormalised table: the workload of SOP (SIGMOD'14, section 7.2).

Eight templates read ``lineitem`` with selective filters. Their FROM clauses become the denormalised table
and the join predicates go, because that table is the join; everything else stays as in the specification,
aggregates included. Parameters follow the specification's rules for substitution (its sections 2.4.x.3).
A skewed workload draws every parameter but dates from a Zipf distribution: with factor 3, the first of
five values appears in 84.3 % of the queries.

Where the specification's text leaves a choice:

* A customer's nation and region are ``cn_name`` and ``cr_name``, a supplier's ``sn_name`` and ``sr_name``.
* q5 asks for customers and suppliers of one nation in one region. Equality of the nation keys stays, since it
  is not what joins the tables here; the region is asked of both.
* q8 asks for the customer's region; the supplier's nation is part of the aggregate only.
* q19 keeps the specification's ship mode ``AIR REG``, which no row has.
* q3 and q10 end in a key, so that their LIMIT has one answer.

>>> print(tpch_queries(1).queries[6].sql.splitlines()[-1])
WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1994-01-01' + INTERVAL '1' MONTH
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Final, TypeVar

from benchmarks.tpch.values import BRANDS, NATIONS, REGIONS, SEGMENTS, SHIP_MODES, TYPES
from skipstone.workload.queries import Query, Workload

__all__ = [
    "MONTH",
    "TABLE",
    "TEMPLATES",
    "TEST_SEED",
    "TRAINING_SEED",
    "Draw",
    "tpch_queries",
    "tpch_workloads",
]

TABLE: Final = "tpch"
MONTH: Final = "trunc(o_orderdate, 'MM')"
"""The horizontal partition that the paper blocks under: the order's month."""
TRAINING_SEED, TEST_SEED = 1, 2
ZIPF_FACTOR = 3.0

_T = TypeVar("_T")


class Draw:
    """Draws parameters, uniformly or with the first values preferred."""

    def __init__(self, random: Random, zipf: float = 0.0) -> None:
        """``zipf`` is the exponent of the skew; 0 draws uniformly."""
        self._random = random
        self._zipf = zipf

    def one_of(self, values: Sequence[_T]) -> _T:
        """A parameter that is no date."""
        weights = [1.0 / rank**self._zipf for rank in range(1, len(values) + 1)]
        return self._random.choices(values, weights)[0]

    def number(self, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``."""
        return self.one_of(range(low, high + 1))

    def date_part(self, low: int, high: int) -> int:
        """A day, month or year for a date: always uniform."""
        return self._random.randint(low, high)


def _q3(draw: Draw) -> str:
    date = f"DATE '1995-03-{draw.date_part(1, 31):02}'"
    return f"""SELECT l_orderkey, sum(l_extendedprice * (1 - l_discount)) AS revenue,
  o_orderdate, o_shippriority
FROM {TABLE}
WHERE c_mktsegment = '{draw.one_of(SEGMENTS)}' AND o_orderdate < {date} AND l_shipdate > {date}
GROUP BY l_orderkey, o_orderdate, o_shippriority
ORDER BY revenue DESC, o_orderdate, l_orderkey
LIMIT 10"""


def _q5(draw: Draw) -> str:
    region, date = draw.one_of(REGIONS), f"DATE '{draw.date_part(1993, 1997)}-01-01'"
    return f"""SELECT sn_name, sum(l_extendedprice * (1 - l_discount)) AS revenue
FROM {TABLE}
WHERE c_nationkey = s_nationkey AND cr_name = '{region}' AND sr_name = '{region}'
  AND o_orderdate >= {date} AND o_orderdate < {date} + INTERVAL '1' YEAR
GROUP BY sn_name
ORDER BY revenue DESC"""


def _q6(draw: Draw) -> str:
    date = f"DATE '{draw.date_part(1993, 1997)}-01-01'"
    discount = f"0.0{draw.number(2, 9)}"
    return f"""SELECT sum(l_extendedprice * l_discount) AS revenue
FROM {TABLE}
WHERE l_shipdate >= {date} AND l_shipdate < {date} + INTERVAL '1' YEAR
  AND l_discount BETWEEN {discount} - 0.01 AND {discount} + 0.01 AND l_quantity < {draw.number(24, 25)}"""


def _q8(draw: Draw) -> str:
    nation = draw.one_of(tuple(NATIONS))
    return f"""SELECT o_year,
  sum(CASE WHEN nation = '{nation}' THEN volume ELSE 0 END) / sum(volume) AS mkt_share
FROM (
  SELECT year(o_orderdate) AS o_year, l_extendedprice * (1 - l_discount) AS volume, sn_name AS nation
  FROM {TABLE}
  WHERE cr_name = '{NATIONS[nation]}' AND p_type = '{draw.one_of(TYPES)}'
    AND o_orderdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31'
) AS all_nations
GROUP BY o_year
ORDER BY o_year"""


def _q10(draw: Draw) -> str:
    # From February 1993 to January 1995.
    month = draw.date_part(1, 24)
    date = f"DATE '{1993 + month // 12}-{month % 12 + 1:02}-01'"
    return f"""SELECT c_custkey, c_name, sum(l_extendedprice * (1 - l_discount)) AS revenue, c_acctbal,
  cn_name, c_address, c_phone, c_comment
FROM {TABLE}
WHERE o_orderdate >= {date} AND o_orderdate < {date} + INTERVAL '3' MONTH AND l_returnflag = 'R'
GROUP BY c_custkey, c_name, c_acctbal, c_phone, cn_name, c_address, c_comment
ORDER BY revenue DESC, c_custkey
LIMIT 20"""


def _q12(draw: Draw) -> str:
    first = draw.one_of(SHIP_MODES)
    second = draw.one_of([mode for mode in SHIP_MODES if mode != first])
    date = f"DATE '{draw.date_part(1993, 1997)}-01-01'"
    return f"""SELECT l_shipmode,
  sum(CASE WHEN o_orderpriority IN ('1-URGENT', '2-HIGH') THEN 1 ELSE 0 END) AS high_line_count,
  sum(CASE WHEN o_orderpriority NOT IN ('1-URGENT', '2-HIGH') THEN 1 ELSE 0 END) AS low_line_count
FROM {TABLE}
WHERE l_shipmode IN ('{first}', '{second}') AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate
  AND l_receiptdate >= {date} AND l_receiptdate < {date} + INTERVAL '1' YEAR
GROUP BY l_shipmode
ORDER BY l_shipmode"""


def _q14(draw: Draw) -> str:
    date = f"DATE '{draw.date_part(1993, 1997)}-{draw.date_part(1, 12):02}-01'"
    return f"""SELECT 100.00
  * sum(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount) ELSE 0 END)
  / sum(l_extendedprice * (1 - l_discount)) AS promo_revenue
FROM {TABLE}
WHERE l_shipdate >= {date} AND l_shipdate < {date} + INTERVAL '1' MONTH"""


_CONTAINERS = (
    ("SM", ("CASE", "BOX", "PACK", "PKG"), 5),
    ("MED", ("BAG", "BOX", "PKG", "PACK"), 10),
    ("LG", ("CASE", "BOX", "PACK", "PKG"), 15),
)


def _q19(draw: Draw) -> str:
    branches = []
    for index, (size, kinds, largest) in enumerate(_CONTAINERS):
        quantity = draw.number(max(1, 10 * index), 10 * index + 10)
        containers = ", ".join(f"'{size} {kind}'" for kind in kinds)
        branches.append(
            f"""(p_brand = '{draw.one_of(BRANDS)}' AND p_container IN ({containers})
    AND l_quantity >= {quantity} AND l_quantity <= {quantity} + 10 AND p_size BETWEEN 1 AND {largest}
    AND l_shipmode IN ('AIR', 'AIR REG') AND l_shipinstruct = 'DELIVER IN PERSON')"""
        )
    either = "\n  OR ".join(branches)
    return f"""SELECT sum(l_extendedprice * (1 - l_discount)) AS revenue
FROM {TABLE}
WHERE {either}"""


TEMPLATES: dict[str, Callable[[Draw], str]] = {
    "q3": _q3,
    "q5": _q5,
    "q6": _q6,
    "q8": _q8,
    "q10": _q10,
    "q12": _q12,
    "q14": _q14,
    "q19": _q19,
}


def tpch_queries(per_template: int, seed: int = TRAINING_SEED, skewed: bool = False) -> Workload:
    """``per_template`` queries of each template, one template after the other."""
    queries: list[str] = []
    for name, template in TEMPLATES.items():
        # A template's queries depend on no other template, and training and test share nothing.
        random = Random(f"tpch {name} {seed} {skewed}")
        draw = Draw(random, ZIPF_FACTOR if skewed else 0.0)
        queries += [template(draw) for _ in range(per_template)]
    return Workload(tuple(Query(sql, position=index) for index, sql in enumerate(queries, start=1)))


def tpch_workloads(skewed: bool = False) -> tuple[Workload, Workload]:
    """The paper's workloads: 800 training queries, and 80 test queries made independently of them."""
    return tpch_queries(100, TRAINING_SEED, skewed), tpch_queries(10, TEST_SEED, skewed)
