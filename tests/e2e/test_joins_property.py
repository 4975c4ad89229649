"""Random joins over random small tables: the same rows when files are skipped by their keys."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession
from tests.e2e.checks import answer, indexed, settings
from tests.e2e.stars import execution_of, pruned_scans
from tests.light_plans import LIGHT_PLANS, settings_of

ROUNDS = int(os.environ.get("SKIPSTONE_FUZZ_CASES", "0")) // 20_000
QUERIES, BATCHES, FILES = 5, 3, 6
KEYS = {
    "k": "k",
    "s": "concat(IF(k % 2 = 0, 'a', 'B'), lpad(k, 3, '0'))",
    "d": "date_add(DATE'2020-02-20', k)",
    "ts": "timestamp_seconds(1582000000 + k * 7200)",
    "dec": "CAST(k / 4 AS DECIMAL(7, 2))",
    "fl": "CAST(IF(k = 7, 'NaN', IF(k = 8, '-0.0', IF(k = 9, '0.0', CAST(k AS STRING)))) AS DOUBLE)",
    "bin": "CAST(lpad(k, 3, '0') AS BINARY)",
    "even": "k % 2 = 0",
}
PAIRS = (
    *(f"f.{name} = r.{name}" for name in KEYS),
    *(f"f.{name} <=> r.{name}" for name in ("k", "s", "fl")),
    *("f.k = r.k AND f.d = r.d", "f.k2 = r.x AND f.s = r.s", "f.k = r.k AND f.k2 <=> r.x"),
    *("CAST(f.k AS BIGINT) = CAST(r.dec AS BIGINT)", "lower(f.s) = lower(r.s)", "f.k + 1 = r.k"),
    *("coalesce(f.k, 3) = coalesce(r.k, 4)", "CAST(f.ts AS DATE) = CAST(r.ts AS DATE)", "f.ts = r.d"),
    *("CAST(f.fl AS STRING) = CAST(r.fl AS STRING)", "f.dec = r.k", "abs(f.k) = r.k", "f.fl = r.k"),
)
KINDS = (*("JOIN",) * 6, "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN")
NAMES = ", ".join(KEYS)


def write(spark: SparkSession, folder: Path, random: Random) -> None:
    """Facts in files by their key, mostly; keys that are NULL, twice, or nowhere."""

    def key(most: int) -> int | None:
        return None if random.random() < 0.06 else random.randrange(most)

    facts = sorted(((key(60), key(8), n) for n in range(300)), key=lambda row: (row[0] or 0, row[2]))
    facts.append(facts.pop(random.randrange(len(facts))))
    size = len(facts) // FILES
    columns = [f"{text} AS {name}" for name, text in KEYS.items()]
    for number in range(FILES):
        part = spark.createDataFrame(facts[number * size : (number + 1) * size], "k INT, k2 INT, v INT")
        part = part.selectExpr(*columns, "k2", "v").coalesce(1)
        part.write.format("delta").mode("append").save(f"{folder}/pf")
    some = spark.createDataFrame(
        [(key(70), key(8), random.randrange(10)) for _ in range(30)], "k INT, x INT, y INT"
    )
    some.selectExpr(*columns, "x", "y").coalesce(1).write.format("delta").save(f"{folder}/pr")
    few = spark.createDataFrame([(number, random.randrange(3)) for number in range(8)], "x INT, z INT")
    few.coalesce(1).write.format("delta").save(f"{folder}/pz")
    for name in ("pf", "pr", "pz"):
        spark.read.format("delta").load(f"{folder}/{name}").createOrReplaceTempView(name)


def random_query(random: Random) -> str:
    n = random.randrange(10)
    left = random.choice(
        (
            *("pf",) * 4,
            f"(SELECT * FROM pf WHERE v % 10 > {n})",
            f"(SELECT {NAMES}, k2, max(v) AS v FROM pf GROUP BY {NAMES}, k2)",
            f"(SELECT * FROM (SELECT *, row_number() OVER (ORDER BY v) AS r FROM pf) WHERE r > {9 * n})",
            f"(SELECT * FROM pf ORDER BY v LIMIT {20 * n + 9})",
            f"(SELECT * FROM pf WHERE v < {30 * n} UNION ALL SELECT * FROM pf WHERE k2 = 3)",
            "(SELECT pf.* FROM pf LEFT JOIN pz ON k2 = x)",
            "(SELECT pf.* FROM pf LEFT ANTI JOIN pz ON k2 = x AND z = 1)",
            f"(SELECT {NAMES}, k2, v FROM pf LEFT JOIN (SELECT x, z FROM pz WHERE z = 1) ON k2 = x)",
        )
    )
    right = random.choice(
        (
            *(f"(SELECT * FROM pr WHERE y = {n})",) * 2,
            f"(SELECT * FROM pr WHERE y < {n})",
            f"(SELECT pr.* FROM pr JOIN pz USING (x) WHERE z = {n % 3} AND y < 6)",
            f"(SELECT DISTINCT {NAMES}, x, 1 AS y FROM pr WHERE y > {n})",
            f"(SELECT * FROM pr ORDER BY k, x, y LIMIT {n})",
            f"(SELECT {NAMES}, k2 AS x, v AS y FROM pf WHERE v % 20 = {n})",
            f"(SELECT * FROM pr WHERE x IN (SELECT x FROM pz WHERE z = {n % 3}))",
            f"(SELECT * FROM pr WHERE y = {n} UNION ALL SELECT * FROM pr WHERE k < {n})",
        )
    )
    kind = random.choice(KINDS)
    on = random.choice(PAIRS) + random.choice(("", "", f" AND f.v > 7 * r.x + {n}"))
    sides = [f"{left} f", f"{right} r"]
    if random.random() < 0.3:
        sides.reverse()
    whole = "SEMI" not in kind and "ANTI" not in kind
    last = (
        " JOIN (SELECT x AS xx, z FROM pz WHERE z = 1) ON r.x = xx" if whole and random.random() < 0.4 else ""
    )
    first = ("f.k", "f.s", "f.v") if sides[0].endswith(" f") else ("r.k", "r.s", "r.x")
    shown = ("f.k", "f.s", "f.v", "r.k", "r.x") if whole else first
    return f"SELECT hash({', '.join(shown)}) AS h FROM {sides[0]} {kind} {sides[1]} ON {on}{last}"


@pytest.mark.parametrize("seed", range(max(1, ROUNDS)))
def test_property_random_joins_have_the_same_rows(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    random = Random(f"{seed} joins by keys")
    write(spark, tmp_path, random)
    indexed(spark, "pf", tmp_path / "pf", expressions=["lower(s)", "CAST(fl AS STRING)", "coalesce(k, 3)"])
    pruned = 0
    for batch in range(BATCHES):
        queries = [random_query(random) for _ in range(QUERIES)]
        every = " UNION ALL ".join(
            f"SELECT {number} AS q, count(*) AS n, sum(h) AS s FROM ({query})"
            for number, query in enumerate(queries)
        )
        threshold = "-1" if batch == 2 else "10MB"
        wanted = {
            **LIGHT_PLANS,
            "spark.sql.adaptive.enabled": str(batch == 1).lower(),
            "spark.sql.autoBroadcastJoinThreshold": threshold,
        }
        with settings_of(spark, wanted):
            with settings(spark, spark__skipstone__enabled="false"):
                truth = answer(spark, every)
            assert answer(spark, every) == truth, list(zip(queries, truth, strict=True))
            pruned += pruned_scans(execution_of(spark, every))
    assert pruned >= BATCHES
