"""What analyze says about feature selection is what the layout selforg does."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession
from tests.opened import opened

import skipstone
from skipstone.catalog.layout_records import load_layout
from skipstone.predicate.render import to_sql
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
    record = load_layout(opened(table).store, report.layout_id)
    assert record is not None
    used = record.parameters
    assert used["sop"] == ["endswith(s, 'ost')"]
    assert used["additional"] == [to_sql(each.expr) for each in said.additional]


def test_complex_expressions_of_sql_are_candidates(spark: SparkSession, tmp_path: Path) -> None:
    """As Spark parses them: casts, fields of structs, functions of texts and regular expressions."""
    rows = spark.range(0, 2_000, 1, 1).selectExpr(
        "CAST(pmod(xxhash64(id), 500) AS STRING) AS code",
        "named_struct('zip', pmod(xxhash64(id, 1), 500)) AS sender",
        "concat('City ', char(65 + pmod(xxhash64(id, 2), 26))) AS city",
    )
    rows.write.format("delta").save(f"{tmp_path}/t")
    often = ("city RLIKE '^City [AEIOU]$'", "trim(lower(city)) LIKE '%y b'")
    texts = [f"CAST(code AS INT) < {50 * n} AND {often[0]}" for n in (1, 2, 3, 4)]
    texts += [f"sender.zip > {100 * n} AND {often[1]}" for n in (1, 2, 3, 4)]
    texts += [f"lower(city) = 'city {letter}'" for letter in "abcd"]
    texts += [f"substring(code, 1, 2) = '{n}'" for n in (11, 22, 33, 44)]
    log = Workload(tuple(Query(f"SELECT count(*) FROM t WHERE {text}") for text in texts))
    found = skipstone.table(spark, f"t={tmp_path}/t").analyze(log).report.selection
    assert found is not None
    more = [to_sql(each.expr) for each in found.additional if each.kind == "z"]
    z = {*(to_sql(each.expr) for each in found.z), *more}
    assert z == {"CAST(code AS INT)", "sender.zip", "lower(city)", "substring(code, 1, 2)"}
    sop = {to_sql(each.predicate) for each in found.sop}
    assert sop == {"city RLIKE '^City [AEIOU]$'", "endswith(trim(lower(city)), 'y b')"}
