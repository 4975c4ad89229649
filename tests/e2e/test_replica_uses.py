"""How often each replica was read is in the query log, and with the list of replicas."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession
from tests.e2e.replicated import make_replicated, replicate
from tests.spark.querylog.recording import logging
from tests.templates import Templates

import skipstone


def test_scans_that_read_a_replica_are_counted(
    spark: SparkSession, templates: Templates, tmp_path: Path
) -> None:
    path = templates.copy("replicated", lambda home: make_replicated(spark, home), tmp_path / "t")
    table = skipstone.table(spark, f"used={path}")
    by_k = table.replicas().replicas[0].id
    by_id = replicate(table, by="id % 50").replica
    with logging(spark, tmp_path / "spill"):
        spark.sql("SELECT * FROM used WHERE k < 50").collect()
        spark.sql("SELECT a.id FROM used a JOIN used b ON a.id = b.id WHERE a.k < 50 AND b.k > 950").collect()
        spark.sql(f"SELECT id, _metadata.file_path FROM delta.`{path}` WHERE k < 50").collect()
        uses = {replica.id: replica for replica in table.replicas().replicas}
        assert [scan.replicas for scan in table.log()] == [(by_k,), (by_k,), (by_k,), ()]
    assert (uses[by_k].scans, uses[by_id].scans, uses[by_id].last_used) == (3, 0, "")
    assert uses[by_k].last_used == table.log()[2].time.isoformat()
    assert "3 logged scans read it, last 2" in str(table.replicas())
    assert "no logged scan read it; made 2" in str(table.status())
    assert {each.id: each.scans for each in table.status().replicas} == {by_k: 3, by_id: 0}
