"""A star of four tables, and the log of queries that join them."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession
from tests.light_plans import settings_of

import skipstone
from skipstone.pruning.join_report import JoinReport
from skipstone.workload.queries import Query, Workload

ROWS = 600
TABLES = ("sales", "customers", "stores", "nations")
SALES_CUSTOMERS = "sales JOIN customers ON s_customer = c_id"
SNOWFLAKE = f"{SALES_CUSTOMERS} JOIN nations ON c_nation = n_id"


def write_star(spark: SparkSession, folder: Path) -> None:
    """Sales without a customer, with one that does not exist, and customers of no nation that is known."""

    def write(name: str, rows: int, *columns: str) -> None:
        spark.range(0, rows, 1, 1).selectExpr(*columns).write.format("delta").save(f"{folder}/{name}")

    write(
        "sales",
        ROWS,
        "id AS s_id",
        "IF(id % 20 = 0, NULL, id * 7 % 120) AS s_customer",
        "id % 13 AS s_store",
        "CAST(id % 97 AS DOUBLE) AS price",
        "IF(id % 5 = 0, NULL, concat('note ', id)) AS note",
    )
    write("customers", 100, "id AS c_id", "concat('name ', id % 9) AS name", "id % 12 AS c_nation")
    write("stores", 13, "id AS st_id", "concat('name ', id) AS name", "array(id, id + 1) AS floors")
    write("nations", 10, "id AS n_id", "concat('nation ', id) AS nation")


def named(spark: SparkSession, folder: Path) -> skipstone.Table:
    """The tables by their names; the sales, which the others are around."""
    sales, *_ = [skipstone.table(spark, f"{name}={folder}/{name}") for name in TABLES]
    return sales


def log() -> Workload:
    """Queries that join the sales to each of the others."""
    texts = [
        f"SELECT sum(price) FROM {SNOWFLAKE} WHERE nation = 'nation {n}' AND s_id < 500" for n in range(10)
    ]
    texts += [
        f"SELECT c.name, st.name, floors, note, s_id FROM sales JOIN customers c ON s_customer = c_id "
        f"JOIN stores st ON s_store = st_id WHERE st.name = 'name {n}'"
        for n in range(5)
    ]
    return Workload(tuple(Query(text, position=number) for number, text in enumerate(texts, 1)))


def decisions(table: skipstone.Table, query: str) -> list[JoinReport]:
    """What was decided about the joins of a query; what is decided when it runs is left out."""
    with settings_of(table.spark, {"spark.skipstone.joins.enabled": "false"}):
        return [join for scan in table.explain(query).scans for join in scan.joins]


def codes(table: skipstone.Table, query: str) -> list[str]:
    """The same, only the codes."""
    return sorted({join.code for join in decisions(table, query)})
