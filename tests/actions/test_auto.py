"""The self-organising loop acts when it pays, and only then; every decision says why."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from queue import Queue

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrameWriter, SparkSession
from pyspark.sql import functions as F

import skipstone
from skipstone.actions.auto import auto
from skipstone.actions.rewrite import rewrite_table
from skipstone.actions.watch import Watch
from skipstone.catalog.decisions import Decision
from skipstone.catalog.layouts import load_layout
from skipstone.errors import TableChangedError
from skipstone.estimate.cost import DEFAULT, Coefficients, CostModel
from skipstone.estimate.policy import Policy
from skipstone.spark.bridge.runtime import runtime_of
from skipstone.spark.engine.rewrite import Rewriting
from skipstone.spark.engine.row_hash import hash_of
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


@pytest.fixture
def laid_out(shipments: Make, spark: SparkSession, templates: Path, tmp_path: Path) -> skipstone.Table:
    """A copy of a table that has laid itself out for two queries, with its log and its decisions."""
    template, path = templates / "laid-out", tmp_path / "shipments"
    if template.exists():
        shutil.copytree(template, path)
        return skipstone.table(spark, f"shipments={path}")
    table = shipments()
    ask(table, "k < 50", "k >= 900")
    decision = table.auto(policy=POLICY, model=EAGER)
    assert decision.acted
    assert set(decision.numbers["percent_scanned_by"]) == {"qdtree", "as it lies"}
    shutil.copytree(path, template)
    return table


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


@pytest.mark.parametrize("change", ["append", "delete"])
def test_commits_between_the_estimate_and_the_rewrite_count_only_if_they_touch_its_files(
    spark: SparkSession, shipments: Make, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    table = shipments()
    ask(table, "k < 50")
    changed = set(table.files().files.paths)

    def late(*args: object, **more: object) -> object:
        if change == "append":
            rows = spark.read.format("delta").load(table.source).where("id < 100").coalesce(1)
            rows.write.format("delta").mode("append").save(table.source)
        else:
            spark.sql(f"DELETE FROM delta.`{table.source}` WHERE id < 100").collect()
        changed.symmetric_difference_update(table.files().files.paths)
        return rewrite_table(*args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr("skipstone.actions.auto.rewrite_table", late)
    decision = table.auto(policy=POLICY, model=EAGER)
    if change == "append":
        assert decision.acted, decision.sentence
        assert table.frame().count() == 12_100
        assert changed <= set(table.files().files.paths), "what came meanwhile stays as it is"
    else:
        assert (decision.acted, decision.code) == (False, "LOST_RACE")
        assert table.frame().count() == 11_900


def test_a_no_holds_only_while_nothing_speaks_against_it(
    shipments: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = shipments()
    ask(table, "k < 1000")
    no = table.auto(policy=POLICY, model=EAGER)
    assert no.code == "NOTHING_TO_GAIN"
    assert table.auto(policy=POLICY, model=EAGER, lazy=True) == no
    other = table.auto(policy=replace(POLICY, margin=0.5), model=EAGER, lazy=True)
    assert other.repeated == 1, "another policy is another question"
    dear = table.auto(policy=POLICY, model=CostModel(DEFAULT), lazy=True)
    assert dear.code == "READ_TOO_LITTLE", "and so are other costs"
    table.auto(policy=POLICY, model=EAGER)

    runtime, scans = runtime_of(table.spark), table.log()

    def later(days: float) -> Decision:
        moment = datetime.now(UTC) + timedelta(days=days)
        files = table.files()
        return auto(table.spark, runtime, files, scans, POLICY, EAGER, True, lazy=True, clock=lambda: moment)

    assert [later(2).repeated, later(4).repeated] == [0, 1], "after some days it is asked anew"

    table.clear_log()
    ask(table, "id < 500")

    def lost(*_: object, **__: object) -> None:
        raise TableChangedError("somebody else was first.")

    monkeypatch.setattr("skipstone.actions.auto.rewrite_table", lost)
    first = table.auto(policy=POLICY, model=EAGER, lazy=True)
    assert first.code == "LOST_RACE", "as many queries as before, but about other things"
    monkeypatch.undo()
    assert table.auto(policy=POLICY, model=EAGER, lazy=True).acted, "a lost race is no answer"


def test_old_data_stays_when_the_queries_have_changed_but_a_rewrite_does_not_pay(
    laid_out: skipstone.Table,
) -> None:
    table = laid_out
    ask(table, "mode = 'AIR' AND id < 500", times=200)
    dear = replace(EAGER, coefficients=replace(EAGER.coefficients, rewrite_fixed=100_000.0))
    decision = table.auto(policy=POLICY, model=dear)
    assert (decision.acted, decision.numbers["data"], version(table)) == (False, "old", 1)
    assert decision.numbers["drift"] > 0.25
    assert decision.code == "READ_TOO_LITTLE"
    tiny = table.auto(policy=replace(POLICY, step_bytes=1), model=EAGER)
    assert not tiny.acted
    assert "old data stays although the queries have changed" in tiny.sentence


def test_appended_rows_are_laid_out_once_enough_have_gathered(
    spark: SparkSession, laid_out: skipstone.Table
) -> None:
    table = laid_out
    before = set(table.files().files.paths)
    rows = spark.read.format("delta").load(table.source)
    few = table.append(rows.where("id < 300").coalesce(1), POLICY, EAGER)
    assert (few.acted, few.code) == (False, "WAITING")
    assert 0 < few.numbers["unclustered_bytes"] < few.numbers["awaited_bytes"]
    many = table.append(rows.where("id >= 300 AND id < 3000").coalesce(2), POLICY, EAGER)
    assert (many.acted, many.code, many.numbers["rows"]) == (True, "LAID_OUT", 2_700), many.sentence
    assert many.numbers["files"] == 4
    assert before < set(table.files().files.paths)
    assert table.frame().count() == 15_000
    # The few rows that came first still wait; those that took their places do not.
    seen = table.auto_status(POLICY)
    assert seen.unclustered_bytes == few.numbers["unclustered_bytes"]
    assert [decision.code for decision in seen.decisions][-2:] == ["LAID_OUT", "WAITING"]
    replayed = table.replay(Workload((Query("SELECT sum(id) FROM shipments WHERE k < 50"),)))
    assert replayed.queries[0].rows_scanned < 3_000
    assert replayed.queries[0].same_result


def test_rows_that_are_too_many_for_a_block_become_several_files_that_wait(
    spark: SparkSession, laid_out: skipstone.Table
) -> None:
    table = laid_out
    before = set(table.files().files.paths)
    rows = (
        spark.read.format("delta")
        .load(table.source)
        .where("id < 9600")
        .withColumn("k", F.lit(5).cast("long"))
    )
    decision = table.append(rows, POLICY, EAGER)
    assert (decision.code, decision.numbers["files"]) == ("LAID_OUT", 0), decision.sentence
    assert "too much for their blocks" in decision.sentence
    files = table.files().files
    new = [place for place, path in enumerate(files.paths) if path not in before]
    assert len(new) == decision.numbers["overflowing_files"] >= 2
    seen = table.auto_status(POLICY)
    assert (seen.unclustered_files, len(seen.layouts)) == (len(new), 1)
    assert table.status().files_indexed == len(files), "they have statistics all the same"
    assert table.frame().count() == 21_600


def test_new_data_gets_the_kind_of_layout_that_has_proved_itself(
    spark: SparkSession, laid_out: skipstone.Table
) -> None:
    table = laid_out
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


def test_new_data_is_cut_along_the_curve_of_the_layout_before(spark: SparkSession, shipments: Make) -> None:
    table = shipments()
    ask(table, *(f"k BETWEEN {low} AND {low + 20}" for low in range(0, 900, 60)))
    policy = replace(POLICY, layouts=("selforg",))
    with pytest.raises(skipstone.SkipstoneError, match="There is no curve peano"):
        table.auto(policy=replace(policy, layout_options={"curve": "peano"}), model=EAGER)
    first = table.auto(policy=replace(policy, layout_options={"curve": "hilbert"}), model=EAGER)
    rows = spark.read.format("delta").load(table.source).where("id < 3000")
    rows.write.format("delta").mode("append").save(table.source)
    again = table.auto(policy=policy, model=EAGER)
    assert first.acted
    assert again.acted, again.sentence
    store = runtime_of(spark).store(table.files().root)
    layouts = [load_layout(store, each.numbers["layout_id"]) for each in (first, again)]
    assert [record.options for record in layouts if record] == [{"curve": "hilbert"}] * 2


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
    spark: SparkSession,
    laid_out: skipstone.Table,
    monkeypatch: pytest.MonkeyPatch,
    committed: bool,
    replaced: bool,
) -> None:
    table = laid_out
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


def test_a_table_that_must_not_be_rewritten_is_refused_before_anything_is_estimated(
    spark: SparkSession, shipments: Make
) -> None:
    table = shipments()
    ask(table, "k < 50")
    property_ = "delta.autoOptimize.autoCompact"
    spark.sql(f"ALTER TABLE delta.`{table.source}` SET TBLPROPERTIES ('{property_}' = 'true')")
    decision = table.auto(policy=POLICY, model=EAGER)
    assert (decision.acted, decision.code) == (False, "REFUSED")
    assert property_ in decision.sentence
    assert "analysis_seconds" not in decision.numbers


def test_rows_are_appended_whatever_has_become_of_the_log(spark: SparkSession, shipments: Make) -> None:
    table = shipments()
    ask(table, "k < 50")
    log = Path(table.source) / "_skipstone" / "query_log" / "_delta_log"
    for entry in log.glob("*.json"):
        entry.write_text("no JSON")
    for checksum in log.glob(".*.crc"):
        checksum.unlink()
    rows = spark.read.format("delta").load(table.source).where("id < 3000")
    assert table.append(rows, POLICY, EAGER).code == "FAILED"
    assert table.frame().count() == 15_000


@pytest.mark.parametrize("damage", ["cut off", "of a kind that nobody knows", "of a newer version"])
def test_rows_are_appended_whatever_has_become_of_their_layout(
    spark: SparkSession, laid_out: skipstone.Table, damage: str
) -> None:
    table = laid_out
    (record,) = (Path(table.source) / "_skipstone" / "layouts").glob("*.json")
    text = record.read_text()
    match damage:
        case "cut off":
            record.write_text(text[: len(text) // 2])
        case "of a kind that nobody knows":
            record.write_text(text.replace('"kind": "tree"', '"kind": "forest"'))
        case _:
            record.write_text(text.replace('"format": ', '"format": 9'))
    assert record.read_text() != text
    record.with_name(f".{record.name}.crc").unlink(missing_ok=True)
    rows = spark.read.format("delta").load(table.source).where("id < 3000")
    assert table.append(rows, POLICY, EAGER).code != "LAID_OUT"
    assert table.frame().count() == 15_000


def test_a_parquet_directory_cannot_arrange_itself_and_keeps_its_rows(
    spark: SparkSession, shipments: Make
) -> None:
    table = shipments("parquet")
    with pytest.raises(skipstone.SkipstoneError, match="cannot be replaced in one step"):
        table.auto(policy=POLICY)
    with pytest.raises(skipstone.SkipstoneError, match="can be appended to Delta tables only"):
        table.append(spark.read.parquet(table.source).where("id < 10"))
    assert table.frame().count() == 12_000


def test_a_watch_sees_the_commits_of_others(spark: SparkSession, shipments: Make) -> None:
    table = shipments()
    decided: Queue[Decision] = Queue()
    watch = table.watch(0.05, POLICY, decided.put).start()
    try:
        assert decided.get(timeout=120).numbers["table_version"] == 0
        rows = spark.read.format("delta").load(table.source).where("id < 10")
        rows.write.format("delta").mode("append").save(table.source)
        assert decided.get(timeout=120).numbers["table_version"] == 1
    finally:
        watch.stop()


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

    ask(table, "id < 500")
    rows = spark.read.format("delta").load(table.source).where("id < 3000")
    patient = replace(POLICY, drift_queries=1e9, new_blocks=1e9)
    assert table.append(rows, patient, EAGER).code == "WAITING", "the layout went by that column"
    assert table.frame().count() == 15_000
    with pytest.raises(skipstone.SkipstoneError, match="there is nothing"):
        table.optimize_new()
