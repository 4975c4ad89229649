"""A program for a process of its own: joins that skip files, on the executors of a ``local-cluster``.

It prints one JSON object, which ``test_local_cluster.py`` looks at.
"""

from __future__ import annotations

import json
import sys

from tests.light_java import LIGHT_JAVA
from tests.light_plans import settings_of

import skipstone

QUERY = "SELECT id, s, k FROM facts JOIN some_keys ON id = k WHERE odd = 1"
CONFIG = {
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": LIGHT_JAVA,
    "spark.executor.extraJavaOptions": LIGHT_JAVA,
    # No task may need Python where it runs.
    "spark.executorEnv.PYSPARK_PYTHON": "/no/python/on/executors",
    "spark.pyspark.python": "/no/python/on/executors",
}


def found(table: skipstone.Table, threshold: str) -> dict[str, object]:
    """The rows and what was read, with the keys broadcast or collected, and whether all rows are there."""
    spark = table.spark
    with settings_of(spark, {"spark.sql.autoBroadcastJoinThreshold": threshold}):
        rows = sorted(spark.sql(QUERY).collect())
        (join,) = (join for scan in table.explain(QUERY).scans for join in scan.joins)
        with settings_of(spark, {"spark.skipstone.enabled": "false"}):
            same = sorted(spark.sql(QUERY).collect()) == rows
    last = join.last
    read = None if last is None else [last.keys, last.files_read, last.files, last.failure]
    return {"rows": len(rows), "same": same, "code": join.code, "read": read}


def main(folder: str) -> None:
    spark = skipstone.session(master="local-cluster[2,1,1024]", config=CONFIG)
    spark.range(0, 4000, 1, 8).selectExpr("id", "lpad(id, 9, '0') AS s").write.format("delta").save(
        f"{folder}/facts"
    )
    some = spark.range(0, 40, 1, 1).selectExpr("id * 7 AS k", "id % 2 AS odd")
    some.write.format("delta").save(f"{folder}/keys")
    table = skipstone.table(spark, f"facts={folder}/facts")
    table.index()
    spark.read.format("delta").load(f"{folder}/keys").createOrReplaceTempView("some_keys")
    seen = {threshold: found(table, threshold) for threshold in ("10MB", "-1")}
    sys.stdout.write(json.dumps(seen) + "\n")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
