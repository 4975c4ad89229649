"""A program for a process of its own: the first use of Spark by many threads, then the end of Spark.

It prints one JSON object, which ``test_first_use.py`` looks at.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from typing import Any

import skipstone
from skipstone.actions.status import Status
from skipstone.workload.queries import Workload

THREADS = 8
CONFIG = {
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


def first_use(folder: str) -> dict[str, Any]:
    """Every thread starts Spark, or finds it started, and indexes and explains a table of its own."""
    together = threading.Barrier(THREADS)
    failures: list[str] = []
    read: list[int] = []

    def use(number: int) -> None:
        try:
            together.wait()
            spark = skipstone.session(master="local[2]", config=CONFIG)
            path = f"{folder}/t{number}"
            together.wait()
            spark.range(0, 40, 1, 2).write.format("delta" if number % 2 else "parquet").save(path)
            together.wait()
            table = skipstone.table(spark, f"t{number}={path}")
            table.index()
            read.append(table.explain(f"SELECT * FROM t{number} WHERE id = 3").scans[0].files_read)
            assert table.status().files_indexed == 2
        except BaseException as problem:
            failures.append(f"{type(problem).__name__}: {problem}")
            together.abort()

    threads = [threading.Thread(target=use, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"failures": failures, "read": read}


def sentence_of(call: Callable[[], object]) -> str:
    """What a call says when it fails; the type too, if that is not ours."""
    try:
        return f"no failure: {call()}"
    except skipstone.SkipstoneError as problem:
        return str(problem)
    except BaseException as problem:
        return f"{type(problem).__name__}: {problem}"


def after_the_end(folder: str) -> dict[str, Any]:
    """What a stopped session, and a table that was opened in it, say."""
    spark = skipstone.session()
    path = f"{folder}/t1"
    table = skipstone.table(spark, path)
    rows = spark.range(3)
    spark.stop()
    none = Workload((), ())
    calls: dict[str, Callable[[], object]] = {
        "enable": lambda: skipstone.enable(spark),
        "disable": lambda: skipstone.disable(spark),
        "table": lambda: skipstone.table(spark, path),
    }
    of_the_table: dict[str, Callable[[], object]] = {
        "frame": table.frame,
        "perform": lambda: table.perform(Status()),
        "index": table.index,
        "explain": lambda: table.explain("SELECT 1"),
        "explain a frame": lambda: table.explain(rows),
        "status": table.status,
        "replay": lambda: table.replay(none),
        "log": table.log,
        "clear_log": table.clear_log,
        "import_log": lambda: table.import_log(none),
        "analyze": table.analyze,
        "generate": table.generate,
        "advise": table.advise,
        "optimize": table.optimize,
        "optimize to a copy": lambda: table.optimize(output=f"{folder}/copy"),
        "optimize_new": table.optimize_new,
        "replicate": table.replicate,
        "denormalise": lambda: table.denormalise(none),
        "replicas": table.replicas,
        "refresh": table.refresh,
        "drop": lambda: table.drop("none"),
        "repair": table.repair,
        "adapt": table.adapt,
        "auto": table.auto,
        "append": lambda: table.append(rows),
        "watch": table.watch,
        "auto_status": table.auto_status,
    }
    out: dict[str, Any] = {"session": {name: sentence_of(call) for name, call in calls.items()}}
    out["stopped"] = {name: sentence_of(call) for name, call in of_the_table.items()}
    again = skipstone.session(master="local[2]", config=CONFIG)
    out["another session runs"] = {name: sentence_of(call) for name, call in of_the_table.items()}
    opened = skipstone.table(again, f"t={path}")
    out["opened again"] = opened.explain("SELECT * FROM t WHERE id = 3").scans[0].files_read
    out["public"] = sorted(
        name
        for name in dir(skipstone.Table)
        if not name.startswith("_") and callable(getattr(skipstone.Table, name))
    )
    again.stop()
    return out


if __name__ == "__main__":
    print(json.dumps({**first_use(sys.argv[1]), **after_the_end(sys.argv[1])}))
