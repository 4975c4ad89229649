"""Plans in which a scan has tasks of our own, made from ordinary queries as a planner strategy makes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from tests.spark.bridge.java_calls import call, call_static, construct

Parts = Sequence[Sequence[tuple[int, int, int] | int]]
"""For each task the files that it reads, by number, or parts of them: the file, where it begins, how long."""


@dataclass(frozen=True, slots=True)
class Scan:
    """The one scan in the plan of a query, as Spark has planned it."""

    spark: SparkSession
    frame: DataFrame

    @property
    def plan(self) -> Any:
        return self.frame._jdf.queryExecution().sparkPlan()

    @property
    def node(self) -> Any:
        leaves = self.plan.collectLeaves()
        assert leaves.size() == 1
        return leaves.head()

    def tasks(self, choose: Callable[[int], Parts]) -> Any:
        """Tasks that read what is chosen of so many files."""
        tasks = construct(self.spark, "FileTasks", self.node.selectedPartitions())
        for parts in choose(call(self.spark, tasks, "files")):
            call(self.spark, tasks, "begin")
            for part in parts:
                self.read(tasks, *([part] if isinstance(part, int) else part))
        return tasks

    def read(self, tasks: Any, file: int, *bytes_: int) -> None:
        length = call(self.spark, tasks, "file", file).getLen()
        start, size = bytes_ or (0, length)
        jvm: Any = self.spark._jvm
        long = jvm.java.lang.Long.valueOf
        call(self.spark, tasks, "read", file, long(start), long(min(size, length - start)))

    def with_tasks(self, choose: Callable[[int], Parts]) -> Any:
        """The plan with these tasks, before Spark prepares it."""
        return call_static(self.spark, "PartitionedScan", "in", self.plan, self.node, self.tasks(choose))

    def rows(self, plan: Any) -> list[str]:
        """What a plan answers, prepared as the session's settings say."""
        return sorted(str(row) for row in self.prepared(plan).executeCollectPublic())

    def prepared(self, plan: Any) -> Any:
        """The plan as it runs, adaptive if the session's plans are and it has an exchange."""
        jvm: Any = self.spark._jvm
        session = self.spark._jsparkSession
        adaptive = "org.apache.spark.sql.execution.adaptive"
        context = getattr(jvm, f"{adaptive}.AdaptiveExecutionContext")(
            session, self.frame._jdf.queryExecution()
        )
        found = getattr(jvm, f"{adaptive}.InsertAdaptiveSparkPlan")(context).apply(plan)
        if found.nodeName() == "AdaptiveSparkPlan":
            return found
        prepare = getattr(jvm, "org.apache.spark.sql.execution.QueryExecution").prepareExecutedPlan
        return prepare(session, plan)
