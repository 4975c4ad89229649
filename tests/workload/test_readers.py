"""Query logs in every format, and what is said about the ones that cannot be read."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from skipstone.errors import SkipstoneError
from skipstone.workload import LeftOut, read_queries


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


def test_a_statement_that_has_no_translation_is_broken(tmp_path: Path) -> None:
    workload = read_queries(written(tmp_path / "log.sql", "exec sp_help;\nselect 1"), dialect="tsql")
    assert [query.sql for query in workload.queries] == ["SELECT 1"]
    assert [broken.reason for broken in workload.broken] == ["sqlglot makes 0 statements of it, not one"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "log.txt",
            b"select 1",
            "must end in one of .sql, .jsonl, .json, .csv, .parquet, with or without .gz",
        ),
        ("log.sql", b"s\0e\0l\0", "is not a UTF-8 text file"),
        ("log.csv", b"a,b\n1,2\n", "no statement column; one of statement_text, query_text, sql is"),
        ("log.csv", b"", "has no statement column"),
        ("log.csv", b'"sql\n', "cannot be used as CSV: it is not valid CSV"),
        ("log.parquet", b"PAR0", "is not a Parquet file that can be read"),
        ("log.json", b"{", "is not valid JSON"),
        ("log.jsonl", b"{\n[1]", r"no record that can be read; record 1 \(line 1\): it is not valid"),
        (
            "log.json",
            b'{"other": [1]}',
            "has no statements: they are looked for in statement_text, query_text",
        ),
        ("log.sql.gz", b"select 1", "is not a gzip file"),
        ("log.sql.gz", gzip.compress(b"select 1", mtime=0)[:-9], "is not a gzip file that can be read"),
    ],
)
def test_bad_file_is_one_clear_sentence(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(SkipstoneError, match=message) as caught:
        read_queries(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "reasons"),
    [
        (
            "log.sql",
            b"select 1;\nselect '\xff';\nselect 2",
            {"(line 2): it has bytes that are not UTF-8 text"},
        ),
        (
            "log.jsonl",
            b'{"sql": "select 1"}\n{"sql": \n{"sql": "select 2"}',
            {"(line 2): it is not valid JSON"},
        ),
        (
            "log.jsonl",
            b'{"sql": "select 1"}\n{"query": "x"}\n7\n{"sql": 5}\n{"sql": "\xff"}\n{"sql": "select 2"}',
            {
                "(line 2): it is not a JSON object with statement_text or query_text or sql",
                "(line 3): it is not a JSON object with",
                "(line 4): its statement is not text",
                "(line 5): it has bytes that are not UTF-8 text",
            },
        ),
        (
            "log.jsonl",
            (
                b'{"sql": "select 1", "timestamp": ""}\n{"sql": "x", "count": 0}\n'
                b'{"sql": "x", "timestamp": "soon"}\n{"sql": "select 2", "count": NaN}'
            ),
            {"(line 2): its count is not a positive whole", "(line 3): its timestamp cannot be read: 'soon'"},
        ),
        ("log.csv", b'sql\nselect 1\n"select 3\nselect 2\n', {"(line 3): it is not valid CSV"}),
        (
            "log.csv",
            b'user,sql\nana,select 1\nana,select a, b\nana,"x"y\n,\nana,"select 2"\n',
            {
                "(line 3): it has 3 fields, and the header has 2",
                "(line 4): it is not valid CSV",
                "(line 5): the statement is empty",
            },
        ),
        (
            "log.json",
            b'[{"sql": "select 1"}, 5, {"sql": "select 2"}]',
            {"statement 2: it is not a JSON object"},
        ),
    ],
)
def test_a_record_that_cannot_be_read_is_named_and_the_others_are_used(
    tmp_path: Path, name: str, content: bytes, reasons: set[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    workload = read_queries(path)
    assert [query.sql for query in workload.queries] == ["select 1", "select 2"]
    said = [str(broken) for broken in workload.broken]
    assert len(said) == len(reasons)
    assert all(any(reason in text for text in said) for reason in reasons), said
    json.dumps(said).encode()


RECORDS: list[dict[str, object]] = [
    {"sql": "select 1", "status": "FINISHED"},
    {"sql": "select 2", "status": "FAILED"},
    {"sql": "select 3", "status": "Canceled"},
    {"sql": "select 4; select 5", "status": None},
    {"sql": "select 6", "status": "RUNNING"},
]


@pytest.mark.parametrize("format", ["jsonl", "json", "csv", "parquet"])
@pytest.mark.parametrize("status", ["status", "Execution_Status"])
@pytest.mark.parametrize("compressed", [False, True])
def test_statements_that_failed_in_their_engine_are_left_out_in_every_format(
    tmp_path: Path, format: str, status: str, compressed: bool
) -> None:
    records = [{"sql": record["sql"], status: record["status"]} for record in RECORDS]
    data = in_format(format, records)
    path = tmp_path / (f"log.{format}.gz" if compressed else f"log.{format}")
    path.write_bytes(gzip.compress(data, mtime=0) if compressed else data)
    workload = read_queries(path)
    assert [query.sql for query in workload.queries] == ["select 1", "select 4", "select 5", "select 6"]
    assert all(isinstance(each, LeftOut) for each in workload.broken)
    assert [(each.position, each.reason) for each in workload.broken] == [
        (2, "its engine ended it as FAILED"),
        (3, "its engine ended it as Canceled"),
    ]


def in_format(format: str, records: list[dict[str, object]]) -> bytes:
    match format:
        case "sql":
            return ";\n".join(str(record["sql"]) for record in records).encode()
        case "jsonl":
            return "\n".join(map(json.dumps, records)).encode()
        case "json":
            return json.dumps(records, indent=2).encode()
        case "csv":
            out = io.StringIO()
            writer = csv.DictWriter(out, list(records[0]))
            writer.writeheader()
            writer.writerows(records)
            return out.getvalue().encode()
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(records), sink)
    return sink.getvalue()


@pytest.mark.parametrize("format", ["sql", "jsonl", "json", "csv", "parquet"])
@pytest.mark.parametrize("compressed", [False, True])
def test_standard_input_is_read_by_what_it_looks_like_or_by_its_options(
    monkeypatch: pytest.MonkeyPatch, format: str, compressed: bool
) -> None:
    data = in_format(format, [{"user": "ana", "sql": "select 1"}, {"user": "ben", "sql": "select 2"}])
    for told in (None, format):
        piped = io.BytesIO(gzip.compress(data, mtime=0) if compressed else data)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(piped))
        workload = read_queries("-", format=told)
        assert [query.sql for query in workload.queries] == ["select 1", "select 2"]
    with pytest.raises(SkipstoneError, match="no query file format xml; choose one of sql, jsonl, json, csv"):
        read_queries("-", format="xml")


def test_the_query_history_of_databricks_is_read_as_its_api_answers(tmp_path: Path) -> None:
    answer = {
        "next_page_token": "x",
        "has_next_page": True,
        "res": [
            {
                "query_id": "1",
                "status": "FINISHED",
                "query_text": "select 1",
                "query_start_time_ms": 1714557600000,
                "user_name": "ana",
                "statement_type": "SELECT",
                "metrics": {"rows_read_count": 1},
            },
            {"query_id": "2", "status": "FAILED", "query_text": "select 2", "error_message": "no"},
            {"query_id": "3", "status": "FINISHED", "statement_type": "OTHER"},
        ],
    }
    workload = read_queries(written(tmp_path / "page.json", json.dumps(answer)))
    (query,) = workload.queries
    assert (query.sql, query.user) == ("select 1", "ana")
    assert query.timestamp == datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert [type(each).__name__ for each in workload.broken] == ["LeftOut", "BrokenQuery"]
    pages = written(tmp_path / "pages.json", json.dumps([answer, answer]))
    assert len(read_queries(pages).queries) == 2


@pytest.mark.parametrize(
    "content", [[{"sql": "select 1"}], {"results": [{"sql": "select 1"}]}, {"queries": [{"SQL": "select 1"}]}]
)
def test_json_may_be_an_array_or_hold_one(tmp_path: Path, content: object) -> None:
    workload = read_queries(written(tmp_path / "log.json", json.dumps(content)))
    assert [query.sql for query in workload.queries] == ["select 1"]


@pytest.mark.parametrize("format", ["jsonl", "json", "csv", "parquet"])
def test_a_column_of_any_name_can_hold_the_statements(tmp_path: Path, format: str) -> None:
    path = tmp_path / f"log.{format}"
    path.write_bytes(in_format(format, [{"sql": "no", "Query Body": "select 1"}]))
    assert [query.sql for query in read_queries(path, column="Query Body").queries] == ["select 1"]
    assert [query.sql for query in read_queries(path, column="query body").queries] == ["select 1"]


def test_directory_of_files_of_several_formats_names_file_and_line(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    (folder / "may").mkdir(parents=True)
    (folder / "_hidden").mkdir()
    written(folder / "_hidden" / "x.sql", "select 0")
    written(folder / "a.sql", "select 1;\nselect 'x")
    written(folder / "may" / "b.jsonl", '{"sql": "select 2"}\nno')
    written(folder / "may" / "c.csv", "a\n1\n")
    written(folder / "notes.txt", "hello")
    (folder / "z.csv.gz").write_bytes(gzip.compress(b"sql\nselect 3\n", mtime=0))
    workload = read_queries(folder)
    assert [query.sql for query in workload.queries] == ["select 1", "select 2", "select 3"]
    assert [(query.position, query.file) for query in workload.queries] == [
        (1, "a.sql"),
        (3, "may/b.jsonl"),
        (5, "z.csv.gz"),
    ]
    said = [str(broken) for broken in workload.broken]
    assert said[0].startswith("may/c.csv: cannot be used as CSV: it has no statement column")
    assert said[1] == "notes.txt: its name ends in none of .sql, .jsonl, .json, .csv, .parquet"
    assert said[2] == "statement 2 (line 2 of a.sql): the ' on line 2 is never closed"
    assert said[3].startswith("statement 4 (line 2 of may/b.jsonl): it is not valid JSON")


def test_directories_without_query_files_and_delta_tables_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SkipstoneError, match="has no query files"):
        read_queries(tmp_path)
    (tmp_path / "_delta_log").mkdir()
    with pytest.raises(SkipstoneError, match="is a Delta table"):
        read_queries(tmp_path)


def test_missing_file_and_unknown_dialect(tmp_path: Path) -> None:
    with pytest.raises(SkipstoneError, match="does not exist"):
        read_queries(tmp_path / "none.sql")
    with pytest.raises(SkipstoneError, match="dialect klingon is not known"):
        read_queries(written(tmp_path / "log.sql", "select 1"), dialect="klingon")
