"""Random histories of a table with replicas: its answers always equal those of a twin without skipstone.

``SKIPSTONE_FUZZ_CASES`` sets how many histories there are, as it does for other properties.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession
from tests.e2e.checks import answer, settings
from tests.e2e.replicated import log_text

import skipstone
from skipstone.actions.replicate import Replicate
from skipstone.layout.options import LayoutOptions
from skipstone.workload.queries import Query, Workload

ROUNDS = int(os.environ.get("SKIPSTONE_FUZZ_CASES", "0")) // 20_000
STEPS = 14 if ROUNDS else 8
ROWS, FILES = 200, 6
COLUMNS = (
    "id",
    "IF(id % 11 = 0, NULL, CAST(pmod(xxhash64(id), 100) AS INT)) AS k",
    "IF(id % 7 = 0, NULL, concat('n', pmod(xxhash64(id, 1), 30))) AS name",
    "IF(id % 13 = 0, double('NaN'), IF(id % 5 = 0, NULL, pmod(xxhash64(id, 2), 50) / 2)) AS v",
    "date_add(DATE'2020-01-01', CAST(pmod(xxhash64(id, 3), 300) AS INT)) AS day",
)


@dataclass(frozen=True)
class Conditions:
    """Random conditions on the columns."""

    random: Random

    def atom(self) -> str:
        r = self.random
        low, op = r.randrange(100), r.choice(("<", "<=", "=", ">", ">=", "<>", "<=>"))
        return r.choice(
            (
                f"k {op} {low}",
                f"k BETWEEN {low} AND {low + 5}",
                f"k IN ({low}, {low // 2}, {low // 3})",
                f"name LIKE 'n{low // 10}%'",
                f"name {op} 'n{low % 30}'",
                f"v {op} {low / 4}",
                f"day {op} DATE'2020-0{1 + low % 9}-11'",
                r.choice(("k", "name", "v")) + r.choice((" IS NULL", " IS NOT NULL")),
                "isnan(v)",
                f"coalesce(k, {low}) > length(name) + {low}",
                f"id % 9 = {low % 9}",
            )
        )

    def selective(self) -> str:
        """One that few blocks of a replica satisfy."""
        low = self.random.randrange(100)
        return self.random.choice(
            (
                f"k < {low // 8}",
                f"k = {low}",
                f"k BETWEEN {low} AND {low + 3}",
                f"name = 'n{low % 30}'",
                f"v > {20 + low / 30}",
            )
        )

    def any(self) -> str:
        """A condition of a query."""
        chance = self.random.random()
        if chance < 0.4:
            return f"{self.selective()} AND ({self.atom()} OR {self.atom()})"
        if chance < 0.6:
            return self.selective()
        if chance < 0.8:
            return f"NOT ({self.atom()} AND {self.atom()})"
        return f"{self.atom()} OR {self.selective()}"


@dataclass
class History:
    """A table with replicas, its twin, and what was done to both."""

    spark: SparkSession
    random: Random
    table: skipstone.Table
    twin: Path
    steps: list[str] = field(default_factory=list)
    versions: list[tuple[int, int]] = field(default_factory=list)
    fresh: tuple[int, int] | None = None
    copied: int = 0
    mapped: bool = False

    @property
    def path(self) -> Path:
        return Path(self.table.source)

    @property
    def conditions(self) -> Conditions:
        return Conditions(self.random)

    def both(self, statement: str) -> None:
        """Run a statement on the table, with skipping, and on its twin, without."""
        self.spark.sql(statement.format(t=f"delta.`{self.path}`"))
        with settings(self.spark, spark__skipstone__enabled="false"):
            self.spark.sql(statement.format(t=f"delta.`{self.twin}`"))

    # What happens to a table

    def append(self) -> None:
        some = f"id < 1000 AND {self.conditions.atom()}"
        self.both(f"INSERT INTO {{t}} SELECT id + 1000, * EXCEPT (id) FROM {{t}} WHERE {some}")

    def delete(self) -> None:
        self.both(f"DELETE FROM {{t}} WHERE {self.conditions.selective()}")

    def delete_in_one_file(self) -> None:
        low = self.random.randrange(ROWS)
        self.both(f"DELETE FROM {{t}} WHERE id BETWEEN {low} AND {low + 3}")

    def update(self) -> None:
        changes = f"k = {self.random.randrange(9)}, name = CAST(day AS STRING)"
        self.both(f"UPDATE {{t}} SET {changes} WHERE {self.conditions.selective()}")

    def merge(self) -> None:
        some = f"SELECT DISTINCT id, k FROM {{t}} WHERE {self.conditions.selective()}"
        self.both(
            f"MERGE INTO {{t}} m USING ({some}) s ON m.id = s.id "
            "WHEN MATCHED AND s.k < 4 THEN DELETE WHEN MATCHED THEN UPDATE SET v = m.id "
        )

    def restore(self) -> None:
        mine, its = self.random.choice(self.versions)
        self.spark.sql(f"RESTORE TABLE delta.`{self.path}` TO VERSION AS OF {mine}")
        self.spark.sql(f"RESTORE TABLE delta.`{self.twin}` TO VERSION AS OF {its}")

    def optimize(self) -> None:
        # Not into one file, which no copy in several is cheaper than.
        with settings(self.spark, spark__databricks__delta__optimize__maxFileSize="9000"):
            self.both("OPTIMIZE {t}")

    def vacuum(self) -> None:
        with settings(self.spark, spark__databricks__delta__retentionDurationCheck__enabled="false"):
            self.both("VACUUM {t} RETAIN 0 HOURS")
        self.versions.clear()
        self.fresh = None

    def add_column(self) -> None:
        name = f"extra{len(self.steps)}"
        self.both(f"ALTER TABLE {{t}} ADD COLUMN ({name} INT AFTER k)")
        self.both(f"UPDATE {{t}} SET {name} = id % 17 WHERE {self.conditions.selective()}")

    def rename_or_drop_column(self) -> None:
        """Of a table whose columns are mapped; the name may come back for another column."""
        if self.mapped:
            old, new = self.random.sample(("k", "v"), 2)
            for before, after in ((old, "other"), (new, old), ("other", new)):
                self.both(f"ALTER TABLE {{t}} RENAME COLUMN {before} TO {after}")
            self.both("ALTER TABLE {t} DROP COLUMN name")
            self.both("ALTER TABLE {t} ADD COLUMN (name STRING)")

    # What happens to replicas

    def replicate(self) -> None:
        name = f"delta.`{self.path}`"
        asked = [f"SELECT 1 FROM {name} WHERE {self.conditions.selective()}" for _ in range(8)]
        layout, parts = self.random.choice(["qdtree", "zorder"]), self.random.choice([70, 100, None])
        log = Workload(tuple(map(Query, asked)))
        self.table.perform(Replicate(log, layout, LayoutOptions(block_rows=30), parts))
        self.fresh = (_version(self.path), _version(self.twin))

    def refresh(self) -> None:
        if self.table.replicas().replicas:
            self.table.refresh()
            self.fresh = (_version(self.path), _version(self.twin))

    def drop(self) -> None:
        found = self.table.replicas().replicas
        if len(found) > 1:
            self.table.drop(self.random.choice(found).id)

    def lay_out(self) -> None:
        """The base anew, in an order of its own."""
        options = {"columns": "day"}
        self.table.optimize(layout="zorder", block_rows=60, layout_options=options)

    def repair(self) -> None:
        if self.table.replicas().replicas:
            assert self.table.repair().damages == ()

    def index(self) -> None:
        self.table.index()

    def deck(self) -> Sequence[Callable[[], None]]:
        """All that may happen, in any order."""
        happens = [
            self.append, self.delete, self.delete_in_one_file, self.update, self.merge, self.restore,
            self.optimize, self.vacuum, self.replicate, self.refresh, self.refresh, self.refresh,
            self.drop, self.index, self.lay_out, self.repair, self.add_column,
            self.rename_or_drop_column,
        ]  # fmt: skip
        self.random.shuffle(happens)
        return happens[:STEPS]

    def perform(self, what: Callable[[], None]) -> None:
        self.steps.append(what.__name__)
        what()
        self.versions.append((_version(self.path), _version(self.twin)))
        self.check()

    # What queries find; rows as texts, for versions differ in their columns

    def check(self) -> None:
        """Queries on both find the same, now and at a version of before."""
        conditions = self.conditions
        asked = [("", "", conditions.selective())]
        if self.fresh not in (None, self.versions[-1]):
            # The version that replicas were made for last.
            asked.append((*_as_of(self.fresh), conditions.selective()))
        elif self.random.random() < 0.5:
            asked.append(("", "", conditions.any()))
        if self.random.random() < 0.3:
            asked.append((*_as_of(self.random.choice(self.versions)), conditions.any()))
        self._same(asked)
        assert "_skipstone" not in log_text(self.path)

    def _same(self, asked: Sequence[tuple[str, str, str]]) -> None:
        mine, its = (
            " UNION ALL ".join(
                f"SELECT {number} AS n, to_json(struct(*)) FROM delta.`{path}`{each[side]} WHERE {each[2]}"
                for number, each in enumerate(asked)
            )
            for side, path in ((0, self.path), (1, self.twin))
        )
        frame = self.spark.sql(mine)
        found = sorted(map(repr, frame.collect()))
        self.copied += any("_skipstone" in file for file in frame.inputFiles())
        with settings(self.spark, spark__skipstone__enabled="false"):
            assert found == answer(self.spark, its), (self.steps, [each[2] for each in asked])


def _as_of(version: tuple[int, int] | None) -> tuple[str, str]:
    assert version is not None
    mine, its = version
    return f" VERSION AS OF {mine}", f" VERSION AS OF {its}"


def _version(path: Path) -> int:
    return max(int(each.stem) for each in (path / "_delta_log").glob("*.json") if each.stem.isdigit())


def _begun(spark: SparkSession, random: Random, home: Path) -> History:
    defaults = "spark__databricks__delta__properties__defaults__"
    properties = {f"{defaults}enableDeletionVectors": "true"}
    mapped = random.random() < 0.5
    if mapped:
        properties[f"{defaults}columnMapping__mode"] = "name"
    with settings(spark, **properties):
        frame = spark.range(0, ROWS, 1, FILES).selectExpr(*COLUMNS)
        frame.write.format("delta").save(str(home / "t"))
    shutil.copytree(home / "t", home / "twin")
    return History(spark, random, skipstone.table(spark, str(home / "t")), home / "twin", mapped=mapped)


@pytest.mark.parametrize("seed", range(max(1, ROUNDS)))
def test_property_a_table_with_replicas_answers_as_its_twin_without(
    spark: SparkSession, tmp_path: Path, seed: int
) -> None:
    history = _begun(spark, Random(f"history {seed}"), tmp_path)
    history.perform(history.replicate)
    for what in history.deck():
        history.perform(what)
    assert 3 * history.copied >= len(history.steps), (history.copied, history.steps)
