"""Layouts for what a table's own query log says of joins."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession
from tests.actions.conftest import POLICY
from tests.costs import EAGER
from tests.e2e.checks import answer, assert_skips
from tests.spark.querylog.recording import logging

import skipstone
from skipstone.actions.auto import Auto
from skipstone.actions.optimize_report import OptimizeReport
from skipstone.each_table import for_each_table, optimize_each
from skipstone.workload.queries import Query, Workload

JOIN = "SELECT sum(id), count(*) FROM facts JOIN dim ON k = d_k WHERE kind = 'kind{}'"
BACK = "SELECT count(*) FROM dim WHERE d_k IN (SELECT k FROM facts WHERE id < {0}) AND d_k < {0}"


def write(spark: SparkSession, folder: Path) -> tuple[skipstone.Table, skipstone.Table]:
    """4,000 facts with random keys, and 1,000 of what they are about, of eight random kinds."""
    rows = {
        "facts": (4_000, "id", "pmod(xxhash64(id), 1000) AS k"),
        "dim": (1_000, "pmod(id * 7, 1000) AS d_k", "concat('kind', pmod(xxhash64(id, 2), 8)) AS kind"),
    }
    for name, (number, *columns) in rows.items():
        frame = spark.range(0, number, 1, 1).selectExpr(*columns)
        frame.write.format("delta").save(str(folder / name))
    facts, dim = (skipstone.table(spark, f"{name}={folder / name}") for name in rows)
    return facts, dim


def test_a_log_of_joins_that_ran_is_advised_and_laid_out_for_by_auto(
    spark: SparkSession, tmp_path: Path
) -> None:
    table, _ = write(spark, tmp_path)
    table.index()
    with logging(spark, tmp_path / "spill"):
        truth = [answer(spark, JOIN.format(number)) for number in (1, 2)]
        spark.sql(JOIN.format(1)).collect()
    advice = table.advise(layouts=("qdtree",), block_rows=500)
    assert 10 < (advice.percent_needed or 0) < 20, "the rows that survive the joins, an eighth"
    decision = table.perform(Auto(policy=POLICY, model=EAGER))
    assert (decision.acted, decision.code) == (True, "PAYS"), decision
    assert any("EXISTS" in text for text in table.status().features)
    for number in (1, 2):
        assert_skips(table, JOIN.format(number))
    assert [answer(spark, JOIN.format(number)) for number in (1, 2)] == truth
    needed = spark.sql(JOIN.format(1)).collect()[0][1]
    (replayed,) = table.replay(Workload((Query(JOIN.format(1)),))).queries
    assert (replayed.rows_needed, replayed.same_result) == (needed, True)
    assert replayed.rows_needed <= replayed.rows_scanned < replayed.rows_total


def test_each_table_is_laid_out_for_the_whole_workload_and_knows_the_others_as_they_are_then(
    spark: SparkSession, tmp_path: Path
) -> None:
    facts, dim = write(spark, tmp_path)
    queries = Workload(
        (*(Query(JOIN.format(number)) for number in (2, 3)), Query(BACK.format(200), count=30))
    )

    def optimize(table: skipstone.Table) -> OptimizeReport:
        return table.optimize(queries, "qdtree", 1_000 if table is facts else 400)

    def refuse_facts(table: skipstone.Table) -> str:
        if table is facts:
            raise skipstone.SkipstoneError("Nothing was written.")
        return "done"

    refused = for_each_table((facts, dim), refuse_facts)
    assert [(each.result, each.why_not) for each in refused] == [(None, "Nothing was written."), ("done", "")]
    done = optimize_each((facts, dim), optimize)
    assert [(each.table, each.why_not) for each in done] == [(facts, ""), (dim, "")]
    for table in (facts, dim):
        status = table.status()
        assert any("EXISTS" in text for text in status.features), status
        assert not status.outdated_features
    assert_skips(facts, JOIN.format(3))
    assert_skips(dim, BACK.format(200))
