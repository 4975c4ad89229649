"""Query logs in every format, and what is said about the ones that cannot be read."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from skipstone.errors import SkipstoneError
from skipstone.workload import read_queries


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_sql_file(tmp_path: Path) -> None:
    workload = read_queries(written(tmp_path / "log.sql", "select 1;\nselect ';😀';\n"))
    assert [(query.sql, query.position, query.line) for query in workload.queries] == [
        ("select 1", 1, 1),
        ("select ';😀'", 2, 2),
    ]
    assert workload.broken == ()


def test_byte_order_mark_and_windows_line_ends_are_fine(tmp_path: Path) -> None:
    path = tmp_path / "log.sql"
    path.write_bytes(b"\xef\xbb\xbfselect 1;\r\nselect 2;\r\n")
    assert [query.sql for query in read_queries(path).queries] == ["select 1", "select 2"]


def test_broken_statement_is_named_and_the_rest_is_used(tmp_path: Path) -> None:
    workload = read_queries(written(tmp_path / "log.sql", "select 1;\nselect 'x;\nselect 3;\n"))
    assert [query.sql for query in workload.queries] == ["select 1", "select 3"]
    (broken,) = workload.broken
    assert str(broken) == "statement 2 (line 2): the ' on line 2 is never closed"


def test_jsonl_file(tmp_path: Path) -> None:
    lines = [
        {"sql": "select 1;", "timestamp": "2024-05-01T10:00:00Z", "count": 3, "user": "ana"},
        {"sql": "select 2", "timestamp": "2024-05-01T10:00:00+02:00"},
        {"sql": "select 3", "timestamp": 1714557600},
        {"sql": "select 4", "timestamp": 1714557600000, "other": [1]},
        {"sql": "select 'a;\n b'", "timestamp": "2024-05-01 10:00:00"},
    ]
    path = written(tmp_path / "log.jsonl", "\n".join(map(json.dumps, lines)) + "\n\n")
    queries = read_queries(path).queries
    moment = datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert [query.sql for query in queries] == [*(f"select {n}" for n in range(1, 5)), "select 'a;\n b'"]
    assert (queries[0].timestamp, queries[0].count, queries[0].user) == (moment, 3, "ana")
    assert queries[1].timestamp == moment.astimezone(timezone(timedelta(hours=2))) - timedelta(hours=2)
    assert [query.timestamp for query in queries[2:]] == [moment] * 3
    assert (queries[1].count, queries[1].user) == (1, None)


@pytest.mark.parametrize("column", ["statement_text", "query_text", "sql", "Statement_Text"])
def test_csv_export(tmp_path: Path, column: str) -> None:
    text = f'start_time,{column},executed_by\n2024-05-01T10:00:00Z,"select ""a"",\n \'b\'",ana\n,select 2,\n'
    first, second = read_queries(written(tmp_path / "log.csv", text)).queries
    assert (first.sql, first.user) == ("select \"a\",\n 'b'", "ana")
    assert first.timestamp == datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert (second.sql, second.timestamp, second.user) == ("select 2", None, None)


def test_parquet_export(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    moment = datetime(2024, 5, 1, 10, tzinfo=UTC)
    texts = ["select 1", None, "select 3"]
    pq.write_table(pa.table({"query_text": texts, "timestamp": [moment] * 3, "count": [1, 2, 3]}), path)
    workload = read_queries(path)
    assert [(query.sql, query.count, query.timestamp) for query in workload.queries] == [
        ("select 1", 1, moment),
        ("select 3", 3, moment),
    ]
    assert [broken.reason for broken in workload.broken] == ["the statement is empty"]


def test_directory_of_part_files_as_spark_writes_it(tmp_path: Path) -> None:
    folder = tmp_path / "log.csv"
    folder.mkdir()
    written(folder / "_SUCCESS", "")
    written(folder / "part-0.csv", "sql\nselect 1\n")
    written(folder / "part-1.csv", "sql\nselect 2\n")
    assert [query.sql for query in read_queries(folder).queries] == ["select 1", "select 2"]


def test_other_dialect_is_translated(tmp_path: Path) -> None:
    text = "select \"a b\" from t where x::int = 1;\nselect 'c\\';\nselec from where;"
    workload = read_queries(written(tmp_path / "log.sql", text), dialect="postgres")
    assert [query.sql for query in workload.queries] == [
        "SELECT `a b` FROM t WHERE CAST(x AS INT) = 1",
        "SELECT 'c\\\\'",
    ]
    (broken,) = workload.broken
    assert broken.position == 3
    assert "\n" not in broken.reason


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("log.txt", b"select 1", "must end in one of .sql, .jsonl, .csv, .parquet"),
        ("log.sql", b"select '\xff'", "is not a UTF-8 text file"),
        ("log.jsonl", b'{"sql": "select 1"}\n{"sql": \n', "line 2 of .* is not valid JSON"),
        ("log.jsonl", b'{"query": "select 1"}\n', "line 1 of .* is not a JSON object with"),
        ("log.jsonl", b'{"sql": "select 1", "count": 0}\n', "count that is not a positive whole number: 0"),
        ("log.jsonl", b'{"sql": "select 1", "timestamp": "soon"}\n', "timestamp that cannot be read: 'soon'"),
        ("log.csv", b"a,b\n1,2\n", "no statement column; one of statement_text, query_text, sql is"),
        ("log.csv", b"", "has no statement column"),
        ("log.csv", b'sql\n"select 1\n', "is not a valid CSV file"),
        ("log.parquet", b"PAR0", "is not a Parquet file that can be read"),
    ],
)
def test_bad_file_is_one_clear_sentence(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(SkipstoneError, match=message) as caught:
        read_queries(path)
    assert "\n" not in str(caught.value)


def test_missing_file_and_unknown_dialect(tmp_path: Path) -> None:
    with pytest.raises(SkipstoneError, match="does not exist"):
        read_queries(tmp_path / "none.sql")
    with pytest.raises(SkipstoneError, match="dialect klingon is not known"):
        read_queries(written(tmp_path / "log.sql", "select 1"), dialect="klingon")
