"""Several tables on the command line: each is analysed, advised and laid out for what all the queries ask."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.cli.conftest import Cli
from tests.e2e.checks import assert_skips

import skipstone

JOIN = (
    "SELECT sum(id), count(*) FROM facts JOIN dim ON k = d_k JOIN land ON d_land = l_id WHERE region = 'r{}'"
)
KIND = "SELECT count(*) FROM facts JOIN dim ON k = d_k WHERE kind = 'kind{}'"
BACK = "SELECT count(*) FROM dim WHERE d_k IN (SELECT k FROM facts WHERE id < {0}) AND d_k < {0}"


@pytest.fixture
def star(spark: SparkSession, tmp_path: Path) -> Path:
    """4,000 facts with random keys of 1,000 rows, of eight random kinds and in 20 lands of four regions."""
    tables: dict[str, tuple[int, tuple[str, ...]]] = {
        "facts": (4_000, ("id", "pmod(xxhash64(id), 1000) AS k")),
        "dim": (
            1_000,
            (
                "pmod(id * 7, 1000) AS d_k",
                "concat('kind', pmod(xxhash64(id, 2), 8)) AS kind",
                "pmod(xxhash64(id, 3), 20) AS d_land",
            ),
        ),
        "land": (20, ("id AS l_id", "concat('r', id % 4) AS region")),
    }
    for name, (rows, columns) in tables.items():
        frame = spark.range(0, rows, 1, 1).selectExpr(*columns)
        frame.write.format("delta").save(str(tmp_path / name))
    statements = [*(JOIN.format(n) for n in (1, 2)), *(KIND.format(n) for n in (1, 2)), BACK.format(200)]
    (tmp_path / "log.sql").write_text(";\n".join(statements), encoding="utf-8")
    return tmp_path


def arguments(star: Path) -> list[str]:
    tables = [word for name in ("dim", "land") for word in ("--table", f"{name}={star / name}")]
    return [f"facts={star / 'facts'}", *tables, "--queries", str(star / "log.sql")]


def test_analyze_and_advise_tell_of_each_table_what_the_whole_workload_asks(
    cli: Cli, spark: SparkSession, star: Path
) -> None:
    (facts, dim, land) = cli.json("analyze", *arguments(star), "--each")["tables"]
    assert (facts["table"], facts["queries"]) == ("facts", 5)
    texts = [each["sql"] for each in facts["predicates"]]
    kinds = [f"EXISTS (SELECT 1 FROM dim WHERE dim.d_k = k AND kind = 'kind{n}')" for n in (1, 2)]
    assert set(kinds) <= set(texts)
    assert any("FROM dim" in text and "FROM land" in text and "'r1'" in text for text in texts), "a chain"
    assert any("FROM facts" in each["sql"] for each in dim["predicates"])
    assert land["table"] == "land"
    advice = cli.json("advise", *arguments(star), "--layout", "qdtree", "--block-rows", "500")
    for name in ("facts", "dim", "land"):
        spark.read.format("delta").load(str(star / name)).createOrReplaceTempView(name)
    survive = [
        spark.sql(
            f"SELECT count(DISTINCT id) FROM facts JOIN dim ON k = d_k JOIN land ON d_land = l_id {where}"
        ).collect()[0][0]
        for where in (
            *(f"WHERE region = 'r{n}'" for n in (1, 2)),
            *(f"WHERE kind = 'kind{n}'" for n in (1, 2)),
            "WHERE id < 200 AND d_k < 200",
        )
    ]
    assert advice["percent_needed"] == pytest.approx(100 * sum(survive) / len(survive) / 4_000), (
        "all rows are sampled"
    )


@pytest.mark.parametrize("layout", ["qdtree", "sop"])
def test_optimize_lays_tables_out_by_what_others_hold_through_chains_too(
    cli: Cli, spark: SparkSession, star: Path, layout: str
) -> None:
    options = ("--layout", layout, "--block-rows", "500")
    done = cli.json("optimize", *arguments(star), *options, "--each")["tables"]
    assert [each["table"] for each in done] == ["facts", "dim", "land"]
    tables = {name: skipstone.table(spark, f"{name}={star / name}") for name in ("facts", "dim", "land")}
    status = tables["facts"].status()
    assert any("FROM dim" in text for text in status.features)
    assert any("land.region by d_land of dim by k" in text for text in status.expressions)
    assert status.outdated_features == status.outdated_columns == ()
    for query in (JOIN.format(1), KIND.format(2)):
        assert_skips(tables["facts"], query)
    if layout == "qdtree":
        # By what no query of the log has asked for.
        assert_skips(tables["facts"], JOIN.format(3))
        assert_skips(tables["facts"], KIND.format(5))
