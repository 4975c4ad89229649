"""Random joins over a random star: the same rows with a joined replica as without."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

from pyspark.sql import SparkSession
from tests.e2e.checks import answer, settings

import skipstone
from skipstone.workload.queries import Query, Workload

BATCHES, QUERIES = 3, 6
NAMES = ("facts", "a", "b", "c")


def write(spark: SparkSession, folder: Path, random: Random) -> skipstone.Table:
    """Facts whose keys may be NULL or nowhere; a and b have unique keys, b those of a, c is joined by two."""

    def key(most: int) -> int | None:
        return None if random.random() < 0.1 else random.randrange(most)

    rows = {
        "facts": [(key(30), key(9), f"t{random.randrange(4)}", random.randrange(20)) for _ in range(300)],
        "a": [(n, random.randrange(10), key(8)) for n in random.sample(range(30), 22)] + [(None, 3, 1)] * 2,
        "b": [(n, random.randrange(5)) for n in random.sample(range(8), 6)],
        "c": [(n, f"t{m}", random.randrange(5)) for n in range(9) for m in range(4) if random.random() < 0.8],
    }
    schemas = {"facts": "k INT, k2 INT, t STRING, v INT", "a": "a_id INT, x INT, b_key INT"}
    schemas |= {"b": "b_id INT, y INT", "c": "c_k INT, c_t STRING, v INT"}
    for name in NAMES:
        frame = spark.createDataFrame(rows[name], schemas[name])
        frame.coalesce(1).write.format("delta").save(f"{folder}/{name}")
    facts, *_ = [skipstone.table(spark, f"{name}={folder}/{name}") for name in NAMES]
    return facts


def random_query(random: Random) -> str:
    joins, shown, wheres = ["facts f"], ["f.v", "f.k"], [f"f.v < {random.randrange(3, 20)}", "f.t <> 't1'"]
    kind = random.choice(("JOIN", "JOIN", "JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN", "LEFT SEMI JOIN"))
    on_a = random.choice(("f.k = a_id",) * 4 + ("f.k = a_id AND f.v > a.x", "f.k2 = a_id", "f.k <=> a_id"))
    if random.random() < 0.8:
        joins.append(f"{kind} a ON {on_a}")
        if "SEMI" not in kind:
            shown.append("a.x")
            wheres += [f"a.x >= {random.randrange(6)}", "a.x + f.v > 9", "a.b_key IS NULL", "a_id = 3"]
            if random.random() < 0.6:
                joins.append(random.choice(("JOIN", "JOIN", "LEFT JOIN")) + " b ON a.b_key = b_id")
                shown.append("b.y")
                wheres += [f"b.y < {random.randrange(1, 5)}", "b.y <> f.k2"]
    if random.random() < 0.5 or len(joins) == 1:
        keys = random.choice(("f.k2 = c_k AND c_t = f.t",) * 3 + ("f.k2 = c_k", "f.k2 = c_k AND c_t = 't2'"))
        joins.append(f"JOIN c ON {keys}")
        shown.append("c.v")
        wheres += [f"c.v = {random.randrange(5)}", "c.v < f.v OR c_t = 't0'"]
    some = random.sample(wheres, random.randrange(min(3, len(wheres)) + 1))
    return f"SELECT hash({', '.join(shown)}) AS h FROM {' '.join(joins)}" + (
        f" WHERE {' AND '.join(f'({each})' for each in some)}" if some else ""
    )


def test_random_joins_have_the_same_rows_with_a_joined_replica_and_without(
    spark: SparkSession, tmp_path: Path
) -> None:
    random, seen = Random("joined"), Counter[str]()
    facts = write(spark, tmp_path, random)
    log = [
        "SELECT sum(f.v + x + y) FROM facts f JOIN a ON k = a_id JOIN b ON b_key = b_id WHERE t = 't1'",
        "SELECT sum(f.v + c.v) FROM facts f JOIN c ON k2 = c_k AND t = c_t WHERE c.v = 2",
    ]
    made = facts.denormalise(Workload(tuple(map(Query, log))), block_rows=40)
    assert len(made.tables) == len(NAMES)
    for _ in range(BATCHES):
        queries = [random_query(random) for _ in range(QUERIES)]
        every = " UNION ALL ".join(
            f"SELECT {number} AS q, count(*) AS n, sum(h) AS s FROM ({query})"
            for number, query in enumerate(queries)
        )
        with settings(spark, spark__skipstone__enabled="false"):
            truth = answer(spark, every)
        with settings(spark, spark__skipstone__joined="always"):
            found = answer(spark, every)
            assert found == truth, list(zip(queries, truth, found, strict=False))
        with settings(spark, spark__skipstone__joined="auto"):
            assert answer(spark, every) == truth
        with settings(spark, spark__skipstone__joined="always"):
            seen.update(join.code for scan in facts.explain(every).scans for join in scan.joins)
    assert seen["JOINED"] >= QUERIES, seen
    assert seen["NO_INNER_JOIN"], seen
    assert "FAILED" not in seen
