"""``skipstone adapt``, as people and programs see it."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession
from tests.cli.conftest import Cli


def test_a_tree_is_adapted_to_a_query_file_and_says_what_that_costs(
    cli: Cli, spark: SparkSession, tmp_path: Path
) -> None:
    path, queries = tmp_path / "parcels", tmp_path / "month.sql"
    rows = spark.range(0, 4_000, 1, 2).selectExpr("id", "pmod(xxhash64(id), 1000) AS k", "id % 7 AS w")
    rows.write.format("delta").save(str(path))
    queries.write_text(
        "SELECT count(*) FROM parcels WHERE k < 30;\nSELECT sum(id) FROM parcels WHERE k < 60;\n"
    )
    assert "is not laid out by a tree" in cli.error("adapt", path, "--queries", queries)
    assert cli("optimize", path, "--layout", "hyper", "--block-rows", "100").exit_code == 0
    assert cli("adapt", path, "--queries", queries, "--most-rewritten", "2").exit_code == 2

    stays = cli("adapt", path, "--queries", queries)
    assert stays.exit_code == 0, stays.stderr
    assert stays.stdout.startswith(f"file:{path} stays as it is: no change of its tree saves more than")
    told = cli.json("adapt", path, "--queries", queries, "--dry-run", "--most-rewritten", "0.3")
    assert (told["layout_id"], told["changes"], told["files_rewritten"]) == ("", [], 0)
    queried = {each["column"]: each["queried"] for each in told["attributes"]}
    assert queried == {"id": False, "k": True, "w": False}
