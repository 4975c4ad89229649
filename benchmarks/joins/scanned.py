"""How much of a table some queries scan, and how much of it survives their joins."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.pieces import Piece
from skipstone.spark import SparkSession
from skipstone.spark.engine.engine import Engine

__all__ = ["Templates", "condition_of", "needed_rows", "scanned"]

Templates = Mapping[str, Sequence[str]]
"""The queries of each template."""

_WHERE = re.compile(
    r"\bWHERE (.*?)(?=\s*(?:GROUP BY|ORDER BY|LIMIT|\) AS all_nations|$))", re.DOTALL
)  # fmt: skip


def condition_of(sql: str) -> str:
    """What a query asks of the rows of its joins."""
    found = _WHERE.search(sql)
    assert found is not None, sql
    return found[1]


def needed_rows(spark: SparkSession, joined: str, templates: Templates) -> Piece:
    """How many rows of the facts each query needs, by template; whatever way the facts are laid out.

    All keys are unique and have partners, so each row of the facts is once in ``joined``, the join of all
    tables, in which every condition is counted at once.
    """
    conditions = [condition_of(sql) for queries in templates.values() for sql in queries]
    counts = (f"count_if({condition}) AS c{index}" for index, condition in enumerate(conditions))
    (row,) = spark.sql(f"SELECT {', '.join(counts)} FROM {joined}").collect()
    left = iter(row)
    return {name: [next(left) for _ in queries] for name, queries in templates.items()}


def scanned(spark: SparkSession, path: str, templates: Templates, needed: Piece) -> Piece:
    """Percent of the rows of the table at a path, over the queries of each template.

    What Delta leaves out by itself is not scanned, as in a replay. Every template counts the same, however
    many queries it has.
    """
    engine = Engine.of(spark)
    share = 100 / spark.read.format("delta").load(path).count()
    by_template = {
        name: {
            "scanned": share * float(np.mean([_rows_read(engine, path, sql) for sql in queries])),
            "needed": share * float(np.mean(needed[name])),
        }
        for name, queries in templates.items()
    }
    means = {
        what: float(np.mean([each[what] for each in by_template.values()])) for what in ("scanned", "needed")
    }
    return {**means, "templates": by_template}


def _rows_read(engine: Engine, path: str, sql: str) -> int:
    """How many rows are in the files that a query reads of the table."""
    (scan,) = (scan for scan in engine.scans_of(sql) if scan.root.endswith(path))
    return int(scan.catalog.blocks.rows[scan.offered & ~scan.skipped].sum())
