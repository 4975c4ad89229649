"""Replicas under ``auto``: made, refreshed and dropped by the log, within a budget."""

from __future__ import annotations

from dataclasses import replace

from tests.actions.conftest import PATIENT, ask
from tests.costs import EAGER

import skipstone
from skipstone.actions.auto import Auto
from skipstone.actions.auto_status import ShowAutoStatus
from skipstone.catalog.decisions import Decision
from skipstone.json_types import json_number, json_object
from skipstone.spark.engine.row_hash import hash_of


def auto(table: skipstone.Table, budget: str | None, act: bool = True, lazy: bool = False) -> Decision:
    policy = replace(PATIENT, replica_budget=budget)
    return table.perform(Auto(act, policy, lazy=lazy, model=EAGER))


def test_a_replica_is_made_kept_refreshed_and_dropped_within_the_budget(asked: skipstone.Table) -> None:
    table, spark = asked, asked.spark
    before = hash_of(table.frame())
    assert "replicas" not in auto(table, None, act=False).numbers, "nobody asked for any"
    tight = auto(table, "50%", act=False)
    assert tight.code == "WAITING"
    assert "; replicas stay as they are: a further replica may have " in tight.sentence

    dry = auto(table, "120%", act=False)
    assert (dry.acted, dry.code, table.replicas().replicas) == (False, "REPLICA_PAYS", ())
    made = auto(table, "120%")
    assert (made.acted, made.code) == (True, "REPLICA_PAYS")
    assert str(made).startswith("Replica made: qdtree saves ")
    estimate = json_object(json_object(made.numbers["replicas"])["estimate"])
    assert json_number(estimate["seconds_saved"]) > json_number(estimate["rewrite_seconds_estimated"])
    (status,) = table.replicas().replicas
    query = "SELECT * FROM shipments WHERE k < 50"
    (scan,) = table.explain(query).scans
    assert {copy.code for copy in scan.copies} == {"CHEAPER"}
    assert hash_of(table.frame()) == before

    kept = auto(table, "120%")
    assert (kept.acted, kept.code) == (False, "WAITING"), kept.sentence
    assert auto(table, "120%", lazy=True) == kept, "nothing is estimated again"

    spark.sql("DELETE FROM shipments WHERE id % 2 = 0")
    stale = auto(table, "250%")
    assert (stale.acted, stale.code) == (True, "REFRESH_PAYS"), stale.sentence
    assert table.replicas().replicas[0].bytes_covered == table.replicas().bytes
    by_hand = table.replicate(layout="hyper", block_rows=300).replica

    over = auto(table, "1%")
    assert (over.acted, over.code) == (True, "DROP_OVER_BUDGET"), over.sentence
    assert [each.id for each in table.replicas().replicas] == [by_hand], "what people made stays"
    assert status.id in str(table.perform(ShowAutoStatus(PATIENT)))


def test_a_replica_that_no_query_reads_any_more_is_dropped(asked: skipstone.Table) -> None:
    table = asked
    assert auto(table, "120%").code == "REPLICA_PAYS"
    table.clear_log()
    ask(table, "id < 100000")
    unused = auto(table, "120%")
    assert (unused.acted, unused.code) == (True, "DROP_UNUSED"), unused.sentence
    assert table.replicas().replicas == ()
    assert unused.code in {decision.code for decision in table.perform(ShowAutoStatus(PATIENT)).decisions}
    ask(table, "k < 50", "k >= 900")
    again = auto(table, "120%", act=False)
    assert "a replica was dropped not long ago" in again.sentence, "no circles"
