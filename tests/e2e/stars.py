"""A table of facts in 8 files by id and a small one that joins it, for tests of joins that skip files."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from pyspark.sql import SparkSession
from tests.e2e.checks import answer, settings

import skipstone
from skipstone.pruning.join_report import JoinReport
from skipstone.spark.bridge.jvm import JavaObject

__all__ = ["FACT", "FILES", "ROWS", "Star", "execution_of", "plan_of", "pruned_scans", "write"]

FILES, ROWS = 8, 400
FACT = (
    "id",
    "CAST(id AS INT) AS i",
    "IF(id % 10 = 0, NULL, id) AS n",
    "date_add(DATE'2020-01-01', CAST(id AS INT)) AS d",
    "CAST(id AS DECIMAL(12, 2)) AS dec",
    "timestamp_seconds(id * 3600) AS ts",
    "lpad(id, 6, '0') AS s",
    "id / 4D AS fl",
    "id % 2 = 0 AS even",
    "CAST(lpad(id, 6, '0') AS BINARY) AS bin",
    "(id * 7919) % 400 AS spread",
    "id DIV 50 AS file",
)


@dataclass(frozen=True, slots=True)
class Star:
    """Views ``fact_FORMAT`` and ``dim_FORMAT``."""

    table: skipstone.Table
    format: str
    truths: dict[str, list[str]] = field(default_factory=dict)
    """What queries answer without skipping; nothing changes the tables."""

    @property
    def spark(self) -> SparkSession:
        return self.table.spark

    @property
    def dim(self) -> str:
        return f"(SELECT * FROM dim_{self.format} WHERE grp = 'a')"

    @property
    def fact(self) -> str:
        return f"fact_{self.format}"

    def joins(self, query: str) -> list[JoinReport]:
        """What is said about the joins of the facts."""
        scans = self.table.explain(query).scans
        return [join for scan in scans if scan.root.endswith(self.fact) for join in scan.joins]

    def same(self, query: str) -> None:
        """The same rows, however the query is run this time."""
        if query not in self.truths:
            with settings(self.spark, spark__skipstone__enabled="false"):
                self.truths[query] = answer(self.spark, query)
        assert answer(self.spark, query) == self.truths[query], query

    def skips(self, query: str, read: int | None = None) -> JoinReport:
        """The same rows, and when it ran fewer files of the facts were read, ``read`` of them."""
        self.same(query)
        used = [join for join in self.joins(query) if join.used]
        assert used, (query, self.joins(query))
        (last,) = {join.last for join in used}
        assert last is not None, query
        assert not last.failure, last.failure
        assert last.files_read < last.files, (query, last)
        assert read is None or last.files_read == read, (query, last)
        return used[0]

    def leaves_alone(self, query: str, code: str) -> None:
        """The same rows, and nothing is skipped, for a reason."""
        self.same(query)
        found = self.joins(query)
        assert [join.code for join in found] == [code] * len(found), found
        assert found, query


def write(spark: SparkSession, folder: Path, format_: str) -> Star:
    """Write both tables and index the facts."""
    fact, dim = folder / f"fact_{format_}", folder / f"dim_{format_}"
    spark.range(0, ROWS, 1, FILES).selectExpr(*FACT).write.format(format_).save(str(fact))
    keys = "VALUES (3L, 'a'), (3L, 'a'), (55L, 'a'), (9999L, 'a'), (NULL, 'a'), (200L, 'b') t(k, grp)"
    columns = ("k", "grp", *(f"{text.replace('id', 'k')}" for text in FACT[1:]))
    spark.sql(f"SELECT * FROM {keys}").selectExpr(*columns).coalesce(1).write.format(format_).save(str(dim))
    spark.read.format(format_).load(str(dim)).createOrReplaceTempView(f"dim_{format_}")
    table = skipstone.table(spark, f"fact_{format_}={fact}")
    table.index(expressions=["lower(s)"])
    return Star(table, format_)


def execution_of(spark: SparkSession, query: str) -> JavaObject:
    """The query, planned anew."""
    return spark.sql(query)._jdf.queryExecution()


def plan_of(spark: SparkSession, query: str) -> str:
    """The physical plan as text."""
    return str(execution_of(spark, query).executedPlan().toString())


def pruned_scans(execution: JavaObject) -> int:
    """How many scans of a query wait for the keys of a join."""
    leaves = execution.sparkPlan().collectLeaves().iterator()
    found = 0
    while leaves.hasNext():
        found += leaves.next().getClass().getSimpleName() == "DynamicScan"
    return found
