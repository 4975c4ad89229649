"""Uploads: what is kept, what is refused, and what hostile files come to. No Spark."""

from __future__ import annotations

import gzip
import io
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from skipstone.errors import SkipstoneError
from skipstone.server.problems import ConflictError, MissingError, TooManyError
from skipstone.server.settings import Limits
from skipstone.server.store import Store
from skipstone.server.workloads import Upload, Workloads

LIMITS = Limits(upload_bytes=100_000, workloads=3)


@pytest.fixture
def workloads(tmp_path: Path) -> Workloads:
    return Workloads(tmp_path / "workloads", Store(tmp_path / "s.sqlite"), LIMITS)


def test_an_upload_is_kept_and_known_to_the_next_server(workloads: Workloads, tmp_path: Path) -> None:
    stored = workloads.add(Upload("Week 7.sql"), b"SELECT 1;\nSELECT 2;")
    assert (stored.id, stored.name, stored.queries) == ("week-7", "Week 7.sql", 2)
    again = Workloads(tmp_path / "workloads", Store(tmp_path / "s.sqlite"), LIMITS)
    assert [query.sql for query in again.read("week-7").queries] == ["SELECT 1", "SELECT 2"]
    again.forget("week-7")
    assert list((tmp_path / "workloads").iterdir()) == []
    with pytest.raises(MissingError):
        again.get("week-7")


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/cron.d/x.sql",
        "/etc/passwd.sql",
        "a\0b.sql",
        "..sql",
        "<img src=x>.sql",
        "x" * 5_000 + ".sql",
    ],
)
def test_a_name_decides_nothing_about_where_a_file_lies(
    workloads: Workloads, tmp_path: Path, name: str
) -> None:
    stored = workloads.add(Upload(name, format="sql"), b"SELECT 1")
    (file,) = (tmp_path / "workloads").iterdir()
    assert file.name == stored.file == f"{stored.id}.sql"
    assert len(stored.name) <= 200


@pytest.mark.parametrize(
    ("upload", "data", "why"),
    [
        (Upload("a.exe"), b"MZ", "must end in one of"),
        (Upload("a.sql"), b"-- nothing", "has no statements"),
        (Upload("a.jsonl"), b"{not json", "no record that can be read"),
        (Upload("a.csv"), b"x,y\n1,2\n", "a.csv"),
        (Upload("a.parquet"), b"PAR1 but not really", "not a Parquet file"),
        (Upload("a.sql.gz"), b"not gzip", "not a gzip file"),
        (Upload("a.sql", dialect="klingon"), b"SELECT 1", "dialect klingon is not known"),
        (Upload("a.sql", dialect="postgres"), b"SELEC FROM WHERE", "dialect postgres"),
        (Upload("a.sql", format="pickle"), b"x", "must end in one of"),
        (Upload("a.sql"), b"\xff\xfe\x00", "not a UTF-8 text file"),
    ],
)
def test_what_cannot_be_read_is_one_sentence_and_leaves_nothing(
    workloads: Workloads, tmp_path: Path, upload: Upload, data: bytes, why: str
) -> None:
    with pytest.raises(SkipstoneError, match=why) as caught:
        workloads.add(upload, data)
    assert str(tmp_path) not in str(caught.value)
    assert list((tmp_path / "workloads").iterdir()) == []
    assert workloads.list() == []


def test_a_small_file_that_would_become_huge_is_refused(workloads: Workloads) -> None:
    bomb = gzip.compress(b" " * 10_000_000)
    assert len(bomb) < LIMITS.upload_bytes
    for data in (bomb, gzip.compress(b"SELECT 1;") + bomb):
        with pytest.raises(SkipstoneError, match="holds more than 2,000,000 bytes"):
            workloads.add(Upload("a.sql.gz"), data)
    rows = io.BytesIO()
    pq.write_table(pa.table({"sql": pa.array(["SELECT 1"] * 1_000_001).dictionary_encode()}), rows)
    with pytest.raises(SkipstoneError, match="holds more than 1,000,000 rows"):
        workloads.add(Upload("a.parquet"), rows.getvalue())


def test_no_more_are_kept_than_may_be(workloads: Workloads) -> None:
    assert [workloads.add(Upload("a.sql"), b"SELECT 1").id for _ in range(3)] == ["a", "a-2", "a-3"]
    with pytest.raises(TooManyError, match="3 workloads already"):
        workloads.add(Upload("a.sql"), b"SELECT 1")


def test_uploads_of_one_name_at_the_same_time_are_kept_apart_and_counted(tmp_path: Path) -> None:
    here = threading.Barrier(3, timeout=20)

    def unparsed(_: str) -> str:
        here.wait()
        return ""

    workloads = Workloads(tmp_path / "w", Store(tmp_path / "s.sqlite"), LIMITS, unparsed)
    with ThreadPoolExecutor(3) as threads:
        kept = list(threads.map(lambda n: workloads.add(Upload("a.sql"), b"SELECT %d" % n), range(3)))
    assert sorted(each.id for each in kept) == ["a", "a-2", "a-3"]
    assert [workloads.read(each.id).queries[0].sql for each in kept] == [f"SELECT {n}" for n in range(3)]
    with pytest.raises(TooManyError, match="3 workloads already"):
        workloads.add(Upload("a.sql"), b"SELECT 1")


def test_a_file_that_is_gone_is_one_sentence(workloads: Workloads, tmp_path: Path) -> None:
    stored = workloads.add(Upload("a.sql"), b"SELECT 1")
    (tmp_path / "workloads" / stored.file).unlink()
    with pytest.raises(ConflictError, match="gone; upload it again"):
        workloads.read(stored.id)


def test_a_file_of_nonsense_is_refused_by_the_parser_and_one_sound_statement_is_enough(
    tmp_path: Path,
) -> None:
    def unparsed(sql: str) -> str:
        return "" if sql.startswith("SELECT") else "Syntax error at or near 'it'"

    workloads = Workloads(tmp_path / "w", Store(tmp_path / "s.sqlite"), LIMITS, unparsed)
    with pytest.raises(
        SkipstoneError, match=r"^No statement of a\.sql can be read .* \(line 2\): Syntax error"
    ):
        workloads.add(Upload("a.sql"), b"\nmake it so;\n<script>alert(1)</script>")
    assert list((tmp_path / "w").iterdir()) == []
    assert workloads.add(Upload("a.sql"), b"make it so;\nSELECT 1;").queries == 2
