"""Rewrites by more features than a machine word has bits: every bit is right, and is used."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from pyspark.sql import SparkSession
from tests.opened import opened

import skipstone
from skipstone.catalog.layout_records import LayoutRecord, load_layout
from skipstone.layout.assignment import Clusters, Grid, VectorMap
from skipstone.layout.pack import pack
from skipstone.layout.stored_layout import design_of
from skipstone.spark.engine.row_hash import hash_of
from skipstone.workload.queries import Query, Workload
from skipstone.workload.selection import MOST_SOP

Make = Callable[[], skipstone.Table]
ROWS, BLOCK_ROWS = 600, 75
KINDS = 200


@pytest.fixture
def notes(spark: SparkSession, copied: Callable[..., Path]) -> skipstone.Table:
    """Rows of 200 kinds, told apart only by a piece of a text, which bounds say nothing about."""
    text = f"concat('n', md5(CAST(id AS STRING)), ' kind', lpad(id % {KINDS}, 3, '0'), ';') AS note"
    rows = spark.range(0, ROWS, 1, 2).selectExpr("id", text)
    path = copied("notes", lambda path: rows.write.format("delta").save(str(path)))
    return skipstone.table(spark, f"notes={path}")


def about(kinds: int, frequent: int) -> Workload:
    """One query about each kind, some of them more often."""
    texts = [f"SELECT count(*), sum(id) FROM notes WHERE {holds(kind)}" for kind in range(kinds)]
    return Workload(tuple(Query(sql, count=10 if kind < frequent else 1) for kind, sql in enumerate(texts)))


def holds(kind: int) -> str:
    return f"note LIKE '%kind{kind:03d};%'"


# A machine word has 64 bits, and selforg places rows by at most 64 features. That rows find their blocks by
# vectors of any number of bits is tested with the assignments (tests/spark/engine/test_assign.py).
@pytest.mark.parametrize(
    ("layout", "features"), [("sop", 64), ("sop", 65), ("sop", 200), ("selforg", 200), ("qdtree", 200)]
)
def test_a_rewrite_by_many_features_keeps_the_rows_and_sets_every_bit(
    notes: skipstone.Table, layout: str, features: int
) -> None:
    before = hash_of(notes.frame())
    # Rows are placed by selforg only by what one in a hundred queries asks, so of many not all can be alike.
    mined = MOST_SOP if layout == "selforg" and features > 100 else features
    log = about(features, mined)
    report = notes.optimize(log, layout, block_rows=BLOCK_ROWS, num_features=features)
    assert hash_of(notes.frame()) == before
    assert report.files_after > 5
    assert (
        placing_features(notes, report.layout_id)
        == {
            "sop": features,
            "selforg": min(features, MOST_SOP),
            "qdtree": 0,
        }[layout]
    )
    bits, truth = stored_bits(notes), true_bits(notes, mined)
    assert bits.shape == truth.shape == (report.files_after, mined)
    assert (bits == truth).all()
    assert 0 < bits.mean() < 1
    (query,) = notes.replay(Workload((log.queries[mined - 1],))).queries
    assert query.same_result
    assert 0 < query.files_read < query.files_total


def record_of(table: skipstone.Table, layout_id: str) -> LayoutRecord:
    record = load_layout(opened(table).store, layout_id)
    assert record is not None
    return record


def placing_features(table: skipstone.Table, layout_id: str) -> int:
    """How many features rows are placed by, as bits of their vectors."""
    assignment = design_of(record_of(table, layout_id)).group.assignment
    if isinstance(assignment, VectorMap):
        return len(assignment.features)
    axes = assignment.dimensions if isinstance(assignment, Grid) else ()
    return sum(len(axis.features) for axis in axes if isinstance(axis, Clusters))


def stored_bits(table: skipstone.Table) -> np.ndarray:
    """The catalog's bits by file, in the order of paths, and by kind."""
    catalog = opened(table).catalog
    indices = {feature.text: index for index, feature in enumerate(catalog.blocks.features)}
    single = {text: index for text, index in indices.items() if text.count("kind") == 1}
    kinds = sorted((text.split("kind")[1][:3], index) for text, index in single.items())
    bits = np.unpackbits(catalog.blocks.unions.view(np.uint8), axis=1, bitorder="little").astype(np.bool_)
    alive = {path: index for index, path in enumerate(catalog.files.paths)}
    files = [alive[path] for path in sorted(opened(table).files.paths)]
    assert (catalog.blocks.union_known[files] == pack(np.ones((len(files), len(indices)), np.bool_))).all()
    return bits[np.ix_(files, [index for _, index in kinds])]


def true_bits(table: skipstone.Table, features: int) -> np.ndarray:
    """Which kinds each file has, by looking."""
    frame = table.frame().selectExpr("_metadata.file_name AS file", f"id % {KINDS} AS kind").distinct()
    found = {(row["file"], row["kind"]) for row in frame.collect()}
    files = [path.rpartition("/")[2] for path in sorted(opened(table).files.paths)]
    return np.array([[(file, kind) in found for kind in range(features)] for file in files])
