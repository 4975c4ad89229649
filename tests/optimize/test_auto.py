"""The self-organising loop acts when it pays, and only then; every decision says why."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrameWriter, SparkSession
from pyspark.sql import functions as F

import skipstone
from skipstone.catalog.decisions import Decision
from skipstone.catalog.layouts import load_layout
from skipstone.optimize.cost import DEFAULT, Coefficients, CostModel
from skipstone.optimize.policy import Policy
from skipstone.optimize.watch import Watch
from skipstone.spark.rewrite import Rewriting
from skipstone.spark.row_hash import hash_of
from skipstone.spark.runtime import runtime_of
from skipstone.workload.queries import Query, Workload

Make = Callable[..., skipstone.Table]

POLICY = Policy(block_rows=600, layouts=("qdtree",), new_blocks=2.0)
# Rewriting costs a tenth of a second and reading a megabyte ten seconds: whatever skips, pays.
EAGER = CostModel(Coefficients(0.1, 0, 0, 0, 0, 0, 0, 0.0, 10.0, 0.0, 0.0), "calibrated")


def ask(table: skipstone.Table, *conditions: str, times: int = 30) -> None:
    """Log queries with these conditions, each so many times."""
    found = [
        Query(f"SELECT sum(id) FROM shipments WHERE {condition}", count=times) for condition in conditions
    ]
    added, broken = table.import_log(Workload(tuple(found)))
    assert (added, broken) == (len(conditions), ())


def version(table: skipstone.Table) -> int:
    return int(table.files().handle.version())


def test_it_does_nothing_when_that_does_not_pay(shipments: Make) -> None:
    table = shipments()
    table.auto(act=False, policy=POLICY, model=EAGER)
    assert table.status().files_indexed == 0, "a dry run leaves no trace"
    unread = table.auto(policy=POLICY, model=EAGER)
    assert (unread.acted, unread.code) == (False, "NO_LOG")
    assert table.status().files_indexed == 4, "only the scans of an indexed table are logged"

    ask(table, "k >= 0", times=1)
    once = table.auto(policy=POLICY, model=CostModel(DEFAULT))
    assert (once.acted, once.code) == (False, "READ_TOO_LITTLE")
    assert once.numbers["most_seconds_saved"] < once.numbers["least_rewrite_seconds"]

    ask(table, "k < 1000")
    unselective = table.auto(policy=POLICY, model=EAGER)
    assert (unselective.acted, unselective.code) == (False, "NOTHING_TO_GAIN")
    numbers = unselective.numbers
    assert numbers["bytes_scanned_now"] == pytest.approx(numbers["bytes_needed"], rel=0.01)
    lazy = table.auto(policy=POLICY, model=EAGER, lazy=True)
    assert lazy == unselective, "nothing has changed, so nothing is estimated anew"

    assert version(table) == 0
    codes = [decision.code for decision in table.auto_status().decisions]
    assert codes == ["NO_LOG", "READ_TOO_LITTLE", "NOTHING_TO_GAIN"]


def test_it_acts_when_it_pays_and_then_rests_until_the_workload_drifts(shipments: Make) -> None:
    table = shipments()
    before = hash_of(table.frame())
    ask(table, "k < 50", "k >= 900")

    dry = table.auto(act=False, policy=POLICY, model=EAGER)
    assert (dry.acted, dry.code, version(table)) == (False, "PAYS", 0)
    assert table.auto_status().decisions == (), "a dry run leaves no trace"

    first = table.auto(policy=POLICY, model=EAGER)
    assert (first.acted, first.code, first.numbers["data"], version(table)) == (True, "PAYS", "new", 1)
    assert first.numbers["seconds_saved"] > first.numbers["rewrite_seconds_estimated"]
    assert first.numbers["bytes_saved"] > 0.5 * first.numbers["bytes_scanned_now"]
    assert first.numbers["break_even_runs"] < 1
    assert hash_of(table.frame()) == before

    rest = table.auto(policy=POLICY, model=EAGER)
    assert (rest.acted, rest.code, version(table)) == (False, "WAITING", 1)
    assert rest.numbers["drift"] == 0.0

    ask(table, "mode = 'AIR' AND id < 500", "d < DATE'2020-01-20'", times=60)
    size = int(table.files().files.sizes.sum())
    small = Policy(block_rows=300, layouts=("qdtree",), new_blocks=2.0, step_bytes=size // 2)
    again = table.auto(policy=small, model=EAGER)
    assert again.numbers["drift"] > 0.25
    assert (again.acted, again.numbers["data"], version(table)) == (True, "old", 2), again.sentence
    assert 0 < again.numbers["bytes"] <= size // 2, "old data is laid out anew step by step"
    assert hash_of(table.frame()) == before

    status = table.auto_status()
    assert [decision.code for decision in status.decisions] == ["PAYS", "WAITING", "PAYS"]
    assert status.logged_scans == 180
    assert len(status.layouts) == 2
    assert status.to_dict()["decisions"][0]["numbers"]["layout"] == "qdtree"


def test_a_long_log_is_estimated_by_a_part_of_it_and_laid_out_for_all(shipments: Make) -> None:
    table = shipments()
    asked = [f"k >= {start} AND k < {start + 20}" for start in range(0, 800, 8)]
    ask(table, *asked, times=3)
    decision = table.auto(policy=POLICY, model=EAGER)
    assert decision.acted, decision.sentence
    numbers = decision.numbers
    assert (numbers["queries"], numbers["sampled_queries"]) == (300, 64)
    store = runtime_of(table.spark).store(table.files().root)
    workload = load_layout(store, numbers["layout_id"]).workload
    assert (len(workload), sum(weight for _, weight in workload)) == (100, 300)


def test_of_two_optimisers_the_second_notices_and_stops(
    shipments: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = shipments()
    before = hash_of(table.frame())
    ask(table, "k < 50")
    write = Rewriting._write
    others: list[Decision] = []

    def slow(self: Rewriting, *args: object) -> object:
        written = write(self, *args)  # type: ignore[arg-type]
        if not others:
            monkeypatch.setattr(Rewriting, "_write", write)
            others.append(table.auto(policy=POLICY, model=EAGER))
        return written

    monkeypatch.setattr(Rewriting, "_write", slow)
    decision = table.auto(policy=POLICY, model=EAGER)
    assert others[0].acted
    assert (decision.acted, decision.code, version(table)) == (False, "LOST_RACE", 1)
    assert "changed by somebody else" in decision.sentence
    assert hash_of(table.frame()) == before
    assert [seen.code for seen in table.auto_status().decisions] == ["PAYS", "LOST_RACE"]


def test_appended_rows_are_laid_out_once_enough_have_gathered(spark: SparkSession, shipments: Make) -> None:
    table = shipments()
    ask(table, "k < 50", "k >= 900")
    assert table.auto(policy=POLICY, model=EAGER).acted
    laid_out = set(table.files().files.paths)
    rows = spark.read.format("delta").load(table.source)
    few = table.append(rows.where("id < 300").coalesce(1), POLICY, EAGER)
    assert (few.acted, few.code) == (False, "WAITING")
    assert 0 < few.numbers["unclustered_bytes"] < few.numbers["awaited_bytes"]
    many = table.append(rows.where("id >= 300 AND id < 3000").coalesce(2), POLICY, EAGER)
    assert (many.acted, many.code, many.numbers["rows"]) == (True, "LAID_OUT", 2_700), many.sentence
    assert many.numbers["files"] == 4
    assert laid_out < set(table.files().files.paths)
    assert table.frame().count() == 15_000
    # The few rows that came first still wait; those that took their places do not.
    seen = table.auto_status(POLICY)
    assert seen.unclustered_bytes == few.numbers["unclustered_bytes"]
    assert [decision.code for decision in seen.decisions][-2:] == ["LAID_OUT", "WAITING"]
    replayed = table.replay(Workload((Query("SELECT sum(id) FROM shipments WHERE k < 50"),)))
    assert replayed.queries[0].rows_scanned < 3_000
    assert replayed.queries[0].same_result


def test_new_data_gets_the_kind_of_layout_that_has_proved_itself(
    spark: SparkSession, shipments: Make
) -> None:
    table = shipments()
    ask(table, "k < 50", "k >= 900")
    first = table.auto(policy=POLICY, model=EAGER)
    assert set(first.numbers["percent_scanned_by"]) == {"qdtree", "as it lies"}
    rows = spark.read.format("delta").load(table.source).where("id < 3000")
    rows.write.format("delta").mode("append").save(table.source)
    free = replace(POLICY, layouts=None)
    again = table.auto(policy=free, model=EAGER)
    assert (again.acted, again.numbers["data"]) == (True, "new"), again.sentence
    assert set(again.numbers["percent_scanned_by"]) == {"qdtree", "as it lies"}, "others are not estimated"

    ask(table, "mode = 'AIR' AND id < 500", times=200)
    rows.write.format("delta").mode("append").save(table.source)
    drifted = table.auto(act=False, policy=free, model=EAGER)
    assert len(drifted.numbers["percent_scanned_by"]) > 2, "other queries, another choice"


def test_rows_that_an_expression_of_the_layout_fails_on_have_a_place_too(
    spark: SparkSession, shipments: Make
) -> None:
    table = shipments()
    ask(table, "CAST(attrs['courier'] AS INT) < 2", "CAST(attrs['courier'] AS INT) = 9")
    assert table.auto(policy=POLICY, model=EAGER).acted
    rows = spark.read.format("delta").load(table.source).where("id < 3000")
    odd = rows.withColumn("attrs", F.expr("map('courier', 'none')"))
    decision = table.append(odd, POLICY, EAGER)
    assert decision.code == "LAID_OUT", decision.sentence
    assert table.frame().where("attrs['courier'] = 'none'").count() == 3_000
    assert table.frame().count() == 15_000
    small = Policy(block_rows=300, layouts=("qdtree",), new_blocks=2.0, drift=0.0, drift_queries=0.0)
    ask(table, "CAST(attrs['courier'] AS INT) = 5", times=90)
    again = table.auto(policy=small, model=EAGER)
    assert again.acted, again.sentence
    assert table.frame().where("attrs['courier'] = 'none'").count() == 3_000


@pytest.mark.parametrize(("committed", "replaced"), [(False, False), (True, False), (True, True)])
def test_a_failed_append_by_a_layout_is_made_again_unless_its_commit_got_through(
    spark: SparkSession, shipments: Make, monkeypatch: pytest.MonkeyPatch, committed: bool, replaced: bool
) -> None:
    table = shipments()
    ask(table, "k < 50", "k >= 900")
    assert table.auto(policy=POLICY, model=EAGER).acted
    rows = spark.read.format("delta").load(table.source).where("id < 3000")
    save = skipstone.Table._save

    def failing(self: skipstone.Table, writer: DataFrameWriter) -> None:
        monkeypatch.setattr(skipstone.Table, "_save", save)
        if committed:
            save(self, writer)
        if replaced:
            spark.sql(f"OPTIMIZE delta.`{self.source}`").collect()
        raise PySparkException("the disk is full")

    monkeypatch.setattr(skipstone.Table, "_save", failing)
    code = table.append(rows, POLICY, EAGER).code
    assert replaced or (code == "LAID_OUT") == committed
    assert table.frame().count() == 15_000


def test_rows_are_appended_once_whatever_becomes_of_their_layout(
    spark: SparkSession, shipments: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = shipments()
    rows = spark.read.format("delta").load(table.source).where("id < 3000")

    def fails(*_: object, **__: object) -> Decision:
        raise OSError(28, "No space left on device", "somewhere")

    monkeypatch.setattr(skipstone.Table, "auto", fails)
    decision = table.append(rows, POLICY, EAGER)
    assert (decision.code, decision.sentence) == ("FAILED", "somewhere: No space left on device")
    assert table.frame().count() == 15_000


def test_a_parquet_directory_cannot_arrange_itself(shipments: Make) -> None:
    with pytest.raises(skipstone.SkipstoneError, match="cannot be replaced in one step"):
        shipments("parquet").auto(policy=POLICY)


def test_a_watch_decides_after_commits_only() -> None:
    versions, decided = [0], []

    def decide() -> Decision:
        decided.append(versions[0])
        acted = len(decided) == 2
        versions[0] += acted
        return Decision("2024-01-01T00:00:00+00:00", acted, "PAYS" if acted else "WAITING", "")

    watch = Watch(lambda: versions[0], decide, idle_checks=4)
    assert watch.look() is not None
    assert watch.look() is None
    versions[0] = 1
    assert watch.look() is not None
    assert watch.look() is not None, "after a step of its own there may be another one"
    assert (watch.look(), watch.look(), watch.look()) == (None, None, None)
    assert watch.look() is not None, "the log may have grown meanwhile"
    assert decided == [0, 1, 2, 2]


def test_a_watch_in_the_background_survives_errors_and_stops() -> None:
    looked = threading.Semaphore(0)

    def version() -> int:
        looked.release()
        raise skipstone.SkipstoneError("no such table")

    watch = Watch(version, lambda: Decision("", False, "", ""), seconds=0.01).start()
    assert all(looked.acquire(timeout=5) for _ in range(3))
    watch.stop()


def test_a_watch_outlives_a_round_that_fails() -> None:
    rounds: list[str] = []

    def decide() -> Decision:
        rounds.append("begun")
        if len(rounds) == 1:
            raise RuntimeError("the file system is away")
        return Decision("2024-01-01T00:00:00+00:00", False, "WAITING", "")

    watch = Watch(lambda: 0, decide)
    assert watch.look() is None
    assert watch.look() is not None, "what failed is tried again"


def test_queries_about_a_column_that_was_dropped_are_left_out_and_told(
    spark: SparkSession, shipments: Make, caplog: pytest.LogCaptureFixture
) -> None:
    table = shipments()
    spark.sql(f"ALTER TABLE delta.`{table.source}` SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')")
    ask(table, "mode = 'AIR'", "nested.b = 'x'", "k < 50", "k >= 900")
    spark.sql(f"ALTER TABLE delta.`{table.source}` DROP COLUMNS (mode, nested.b)")
    spark.sql(f"ALTER TABLE delta.`{table.source}` RENAME COLUMN k TO key")
    table = skipstone.table(spark, f"shipments={table.source}")
    with caplog.at_level("WARNING", "skipstone"):
        decision = table.auto(policy=POLICY, model=EAGER)
    assert (decision.code, decision.acted) == ("PAYS", True)
    assert decision.numbers["logged_scans"] == 60
    assert table.auto_status(POLICY).drift == 0.0
    assert [found for found in caplog.messages if "no longer has (mode, nested.b)" in found] == [
        f"2 of 4 entries in the query log of {table.files().root} are left out, for they filter by columns "
        "that the table no longer has (mode, nested.b)."
    ], "it is told once"
    assert "mode" not in str(table.analyze().report)
    assert len(table.log()) == 4, "the log itself is as it was"

    spark.sql(f"ALTER TABLE delta.`{table.source}` DROP COLUMN key")
    table = skipstone.table(spark, f"shipments={table.source}")
    assert table.auto(policy=POLICY, model=EAGER).code == "NO_LOG"
    with pytest.raises(skipstone.SkipstoneError, match=r"4 of 4 entries .* no longer has"):
        table.advise()
