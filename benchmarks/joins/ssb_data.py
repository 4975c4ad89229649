"""The tables of the Star Schema Benchmark, derived with Spark from those of TPC-H.

The benchmark's definition (O'Neil, O'Neil, Chen, "Star Schema Benchmark", revision 3) makes a star of TPC-H:
``lineitem`` and ``orders`` become ``lineorder``, ``partsupp``, ``nation`` and ``region`` go, dates get a
table of their own, and parts and places get hierarchies of regular cardinality. Its generator is not needed:

* A part's category has the two digits of TPC-H's brand (``MFGR#12``); its brand is one of 40 of its category.
* A city is one of ten of a nation: the nation's first nine letters and a digit.
* Dates are numbers such as 19940131; ``d_weeknuminyear`` counts sevens of days from 1 January.
* Discounts are whole percent. Revenue is the price less the discount; the cost is that of ``partsupp``.

What has no counterpart in TPC-H is drawn from a hash of the key, so the same data has the same tables.
Attributes that no query of the benchmark reads are left out where they are mere decoration.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["DIMENSIONS", "FACTS", "SOURCES", "ssb_tables"]

FACTS: Final = "lineorder"
DIMENSIONS: Final = ("date", "customer", "supplier", "part")
SOURCES: Final = ("lineitem", "orders", "partsupp", "customer", "supplier", "part", "nation", "region")
"""The tables of TPC-H that these are made of."""

_DATE = """
SELECT CAST(date_format(day, 'yyyyMMdd') AS INT) AS d_datekey,
  date_format(day, 'MMMM d, yyyy') AS d_date,
  date_format(day, 'EEEE') AS d_dayofweek,
  date_format(day, 'MMMM') AS d_month,
  year(day) AS d_year,
  CAST(date_format(day, 'yyyyMM') AS INT) AS d_yearmonthnum,
  date_format(day, 'MMMyyyy') AS d_yearmonth,
  dayofweek(day) AS d_daynuminweek,
  dayofmonth(day) AS d_daynuminmonth,
  dayofyear(day) AS d_daynuminyear,
  month(day) AS d_monthnuminyear,
  CAST((dayofyear(day) - 1) DIV 7 + 1 AS INT) AS d_weeknuminyear,
  CASE WHEN month(day) = 12 THEN 'Christmas' WHEN month(day) BETWEEN 6 AND 8 THEN 'Summer'
    WHEN month(day) <= 2 THEN 'Winter' WHEN month(day) <= 5 THEN 'Spring' ELSE 'Fall' END AS d_sellingseason
FROM (SELECT explode(sequence(DATE '1992-01-01', DATE '1998-12-31')) AS day)
"""
_PART = """
SELECT p_partkey, p_name, 'MFGR#' || substring(p_brand, 7, 1) AS p_mfgr,
  'MFGR#' || substring(p_brand, 7, 2) AS p_category,
  'MFGR#' || substring(p_brand, 7, 2) || (pmod(xxhash64(p_partkey), 40) + 1) AS p_brand1,
  split_part(p_name, ' ', 1) AS p_color, p_type, p_size, p_container
FROM {part}
"""
_PLACE = """
SELECT {side}_{kind}key, {side}_name, {side}_address,
  rpad(substring(n_name, 1, 9), 9, ' ') || pmod(xxhash64({side}_{kind}key), 10) AS {side}_city,
  n_name AS {side}_nation, r_name AS {side}_region, {side}_phone{more}
FROM {table} JOIN {nation} ON {side}_nationkey = n_nationkey JOIN {region} ON n_regionkey = r_regionkey
"""
_LINEORDER = """
SELECT l_orderkey AS lo_orderkey, l_linenumber AS lo_linenumber, o_custkey AS lo_custkey,
  l_partkey AS lo_partkey, l_suppkey AS lo_suppkey,
  CAST(date_format(o_orderdate, 'yyyyMMdd') AS INT) AS lo_orderdate, o_orderpriority AS lo_orderpriority,
  o_shippriority AS lo_shippriority, CAST(l_quantity AS INT) AS lo_quantity,
  l_extendedprice AS lo_extendedprice, o_totalprice AS lo_ordtotalprice,
  CAST(l_discount * 100 AS INT) AS lo_discount,
  CAST(l_extendedprice * (1 - l_discount) AS DECIMAL(15, 2)) AS lo_revenue,
  ps_supplycost AS lo_supplycost, CAST(l_tax * 100 AS INT) AS lo_tax,
  CAST(date_format(l_commitdate, 'yyyyMMdd') AS INT) AS lo_commitdate, l_shipmode AS lo_shipmode
FROM {lineitem} JOIN {orders} ON l_orderkey = o_orderkey
JOIN {partsupp} ON l_partkey = ps_partkey AND l_suppkey = ps_suppkey
"""


def ssb_tables(sources: Mapping[str, str]) -> dict[str, str]:
    """A query for each table of the benchmark; ``sources`` says how queries name TPC-H's tables."""
    places = {
        name: _PLACE.format_map({
            **sources, "side": name[0], "kind": name[:4], "table": sources[name], "more": more
        })
        for name, more in (("customer", ", c_mktsegment"), ("supplier", ""))
    }  # fmt: skip
    return {
        "date": _DATE,
        **places,
        "part": _PART.format_map(sources),
        FACTS: _LINEORDER.format_map(sources),
    }
