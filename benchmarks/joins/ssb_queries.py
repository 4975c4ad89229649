"""The 13 queries of the Star Schema Benchmark, with the published parameters or others.

Written from the benchmark's definition (O'Neil, O'Neil, Chen, "Star Schema Benchmark", revision 3), where
each of four flights looks at more and more selective parts of the facts. The published parameters are in
``PUBLISHED``; a log needs others, drawn from the same domains: a year, a month, a week, a brand of parts,
and so on, as the queries' own selectivities ask for.

>>> print(ssb_query("q1.1", PUBLISHED["q1.1"]))
SELECT sum(lo_extendedprice * lo_discount) AS revenue
FROM lineorder JOIN date ON lo_orderdate = d_datekey
WHERE d_year = 1993 AND lo_discount BETWEEN 1 AND 3 AND lo_quantity < 25
>>> len(PUBLISHED), len(ssb_queries(2, seed=1).queries)
(13, 26)
"""

from __future__ import annotations

import calendar
from collections.abc import Callable, Mapping
from random import Random
from typing import Final

from benchmarks.tpch.values import NATIONS, REGIONS
from skipstone.workload.queries import Query, Workload

__all__ = ["EVERY_JOIN", "PUBLISHED", "ssb_queries", "ssb_query"]

Parameters = Mapping[str, object]

_DATE: Final = "JOIN date ON lo_orderdate = d_datekey"
_PART: Final = "JOIN part ON lo_partkey = p_partkey"
_SUPPLIER: Final = "JOIN supplier ON lo_suppkey = s_suppkey"
_CUSTOMER: Final = "JOIN customer ON lo_custkey = c_custkey"
EVERY_JOIN: Final = f"lineorder {_DATE} {_PART} {_SUPPLIER} {_CUSTOMER}"
"""The facts with all dimensions."""
_FLIGHT_1 = f"""SELECT sum(lo_extendedprice * lo_discount) AS revenue
FROM lineorder {_DATE}
WHERE {{filters}}"""
_FLIGHT_2 = f"""SELECT sum(lo_revenue) AS revenue, d_year, p_brand1
FROM lineorder {_DATE} {_PART} {_SUPPLIER}
WHERE {{filters}}
GROUP BY d_year, p_brand1
ORDER BY d_year, p_brand1"""
_FLIGHT_3 = f"""SELECT {{place}}, d_year, sum(lo_revenue) AS revenue
FROM lineorder {_CUSTOMER} {_SUPPLIER} {_DATE}
WHERE {{filters}}
GROUP BY {{place}}, d_year
ORDER BY d_year, revenue DESC"""
_FLIGHT_4 = f"""SELECT {{by}}, sum(lo_revenue - lo_supplycost) AS profit
FROM lineorder {_DATE} {_CUSTOMER} {_SUPPLIER} {_PART}
WHERE {{filters}}
GROUP BY {{by}}
ORDER BY {{by}}"""
_NATIONS_OF_BOTH = _FLIGHT_3.replace("{place}", "c_nation, s_nation")
_CITIES_OF_BOTH = _FLIGHT_3.replace("{place}", "c_city, s_city")
_TWO_CITIES = "c_city IN ('{city}', '{other}') AND s_city IN ('{city}', '{other}')"
_TEXTS = {
    "q1.1": _FLIGHT_1.replace(
        "{filters}",
        "d_year = {year} AND lo_discount BETWEEN {discount} - 1 AND {discount} + 1 AND lo_quantity < 25",
    ),
    "q1.2": _FLIGHT_1.replace(
        "{filters}",
        "d_yearmonthnum = {month} AND lo_discount BETWEEN {discount} - 1 AND {discount} + 1 "
        "AND lo_quantity BETWEEN 26 AND 35",
    ),
    "q1.3": _FLIGHT_1.replace(
        "{filters}",
        "d_weeknuminyear = {week} AND d_year = {year} "
        "AND lo_discount BETWEEN {discount} - 1 AND {discount} + 1 AND lo_quantity BETWEEN 26 AND 35",
    ),
    "q2.1": _FLIGHT_2.replace("{filters}", "p_category = '{category}' AND s_region = '{region}'"),
    "q2.2": _FLIGHT_2.replace(
        "{filters}", "p_brand1 BETWEEN '{category}{first}' AND '{category}{last}' AND s_region = '{region}'"
    ),
    "q2.3": _FLIGHT_2.replace("{filters}", "p_brand1 = '{category}{first}' AND s_region = '{region}'"),
    "q3.1": _NATIONS_OF_BOTH.replace(
        "{filters}", "c_region = '{region}' AND s_region = '{region}' AND d_year BETWEEN 1992 AND 1997"
    ),
    "q3.2": _CITIES_OF_BOTH.replace(
        "{filters}", "c_nation = '{nation}' AND s_nation = '{nation}' AND d_year BETWEEN 1992 AND 1997"
    ),
    "q3.3": _CITIES_OF_BOTH.replace("{filters}", f"{_TWO_CITIES} AND d_year BETWEEN 1992 AND 1997"),
    "q3.4": _CITIES_OF_BOTH.replace("{filters}", f"{_TWO_CITIES} AND d_yearmonth = '{{yearmonth}}'"),
    "q4.1": _FLIGHT_4.replace("{by}", "d_year, c_nation").replace(
        "{filters}",
        "c_region = '{region}' AND s_region = '{region}' AND p_mfgr IN ('MFGR#{maker}', 'MFGR#{other}')",
    ),
    "q4.2": _FLIGHT_4.replace("{by}", "d_year, s_nation, p_category").replace(
        "{filters}",
        "c_region = '{region}' AND s_region = '{region}' AND d_year IN ({year}, {year} + 1) "
        "AND p_mfgr IN ('MFGR#{maker}', 'MFGR#{other}')",
    ),
    "q4.3": _FLIGHT_4.replace("{by}", "d_year, s_city, p_brand1").replace(
        "{filters}",
        "c_region = '{region}' AND s_nation = '{nation}' AND d_year IN ({year}, {year} + 1) "
        "AND p_category = '{category}'",
    ),
}

