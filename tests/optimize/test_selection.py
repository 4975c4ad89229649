"""What analyze says about feature selection is what the layout selforg does."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

import skipstone
from skipstone.catalog.layouts import load_layout
from skipstone.predicate.render import to_sql
from skipstone.spark.runtime import runtime_of
from skipstone.workload.queries import Query, Workload


def test_analyze_names_the_features_that_selforg_uses(spark: SparkSession, tmp_path: Path) -> None:
    """Also a predicate that one row in 20,000 satisfies, which a few thousand rows would not show."""
    rows = spark.range(0, 40_000, 1, 2).selectExpr("id", "pmod(xxhash64(id), 1000) AS k")
    rows.selectExpr("*", "IF(id % 20000 = 7, 'lost', 'sent') AS s").write.format("delta").save(
        f"{tmp_path}/t"
    )
    table = skipstone.table(spark, f"t={tmp_path}/t")
    texts = [f"k < {most} AND s LIKE '%ost'" for most in (50, 100, 150, 200)]
    log = Workload(tuple(Query(f"SELECT count(*) FROM t WHERE {text}") for text in texts))
    said = table.analyze(log).report.selection
    assert said is not None
    assert [to_sql(each.predicate) for each in said.sop] == ["endswith(s, 'ost')"]
    assert [to_sql(each.expr) for each in said.z] == ["k"]
    report = table.optimize(log, "selforg", block_rows=4_000)
    used = load_layout(runtime_of(spark).store(table.files().root), report.layout_id).parameters
    assert used["sop"] == ["endswith(s, 'ost')"]
    assert used["additional"] == [to_sql(each.expr) for each in said.additional]
