"""The commands about replicas, as people and programs see them."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession
from tests.cli.conftest import Cli


def test_a_replica_is_made_listed_refreshed_checked_and_dropped(
    cli: Cli, spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "parcels"
    rows = spark.range(0, 2_000, 1, 2).selectExpr("id", "pmod(xxhash64(id), 1000) AS k")
    rows.write.format("delta").save(str(path))
    made = cli("replicate", path, "--layout", "hyper", "--block-rows", "200")
    assert made.exit_code == 0, made.stderr
    assert made.stdout.startswith(f"Copied 2,000 rows of file:{path} by hyper: 1 horizontal partition, ")
    (replica,) = cli.json("replicas", path)["replicas"]
    assert (replica["layout"], replica["partitions_valid"]) == ("hyper", 1)
    listed = cli("replicas", path).stdout
    assert f"{replica['id']} hyper, " in listed
    assert "holds 100.0 % of the table (1 of 1 horizontal partition valid)" in listed
    assert "nothing to do" in cli("refresh", path, replica["id"]).stdout
    explained = cli("explain", path, "SELECT * FROM parcels WHERE k < 50").stdout
    assert f"replica {replica['id']}, 1 of 1 horizontal partition: " in explained
    assert "all is as it was" in cli("repair", path, "--check").stdout
    next(path.glob("_skipstone/replicas/*/*/part-*.parquet")).unlink()
    broken = cli("repair", path, "--check")
    assert (broken.exit_code, "1 damaged, 0 rebuilt" in broken.stdout) == (1, True)
    assert cli.json("repair", path)["whole"] is True
    assert cli("drop", path, replica["id"]).stdout.startswith(f"Dropped replica {replica['id']} ")
    assert cli("replicas", path).stdout.endswith("no replicas\n")
    assert "has no replica" in cli.error("drop", path, replica["id"])
