"""Joins of TPC-H's lineitem with small tables that have all the filters.

``calendar`` has a row for each day. Its filters select days, and so does nothing else in the queries: what
they mean for lineitem is known at run time only. Files are skipped where ship dates decide about files. The
other queries filter tables whose keys are in all files, and measure what looking at them costs.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["QUERIES", "TRAINING", "JoinQuery", "calendar_sql"]


@dataclass(frozen=True, slots=True)
class JoinQuery:
    """A query on ``{lineitem}``; ``skips`` says whether its keys are in few files."""

    name: str
    sql: str
    skips: bool


def calendar_sql() -> str:
    """A row for each day of TPC-H."""
    days = "explode(sequence(DATE'1992-01-01', DATE'1998-12-31'))"
    return (
        "SELECT day, year(day) AS y, month(day) AS m, quarter(day) AS q, weekofyear(day) AS w, "
        f"dayofmonth(day) AS d, dayofweek(day) AS weekday FROM (SELECT {days} AS day)"
    )


_REVENUE = "sum(l_extendedprice * (1 - l_discount)) AS revenue"
_BY_DAY = "{lineitem} JOIN calendar ON l_shipdate = day"

QUERIES = (
    JoinQuery("month", f"SELECT {_REVENUE} FROM {_BY_DAY} WHERE y = 1995 AND m = 9", True),
    JoinQuery(
        "week",
        f"SELECT l_returnflag, count(*), {_REVENUE} FROM {_BY_DAY} WHERE y = 1994 AND w = 31 GROUP BY 1",
        True,
    ),
    JoinQuery(
        "quarter",
        f"SELECT l_shipmode, {_REVENUE} FROM {_BY_DAY} WHERE y = 1996 AND q = 2 GROUP BY l_shipmode",
        True,
    ),
    JoinQuery("days", f"SELECT {_REVENUE} FROM {_BY_DAY} WHERE m = 12 AND d BETWEEN 24 AND 26", True),
    JoinQuery(
        "month and part",
        f"SELECT p_brand, {_REVENUE} FROM {_BY_DAY} JOIN part ON l_partkey = p_partkey "
        "WHERE y = 1993 AND m = 3 AND p_container = 'JUMBO PKG' GROUP BY p_brand",
        True,
    ),
    JoinQuery(
        "semi",
        "SELECT count(*), sum(l_quantity) FROM {lineitem} WHERE l_shipdate IN "
        "(SELECT day FROM calendar WHERE y = 1997 AND w = 14)",
        True,
    ),
    # A day of every week is in most files, which only the keys themselves can tell.
    JoinQuery("weekday", f"SELECT {_REVENUE} FROM {_BY_DAY} WHERE weekday = 2 AND y < 1999", False),
    JoinQuery(
        "brand",
        f"SELECT {_REVENUE} FROM {{lineitem}} JOIN part ON l_partkey = p_partkey WHERE p_brand = 'Brand#23'",
        False,
    ),
    JoinQuery(
        "nation",
        f"SELECT n_name, {_REVENUE} FROM {{lineitem}} JOIN supplier ON l_suppkey = s_suppkey "
        "JOIN nation ON s_nationkey = n_nationkey WHERE n_name IN ('FRANCE', 'GERMANY') GROUP BY n_name",
        False,
    ),
    JoinQuery(
        "orders of a month",
        f"SELECT o_orderpriority, {_REVENUE} FROM {{lineitem}} JOIN orders ON l_orderkey = o_orderkey "
        "WHERE o_orderdate >= DATE'1995-03-01' AND o_orderdate < DATE'1995-04-01' GROUP BY o_orderpriority",
        False,
    ),
)

_FILTERS = (
    "l_shipdate >= DATE'{year}-{month:02d}-01' AND l_shipdate < DATE'{year}-{month:02d}-28'",
    "l_shipmode = 'AIR' AND l_quantity < {month} * 4",
)
TRAINING = tuple(
    f"SELECT * FROM lineitem WHERE {filter_.format(year=year, month=month)}"
    for year in range(1992, 1999)
    for month in range(1, 13, 2)
    for filter_ in _FILTERS
)
"""What the qd-tree is made for: filters on lineitem itself, by date and by others."""
