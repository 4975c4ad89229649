"""How Java runs in tests: many small plans and little data, in many JVMs that live for seconds.

Compiling code lightly costs less than it saves there. Half of what a JVM does until its first query is done
is loading classes; an archive of loaded classes, which ``make`` writes once by running this module, spares
it that. Without the archive tests only take longer.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ARCHIVE = Path(sys.prefix) / "classes.jsa"
# What Java says of classes that it cannot take from the archive is no output of ours.
_SHARED = f" -XX:SharedArchiveFile={ARCHIVE} -Xlog:cds=off -Xlog:cds+dynamic=off" if ARCHIVE.exists() else ""
LIGHT_COMPILER = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
LIGHT_JAVA = f"{LIGHT_COMPILER}{_SHARED}"
# Each aggregate, sort and broadcast table takes a page: 64 MB in a heap of 4 GB, unless told otherwise.
SMALL_PAGES = "-Dspark.buffer.pageSize=256k"
# The bytecode of all classes, ours among them, is verified in the JVM that most tests share; in each of the
# others that would take three seconds more.
VERIFIED, NOT_VERIFIED = (
    f"-XX:+UnlockDiagnosticVMOptions -XX:{how}BytecodeVerificationRemote" for how in "+-"
)


def main(archive: Path) -> int:
    """Write the archive: what a process that does a little of everything has loaded at its end."""
    with tempfile.TemporaryDirectory(prefix="skipstone-classes-", dir=archive.parent) as scratch:
        beside = Path(scratch) / archive.name
        java = f"{LIGHT_COMPILER} -XX:ArchiveClassesAtExit={beside} -Xlog:disable -Xlog:all=off"
        done = subprocess.run(
            [sys.executable, __file__, "--use", scratch],
            env=os.environ | {"SPARK_SUBMIT_OPTS": java},
            cwd=scratch,
            stdout=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode != 0 or not beside.exists():
            sys.stderr.write("No archive of Java classes was written; tests will take longer.\n")
        else:
            beside.replace(archive)
    return 0


def use(folder: Path) -> None:
    """Let Spark, Delta and skipstone load what most tests need."""
    import skipstone
    from skipstone.workload.queries import Query, Workload

    spark = skipstone.session(master="local[2]", config={"spark.sql.shuffle.partitions": "2"})
    columns = ("id", "CAST(id AS STRING) AS s", "id % 7 AS k", "id / 3 AS x")
    rows = spark.range(0, 1_000, 1, 4).selectExpr(*columns)
    rows.write.format("delta").save(str(folder / "t"))
    rows.write.parquet(str(folder / "p"))
    spark.sql(f"ALTER TABLE delta.`{folder}/t` SET TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')")
    spark.sql(f"DELETE FROM delta.`{folder}/t` WHERE id = 7")
    table = skipstone.table(spark, f"t={folder}/t")
    log = Workload(tuple(Query(f"SELECT count(*) FROM t WHERE k < 2 AND id < {most}") for most in (50, 90)))
    table.index()
    table.optimize(log, "qdtree", block_rows=200)
    table.replay(log)
    table.explain("SELECT t.k, count(*) FROM t JOIN t AS u ON t.id = u.id WHERE t.s LIKE '1%' GROUP BY t.k")
    skipstone.table(spark, f"p={folder}/p").index()
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    java = gateway.proc
    spark.stop()
    # Java ends with what it reads from here, and writes the archive then.
    java.stdin.close()
    java.wait(timeout=300)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--use"]:
        use(Path(sys.argv[2]))
    else:
        sys.exit(main(ARCHIVE))
