"""Whatever is damaged in a table's catalog: queries answer as ever, and commands say which file it is."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from tests.damage import attempt, damaged
from tests.opened import opened

import skipstone
from skipstone.catalog.decisions import Decision, save_decision
from skipstone.spark.bridge import runtime
from skipstone.workload.queries import Query, Workload

LOG = Workload(tuple(Query(f"SELECT count(*) FROM t WHERE k < {most}") for most in (50, 100, 150)))


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> skipstone.Table:
    """A table with a layout, a decision, a log, and new rows that wait."""
    path = str(tmp_path_factory.mktemp("damaged") / "t")
    rows = spark.range(0, 1_000).selectExpr("id", "pmod(xxhash64(id), 1000) AS k").coalesce(1)
    rows.write.format("delta").option("delta.dataSkippingNumIndexedCols", "32").save(path)
    made = skipstone.table(spark, f"t={path}")
    made.optimize(LOG, "qdtree", block_rows=100)
    made.import_log(LOG)
    store = opened(made).store
    save_decision(
        store, Decision("2026-05-01T00:00:00+00:00", False, "WAITING", "a sentence", {"drift": 0.5})
    )
    rows.limit(300).write.format("delta").mode("append").save(path)
    return made


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a file is only half written yet is waited for elsewhere (tests/catalog)."""
    monkeypatch.setattr(runtime, "_PATIENCE_SECONDS", 0.1)


def files(table: skipstone.Table, pattern: str) -> Path:
    (found,) = Path(table.source, "_skipstone").glob(pattern)
    return found


@contextmanager
def holding(path: Path, data: bytes) -> Iterator[None]:
    """Let a file hold something else, in a way that the file system does not notice."""
    whole, checksum = path.read_bytes(), path.with_name(f".{path.name}.crc")
    kept = checksum.read_bytes() if checksum.exists() else None
    checksum.unlink(missing_ok=True)
    path.write_bytes(data)
    try:
        yield
    finally:
        path.write_bytes(whole)
        if kept is not None:
            checksum.write_bytes(kept)


def queries_answer(table: skipstone.Table) -> None:
    (query,) = table.replay(Workload(LOG.queries[:1])).queries
    assert query.same_result
    assert 0 < query.files_read < query.files_total, "if not by skipstone, then by Delta's own bounds"


def test_a_damaged_layout_is_named_by_all_that_need_it_and_queries_skip(table: skipstone.Table) -> None:
    path = files(table, "layouts/*.json")
    whole = path.read_bytes()
    digit = whole.index(b'"blocks": ') + len(b'"blocks": ')
    flipped = whole[:digit] + bytes([whole[digit] ^ 1]) + whole[digit + 1 :]
    calls = (table.optimize_new, lambda: table.auto(act=False))
    for data in (flipped, whole[: len(whole) // 2], b"[]", b"{}", b""):
        with holding(path, data):
            for call in (table.auto_status, *(calls if data == flipped else ())):
                _, sentence = attempt(call)
                assert sentence.startswith(f"file:{path} is damaged (")
                assert "delete it and lay the table out anew (skipstone optimize)" in sentence
    with holding(path, flipped):
        queries_answer(table)
    with holding(path, whole):
        assert len(table.auto_status().layouts) == 1
    aside = path.rename(path.with_name("aside"))
    assert table.auto_status().layouts == ()
    _, sentence = attempt(table.optimize_new)
    assert "has lost the description of its newest layout" in sentence
    aside.rename(path)


def test_a_checksum_that_does_not_fit_is_named_too(table: skipstone.Table) -> None:
    path = files(table, "layouts/*.json")
    checksum = path.with_name(f".{path.name}.crc")
    whole, kept = path.read_bytes(), checksum.read_bytes()
    path.write_bytes(whole.replace(b"qdtree", b"zorder", 1))
    try:
        _, sentence = attempt(table.auto_status)
        assert sentence.startswith(f"file:{path} is damaged (")
        assert "delete it and lay the table out anew" in sentence
    finally:
        path.write_bytes(whole)
        checksum.write_bytes(kept)


def test_a_layout_whose_name_has_no_digest_is_still_read(table: skipstone.Table) -> None:
    path = files(table, "layouts/*.json")
    old = path.with_name(f"{path.name.partition('-')[0]}.json")
    old.write_bytes(path.read_bytes())
    aside = path.rename(path.with_name("aside"))
    assert [layout["strategy"] for layout in table.auto_status().layouts] == ["qdtree"]
    aside.rename(path)
    old.unlink()


def test_a_damaged_decision_is_left_out(table: skipstone.Table) -> None:
    path = files(table, "decisions/*.json")
    assert len(table.auto_status().decisions) == 1
    with holding(path, path.read_bytes().replace(b"0.5", b"0.7")):
        assert table.auto_status().decisions == ()


def test_a_damaged_segment_is_named_and_queries_answer(table: skipstone.Table) -> None:
    (path, *_) = sorted(Path(table.source, "_skipstone", "blocks").glob("*.parquet"))
    for data in list(damaged(path.read_bytes(), flips=6))[:12]:
        with holding(path, data):
            _, sentence = attempt(table.index)
            assert sentence.startswith(f"file:{path} is damaged")
            assert "; delete it and index again" in sentence
            assert "\n" not in sentence
    with holding(path, b"junk"):
        queries_answer(table)
    opened(table).refresh()


@pytest.mark.parametrize("part", ["*.parquet", "_delta_log/*.json"])
def test_a_damaged_query_log_is_named_with_its_remedy_and_queries_skip(
    table: skipstone.Table, part: str
) -> None:
    log = Path(table.source, "_skipstone", "query_log")
    path, before = next(log.glob(part)), len(table.log())
    whole = path.read_bytes()
    flipped = whole[:60] + bytes([whole[60] ^ 4]) + whole[61:]
    for data in (b"no such thing", whole[: len(whole) // 2], *([flipped] if "parquet" in part else [])):
        with holding(path, data):
            others = (table.auto_status, lambda: table.advise(block_rows=100))
            for call in (table.log, *(others if data == b"no such thing" else ())):
                _, sentence = attempt(call)
                assert sentence.startswith(f"The query log file:{log} cannot be read (")
                assert path.name in sentence
                assert f"delete file:{log}, which is then begun anew." in sentence
                assert "\n" not in sentence
            assert path.name in table.status().log.problems[-1]
    with holding(path, b"no such thing"):
        queries_answer(table)
    assert len(table.log()) == before


def test_a_query_log_that_was_deleted_is_begun_anew(table: skipstone.Table) -> None:
    shutil.rmtree(Path(table.source, "_skipstone", "query_log"))
    assert table.log() == ()
    table.import_log(LOG)
    assert len(table.log()) == 3
