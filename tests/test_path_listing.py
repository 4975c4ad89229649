"""What lies at a path that is no table is named in one sentence; no Spark is needed for that."""

from __future__ import annotations

import pytest

from skipstone.path_listing import problem_of, read_listing

NEEDS = "skipstone needs a Delta table or a directory of Parquet files"


def problem(inside: dict[str, str | None], path: str = "/t") -> str:
    """The problem of a path, given the listings of what is at it and in it."""
    return problem_of(path, read_listing(inside[""]), lambda name: read_listing(inside.get(name)))


@pytest.mark.parametrize(
    "inside",
    [
        {"": "d\0d_delta_log"},
        {"": "d\0fa.parquet"},
        {"": "d\0fpart-0.snappy.parquet\0fnotes.txt"},
        {"": "d\0f000000_0"},
        {"": "d\0dyear=2024\0dyear=2025"},
    ],
)
def test_what_may_be_a_table_has_no_problem(inside: dict[str, str | None]) -> None:
    assert problem(inside) == ""


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ({"": None}, "/t does not exist."),
        ({"": "d"}, f"/t is empty; {NEEDS}."),
        ({"": "d\0f_SUCCESS\0f.crc"}, f"/t is empty; {NEEDS}."),
        (
            {"": "d\0fa.csv\0fb.csv.gz"},
            (
                f"/t holds 2 CSV files; {NEEDS} (convert with "
                "spark.read.csv(...).write.format('delta').save(...))."
            ),
        ),
        (
            {"": "d\0fa.avro"},
            (
                f"/t holds 1 AVRO file; {NEEDS} (convert with "
                "spark.read.format('avro').load(...).write.format('delta').save(...))."
            ),
        ),
        (
            {"": "d\0da\0db\0dc", "a": "d\0fx.parquet", "b": "d\0d_delta_log", "c": "d\0fx.csv"},
            "/t has no Parquet files itself, but these directories in it have: a/, b/; give one of them.",
        ),
        ({"": "d\0da", "a": "d"}, f"/t holds only directories, and no Parquet files in them; {NEEDS}."),
        (
            {"": "d\0ddata\0dmetadata", "metadata": "d\0fv1.metadata.json", "data": "d\0fx.parquet"},
            f"/t is an Iceberg table; {NEEDS}.",
        ),
        ({"": "d\0d.hoodie\0da"}, f"/t is a Hudi table; {NEEDS}."),
    ],
)
def test_what_is_no_table_is_named(inside: dict[str, str | None], said: str) -> None:
    assert problem(inside) == said


def test_a_file_is_no_table() -> None:
    assert problem({"": "f"}, "/d/a.csv") == f"/d/a.csv is a file; {NEEDS}."
    assert problem({"": "f"}, "s3a://b/t/a.parquet") == (
        "s3a://b/t/a.parquet is a file, and a table is a directory; give the one that it lies in (s3a://b/t)."
    )
