"""Random joins over random small tables: the same rows with features about joined tables as without."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession
from tests.e2e.checks import answer, indexed, settings
from tests.light_plans import LIGHT_PLANS, settings_of

KINDS = ("JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT SEMI JOIN", "LEFT ANTI JOIN")
FEATURES = (
    *(f"EXISTS (SELECT 1 FROM a WHERE a_id = k AND x < {n})" for n in (3, 7)),
    *(f"EXISTS (SELECT 1 FROM a WHERE a_id = k AND x = {n})" for n in (1, 6)),
    "EXISTS (SELECT 1 FROM a JOIN b ON b_key = b_id WHERE a_id = k AND y >= 2)",
    "EXISTS (SELECT 1 FROM a WHERE a_id = k AND b_key = k2 AND x < 6)",
    "EXISTS (SELECT 1 FROM facts f WHERE f.k = skipstone_table.k2 AND f.v < 3)",
)
COLUMNS = (
    "(SELECT x FROM a WHERE a_id = k)",
    "(SELECT y FROM a JOIN b ON b_key = b_id WHERE a_id = k)",
    "(SELECT f.v FROM facts f WHERE f.k2 = skipstone_table.k)",
)
QUERIES, BATCHES, FILES = 5, 3, 6


def write(spark: SparkSession, folder: Path, random: Random) -> None:
    """Facts in files by what joins hold for them, mostly; keys that are NULL, twice, or nowhere."""

    def key(most: int) -> int | None:
        return None if random.random() < 0.05 else random.randrange(most)

    a = [(key(40), random.randrange(10), key(8)) for _ in range(60)]
    b = [(key(8), random.randrange(5)) for _ in range(9)]
    of = {a_id: x for a_id, x, _ in a}
    facts = [(key(50), key(8), random.randrange(20)) for _ in range(320)]
    facts.sort(key=lambda row: (of.get(row[0], 10), random.random()))
    size = len(facts) // FILES
    for number in range(FILES):
        part = spark.createDataFrame(facts[number * size : (number + 1) * size], "k INT, k2 INT, v INT")
        part.coalesce(1).write.format("delta").mode("append").save(f"{folder}/facts")
    spark.createDataFrame(a, "a_id INT, x INT, b_key INT").write.format("delta").save(f"{folder}/a")
    spark.createDataFrame(b, "b_id INT, y INT").write.format("delta").save(f"{folder}/b")
    for name in ("facts", "a", "b"):
        spark.read.format("delta").load(f"{folder}/{name}").createOrReplaceTempView(name)


def random_query(random: Random) -> str:
    n, m = random.randrange(10), random.randrange(5)
    left = random.choice(
        (
            *("facts", "facts"),
            f"(SELECT * FROM facts WHERE v < {2 * n + 2})",
            "(SELECT k, k2, max(v) AS v FROM facts GROUP BY k, k2)",
            f"(SELECT k, k2, v, row_number() OVER (ORDER BY v, k, k2) AS r FROM facts WHERE v > {n})",
        )
    )
    right = random.choice(
        (
            f"(SELECT a_id, x FROM a WHERE x < {n})",
            f"(SELECT a_id, x FROM a WHERE x = {n})",
            f"(SELECT a_id, x FROM a JOIN b ON b_key = b_id WHERE y >= {m})",
            f"(SELECT a_id, x FROM a LEFT JOIN b ON b_key = b_id WHERE x < {n})",
            f"(SELECT a_id, x FROM a LEFT JOIN b ON b_key = b_id AND y >= {m})",
            f"(SELECT a_id, min(x) AS x FROM a WHERE x < {n} GROUP BY a_id)",
            f"(SELECT a_id, x FROM a WHERE x < {n} UNION ALL SELECT b_id, y FROM b)",
            f"(SELECT k2 AS a_id, v AS x FROM facts WHERE v < {m})",
            f"(SELECT a_id, x FROM a WHERE b_key IN (SELECT b_id FROM b WHERE y >= {m}))",
        )
    )
    on = "f.k = r.a_id" + random.choice(("", "", f" AND r.x < {n}", f" AND f.v < {n + 9}", " AND f.k2 = r.x"))
    kind = random.choice(KINDS)
    sides = [f"{left} f", f"{right} r"]
    if random.random() < 0.3:
        sides.reverse()
    whole = "SEMI" not in kind and "ANTI" not in kind
    first = ("f.k", "f.v") if sides[0].endswith(" f") else ("r.a_id", "r.x")
    wheres = ["", f"WHERE {first[1]} < {n + 3}", f"WHERE {first[0]} IS NOT NULL"]
    if whole:
        wheres += [
            f"WHERE r.x < {n} OR f.v = {m}",
            f"WHERE r.x = {n}",
            "WHERE f.k2 IN (SELECT b_id FROM b WHERE y = 4)",
        ]
    shown = ("f.k", "f.v", "r.x") if whole else (*first, "1")
    where = random.choice(wheres)
    return f"SELECT hash({', '.join(shown)}) AS h FROM {sides[0]} {kind} {sides[1]} ON {on} {where}"


@pytest.fixture(autouse=True)
def _light(spark: SparkSession) -> Iterator[None]:
    with settings_of(spark, LIGHT_PLANS):
        yield


@pytest.mark.parametrize("columns", [(), COLUMNS], ids=["features", "columns too"])
def test_random_joins_have_the_same_rows_with_skipping_and_without(
    spark: SparkSession, tmp_path: Path, columns: tuple[str, ...]
) -> None:
    read = total = 0
    random = Random("joins")
    write(spark, tmp_path, random)
    table = indexed(spark, "facts", tmp_path / "facts", features=FEATURES, expressions=columns)
    for _ in range(BATCHES):
        queries = [random_query(random) for _ in range(QUERIES)]
        every = " UNION ALL ".join(
            f"SELECT {number} AS q, count(*) AS n, sum(h) AS s FROM ({query})"
            for number, query in enumerate(queries)
        )
        with settings(spark, spark__skipstone__enabled="false"):
            truth = answer(spark, every)
        found = answer(spark, every)
        assert found == truth, list(zip(queries, truth, found, strict=False))
        scans = [scan for scan in table.explain(every).scans if scan.root.endswith("/facts")]
        assert not any(scan.failure for scan in scans)
        read, total = read + sum(s.files_read for s in scans), total + sum(s.files_total for s in scans)
    assert 0 < read < total