PUBLISHED: dict[str, Parameters] = {
    "q1.1": {"year": 1993, "discount": 2},
    "q1.2": {"month": 199401, "discount": 5},
    "q1.3": {"week": 6, "year": 1994, "discount": 6},
    "q2.1": {"category": "MFGR#12", "region": "AMERICA"},
    "q2.2": {"category": "MFGR#22", "first": 21, "last": 28, "region": "ASIA"},
    "q2.3": {"category": "MFGR#22", "first": 21, "region": "EUROPE"},
    "q3.1": {"region": "ASIA"},
    "q3.2": {"nation": "UNITED STATES"},
    "q3.3": {"city": "UNITED KI1", "other": "UNITED KI5"},
    "q3.4": {"city": "UNITED KI1", "other": "UNITED KI5", "yearmonth": "Dec1997"},
    "q4.1": {"region": "AMERICA", "maker": 1, "other": 2},
    "q4.2": {"region": "AMERICA", "maker": 1, "other": 2, "year": 1997},
    "q4.3": {"region": "AMERICA", "nation": "UNITED STATES", "year": 1997, "category": "MFGR#14"},
}
"""The parameters that the definition has."""


def ssb_query(name: str, parameters: Parameters) -> str:
    """One of the queries, such as q2.3."""
    plain = {key: value for key, value in parameters.items() if key != "discount"}
    text = _TEXTS[name]
    if "discount" in parameters:
        middle = int(str(parameters["discount"]))
        text = text.replace("{discount} - 1", str(middle - 1)).replace("{discount} + 1", str(middle + 1))
    if "year" in parameters:
        text = text.replace("{year} + 1", str(int(str(parameters["year"])) + 1))
    return text.format_map(plain)


def ssb_queries(per_query: int, seed: int) -> Workload:
    """So many of each of the 13 queries, one after the other, with parameters that are drawn."""
    out = []
    for name in PUBLISHED:
        random = Random(f"ssb {name} {seed}")
        out += [Query(ssb_query(name, _drawn(name, random))) for _ in range(per_query)]
    return Workload(tuple(out))


def _drawn(name: str, random: Random) -> Parameters:
    """Parameters as the definition's own are chosen: of the same domains, and as selective."""
    found: dict[str, object] = {key: _DOMAINS[key](random) for key in PUBLISHED[name] if key in _DOMAINS}
    if "last" in PUBLISHED[name]:
        found["first"] = first = random.randint(11, 32)
        found["last"] = first + 7
    if "city" in PUBLISHED[name]:
        nation = f"{random.choice(tuple(NATIONS))[:9]:9}"
        found["city"], found["other"] = (f"{nation}{digit}" for digit in random.sample(range(10), 2))
    if "maker" in PUBLISHED[name]:
        found["maker"], found["other"] = random.sample(range(1, 6), 2)
    if {"nation", "region"} <= found.keys():
        found["region"] = NATIONS[str(found["nation"])]
    return found


_DOMAINS: dict[str, Callable[[Random], object]] = {
    "year": lambda random: random.randint(1992, 1997),
    "month": lambda random: 100 * random.randint(1992, 1997) + random.randint(1, 12),
    "yearmonth": lambda random: f"{calendar.month_abbr[random.randint(1, 12)]}{random.randint(1992, 1997)}",
    "week": lambda random: random.randint(1, 52),
    "discount": lambda random: random.randint(1, 9),
    "category": lambda random: f"MFGR#{random.randint(1, 5)}{random.randint(1, 5)}",
    "first": lambda random: random.randint(1, 40),
    "region": lambda random: random.choice(REGIONS),
    "nation": lambda random: random.choice(tuple(NATIONS)),
}
