from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.costs import EAGER
from tests.light_plans import NO_STATISTICS, settings_of
from tests.shipments import ROWS, write_shipments
from tests.templates import Templates

import skipstone
from skipstone.actions.auto import Auto
from skipstone.catalog.decisions import Decision
from skipstone.estimate.policy import Policy
from skipstone.spark.engine.row_hash import hash_of
from skipstone.workload.queries import Query, Workload

POLICY = Policy(block_rows=300, layouts=("qdtree",), new_blocks=2.0)
PATIENT = Policy(block_rows=300, layouts=("qdtree",), new_blocks=1e9, drift_queries=1e9)
"""Nothing is ever enough to be estimated."""


@pytest.fixture(scope="module", autouse=True)
def _only_our_skipping(spark: SparkSession) -> Iterator[None]:
    with settings_of(spark, NO_STATISTICS):
        yield


@pytest.fixture
def log() -> Workload:
    """Two kinds of queries that recur, with a filter that min/max cannot serve among them."""
    texts = [
        f"SELECT count(*) FROM shipments WHERE mode = '{mode}' AND k < {most}"
        for mode in ("AIR", "RAIL")
        for most in (50, 100)
    ]
    texts += [f"SELECT sum(id) FROM shipments WHERE month(d) = {month} AND k >= 900" for month in (2, 3)]
    return Workload(tuple(Query(text, count=5) for text in texts))


def ask(table: skipstone.Table, *conditions: str, times: int = 30) -> None:
    """Log queries with these conditions, each so many times."""
    found = [
        Query(f"SELECT sum(id) FROM shipments WHERE {condition}", count=times) for condition in conditions
    ]
    added, broken = table.import_log(Workload(tuple(found)))
    assert (added, broken) == (len(conditions), ())


@dataclass(frozen=True)
class FirstRound:
    """A dry run and a round that acts on shipments that were asked two queries, and what they left."""

    asked: Path
    laid_out: Path
    dry: Decision
    traces: tuple[str, ...]
    acted: Decision
    same_rows: bool


@pytest.fixture(scope="session")
def first_round(spark: SparkSession, templates: Templates) -> FirstRound:
    """Lay a table out by its log once for all tests; ``asked`` is its indexed copy from before."""
    path, asked = templates.home / "laid-out", templates.home / "asked"
    write_shipments(spark, path, "delta", ROWS)
    table = skipstone.table(spark, f"shipments={path}")
    ask(table, "k < 50", "k >= 900")
    before = hash_of(table.frame())
    dry = table.perform(Auto(act=False, policy=POLICY, model=EAGER))
    traces = tuple(sorted(each.name for each in (path / "_skipstone").iterdir()))
    table.index()
    shutil.copytree(path, asked)
    acted = table.perform(Auto(policy=POLICY, model=EAGER))
    return FirstRound(asked, path, dry, traces, acted, hash_of(table.frame()) == before)


def _copied(spark: SparkSession, template: Path, path: Path) -> skipstone.Table:
    shutil.copytree(template, path)
    return skipstone.table(spark, f"shipments={path}")


@pytest.fixture
def asked(spark: SparkSession, first_round: FirstRound, tmp_path: Path) -> skipstone.Table:
    """A copy of an indexed table that was asked two selective queries and is in no order."""
    return _copied(spark, first_round.asked, tmp_path / "shipments")


@pytest.fixture
def laid_out(spark: SparkSession, first_round: FirstRound, tmp_path: Path) -> skipstone.Table:
    """A copy of a table that has laid itself out for two queries, with its log and its decisions."""
    return _copied(spark, first_round.laid_out, tmp_path / "shipments")
