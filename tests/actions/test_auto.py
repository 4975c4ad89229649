"""The self-organising loop on real tables; what it decides by is tested in tests/estimate without Spark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from pyspark.sql import SparkSession
from tests.actions.conftest import POLICY, FirstRound, ask
from tests.costs import EAGER
from tests.opened import opened
from tests.shipments import ROWS

import skipstone
from skipstone.actions import act_on_estimate, estimate_files
from skipstone.actions.auto import Auto
from skipstone.actions.auto_status import ShowAutoStatus
from skipstone.actions.lay_out import rewrite_table
from skipstone.cancel import Cancel
from skipstone.catalog.decisions import Decision
from skipstone.catalog.layout_records import LayoutRecord, load_layout
from skipstone.errors import CancelledError, SkipstoneError
from skipstone.estimate.advice import CURRENT_LAYOUT
from skipstone.estimate.policy import Policy
from skipstone.json_types import json_number, json_object, json_text
from skipstone.spark.engine.rewrite import Rewriting
from skipstone.spark.engine.row_hash import hash_of

Make = Callable[..., skipstone.Table]


def auto(table: skipstone.Table, policy: Policy = POLICY, act: bool = True) -> Decision:
    return table.perform(Auto(act, policy, model=EAGER))


def version(table: skipstone.Table) -> int:
    return opened(table).snapshot.version


def codes(table: skipstone.Table) -> list[str]:
    return [decision.code for decision in table.perform(ShowAutoStatus(POLICY)).decisions]


def layout_of(table: skipstone.Table, decision: Decision) -> LayoutRecord:
    found = load_layout(opened(table).store, json_text(decision.numbers["layout_id"]))
    assert found is not None
    return found


def test_a_dry_run_says_what_pays_and_leaves_no_trace(first_round: FirstRound) -> None:
    dry = first_round.dry
    assert (dry.acted, dry.code) == (False, "PAYS")
    assert first_round.traces == ("query_log",), "neither statistics nor decisions"


def test_a_round_that_pays_rewrites_the_table_and_keeps_its_rows(
    first_round: FirstRound, laid_out: skipstone.Table
) -> None:
    decision = first_round.acted
    numbers = decision.numbers
    assert (decision.acted, decision.code, numbers["data"]) == (True, "PAYS", "new")
    assert first_round.same_rows
    assert json_number(numbers["seconds_saved"]) > json_number(numbers["rewrite_seconds_estimated"])
    assert json_number(numbers["bytes_saved"]) > 0.5 * json_number(numbers["bytes_scanned_now"])
    assert json_number(numbers["break_even_runs"]) < 1
    assert set(json_object(numbers["percent_scanned_by"])) == {"qdtree", CURRENT_LAYOUT}

    status = laid_out.perform(ShowAutoStatus(POLICY))
    (stored,) = status.decisions
    assert (version(laid_out), stored) == (1, decision), "it comes back from the disk as it was"
    assert (status.logged_scans, status.drift, status.unclustered_files) == (60, 0.0, 0)
    assert [layout["strategy"] for layout in status.layouts] == ["qdtree"]


def test_it_rests_until_the_workload_drifts_and_then_lays_old_data_out_step_by_step(
    laid_out: skipstone.Table,
) -> None:
    table = laid_out
    rest = auto(table)
    assert (rest.acted, rest.code, version(table)) == (False, "WAITING", 1)
    before = hash_of(table.frame())

    ask(table, "mode = 'AIR' AND id < 250", "d < DATE'2020-01-20'", times=60)
    dear = replace(EAGER, coefficients=replace(EAGER.coefficients, rewrite_fixed=100_000.0))
    too_dear = table.perform(Auto(act=False, policy=POLICY, model=dear))
    assert (too_dear.code, too_dear.numbers["data"]) == ("READ_TOO_LITTLE", "old")
    assert json_number(too_dear.numbers["drift"]) > 0.25
    tiny = auto(table, replace(POLICY, step_bytes=1), act=False)
    assert tiny.code == "WAITING"
    assert "old data stays although the queries have changed" in tiny.sentence

    size = opened(table).files.bytes
    step = auto(table, replace(POLICY, block_rows=150, step_bytes=size // 2))
    assert (step.acted, step.numbers["data"], version(table)) == (True, "old", 2), step.sentence
    assert 0 < json_number(step.numbers["bytes"]) <= size // 2
    assert hash_of(table.frame()) == before
    status = table.perform(ShowAutoStatus(POLICY))
    assert [decision.code for decision in status.decisions] == ["PAYS", "WAITING", "PAYS"]
    assert (status.logged_scans, len(status.layouts)) == (180, 2)


def test_it_does_nothing_when_that_does_not_pay_and_does_not_estimate_it_again(shipments: Make) -> None:
    table = shipments()
    unread = auto(table)
    assert (unread.acted, unread.code) == (False, "NO_LOG")
    assert table.status().files_indexed == 4, "only the scans of an indexed table are logged"

    ask(table, "k < 1000")
    unselective = auto(table)
    assert (unselective.acted, unselective.code) == (False, "NOTHING_TO_GAIN")
    numbers = unselective.numbers
    assert numbers["bytes_scanned_now"] == pytest.approx(numbers["bytes_needed"], rel=0.01)
    lazy = table.perform(Auto(policy=POLICY, lazy=True, model=EAGER))
    assert lazy == unselective, "nothing has changed, so nothing is estimated anew"
    assert (version(table), codes(table)) == (0, ["NO_LOG", "NOTHING_TO_GAIN"])


def test_a_long_log_is_estimated_by_a_part_of_it_and_laid_out_for_all(
    asked: skipstone.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(estimate_files, "_MOST_FITTED_FOR", 4)
    monkeypatch.setattr(estimate_files, "_MOST_JUDGES", 3)
    monkeypatch.setattr(act_on_estimate, "_MOST_MINED", 5)
    ask(asked, *(f"k >= {start} AND k < {start + 20}" for start in range(100, 700, 100)))
    decision = auto(asked)
    assert decision.acted, decision.sentence
    numbers = decision.numbers
    assert (numbers["queries"], numbers["sampled_queries"]) == (240, 4)
    workload = layout_of(asked, decision).workload
    assert (len(workload), sum(weight for _, weight in workload)) == (8, 240)


def test_of_two_optimisers_the_second_notices_and_stops(
    asked: skipstone.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = asked
    before = hash_of(table.frame())
    write = Rewriting._write
    others: list[Decision] = []

    def slow(self: Rewriting, *args: object) -> object:
        written = write(self, *args)  # type: ignore[arg-type]
        if not others:
            monkeypatch.setattr(Rewriting, "_write", write)
            others.append(auto(table))
        return written

    monkeypatch.setattr(Rewriting, "_write", slow)
    decision = auto(table)
    assert others[0].acted
    assert (decision.acted, decision.code, version(table)) == (False, "LOST_RACE", 1)
    assert "changed by somebody else" in decision.sentence
    assert hash_of(table.frame()) == before
    assert codes(table) == ["PAYS", "LOST_RACE"]


def test_commits_between_the_estimate_and_the_rewrite_count_only_if_they_touch_its_files(
    spark: SparkSession, asked: skipstone.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = asked
    changes = [
        f"DELETE FROM delta.`{table.source}` WHERE id < 100",
        f"INSERT INTO delta.`{table.source}` SELECT * FROM delta.`{table.source}` WHERE id < 200",
    ]
    added: set[str] = set()

    def late(*args: object) -> object:
        there = set(opened(table).files.paths)
        spark.sql(changes.pop(0)).collect()
        added.update(set(opened(table).files.paths) - there)
        return rewrite_table(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(act_on_estimate, "rewrite_table", late)
    lost = auto(table)
    assert (lost.acted, lost.code) == (False, "LOST_RACE")
    assert table.frame().count() == ROWS - 100
    added.clear()
    done = auto(table)
    assert done.acted, done.sentence
    assert table.frame().count() == ROWS
    assert added <= set(opened(table).files.paths), "what came meanwhile stays as it is"


def test_a_round_that_is_cancelled_commits_nothing_and_decides_nothing(asked: skipstone.Table) -> None:
    cancel = Cancel()

    def report(what: str, done: int, total: int) -> None:
        if what == "writing blocks":
            cancel.request()

    with pytest.raises(CancelledError):
        asked.perform(Auto(policy=POLICY, model=EAGER), report, cancel)
    assert (version(asked), codes(asked)) == (0, [])


def test_new_data_gets_the_kind_of_layout_that_has_proved_itself(
    spark: SparkSession, laid_out: skipstone.Table
) -> None:
    rows = spark.read.format("delta").load(laid_out.source).where(f"id < {ROWS // 4}")
    rows.write.format("delta").mode("append").save(laid_out.source)
    again = auto(laid_out, replace(POLICY, layouts=None), act=False)
    assert (again.code, again.numbers["data"]) == ("PAYS", "new"), again.sentence
    estimated = json_object(again.numbers["percent_scanned_by"])
    assert set(estimated) == {"qdtree", CURRENT_LAYOUT}, "others are not estimated"


def test_a_layout_gets_the_options_of_the_policy(asked: skipstone.Table) -> None:
    ask(asked, *(f"k BETWEEN {low} AND {low + 20}" for low in range(0, 900, 60)))
    decision = auto(asked, replace(POLICY, layouts=("selforg",), layout_options={"curve": "hilbert"}))
    assert decision.acted, decision.sentence
    assert layout_of(asked, decision).options == {"curve": "hilbert"}


def test_a_table_that_must_not_be_rewritten_is_refused_before_anything_is_estimated(
    spark: SparkSession, asked: skipstone.Table
) -> None:
    property_ = "delta.autoOptimize.autoCompact"
    spark.sql(f"ALTER TABLE delta.`{asked.source}` SET TBLPROPERTIES ('{property_}' = 'true')")
    decision = auto(asked)
    assert (decision.acted, decision.code) == (False, "REFUSED")
    assert property_ in decision.sentence
    assert "analysis_seconds" not in decision.numbers


def test_a_parquet_directory_cannot_arrange_itself(shipments: Make) -> None:
    table = shipments("parquet")
    for action in (Auto(policy=POLICY), Auto(act=False), ShowAutoStatus()):
        with pytest.raises(SkipstoneError, match="cannot be replaced in one step"):
            table.perform(action)


def test_what_is_no_policy_is_refused(asked: skipstone.Table) -> None:
    with pytest.raises(SkipstoneError, match=r"policy must be a skipstone\.Policy"):
        asked.perform(Auto(policy={"margin": 2}))  # type: ignore[arg-type]


def test_queries_about_a_column_that_was_dropped_are_left_out_and_reported(
    spark: SparkSession, laid_out: skipstone.Table, caplog: pytest.LogCaptureFixture
) -> None:
    table, source = laid_out, f"shipments={laid_out.source}"

    def alter(text: str) -> skipstone.Table:
        spark.sql(f"ALTER TABLE delta.`{laid_out.source}` {text}")
        return skipstone.table(spark, source)

    alter("SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    ask(table, "mode = 'AIR'", "nested.b = 'x'")
    alter("DROP COLUMNS (mode, nested.b)")
    table = alter("RENAME COLUMN k TO key")
    with caplog.at_level("WARNING", "skipstone"):
        decision = auto(table)
    numbers = decision.numbers
    assert (decision.code, numbers["logged_scans"], numbers["drift"]) == ("WAITING", 60, 0.0)
    assert [found for found in caplog.messages if "no longer has (mode, nested.b)" in found] == [
        (
            f"2 of 4 entries in the query log of {opened(table).root} are left out, for they filter by "
            "columns that the table no longer has (mode, nested.b)."
        )
    ], "it is logged once"
    assert "mode" not in str(table.analyze().report)
    assert len(table.log()) == 4, "the log itself is as it was"

    table = alter("DROP COLUMN key")
    assert auto(table).code == "NO_LOG"
    with pytest.raises(SkipstoneError, match=r"4 of 4 entries .* no longer has"):
        table.analyze()
