"""Column groups as they are stored: blocks as row groups, the same tuple ids in all groups, all rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from tests.e2e.grouped import FIRST, ROWS, SECOND, THIRD, G, K, write_grouped

import skipstone
from skipstone.actions.repair import Repair
from skipstone.catalog.column_groups import TUPLE_ID
from skipstone.catalog.replica_store import load_replicas
from skipstone.catalog.replicas import Replicas
from skipstone.spark.engine.engine import Engine


def stored(spark: SparkSession, root: str) -> Replicas:
    """What a session reads that knows nothing yet."""
    return load_replicas(Engine.of(spark).store(f"file:{root}"), root)


def test_every_block_is_a_row_group_and_a_row_has_one_tuple_id(
    spark: SparkSession, copied: Callable[..., Path]
) -> None:
    path = copied("grouped", lambda path: write_grouped(spark, path))
    rows = spark.read.format("delta").load(str(path)).select("id", "g").collect()
    truth = {row["id"]: row["g"] for row in rows}
    found = stored(spark, str(path))
    assert not found.problems
    assert len(found.grouped) == 2 * 3
    for part in found.parts:
        assert part.rows == ROWS // 2
        assert [group.columns for group in part.groups] == [FIRST, SECOND, THIRD]
        ids: list[np.ndarray] = []
        for group in part.groups:
            (file,) = (pq.ParquetFile(path / name) for name in group.files.paths)
            assert set(file.schema_arrow.names) == {*group.columns, TUPLE_ID}
            counts = [file.metadata.row_group(n).num_rows for n in range(file.metadata.num_row_groups)]
            assert counts == group.blocks.blocks.rows.tolist()
            chunks = map(file.metadata.row_group(0).column, range(file.metadata.num_columns))
            (packed,) = (chunk.encodings for chunk in chunks if chunk.path_in_schema == TUPLE_ID)
            assert "DELTA_BINARY_PACKED" in packed
            blocks = [file.read_row_group(n, [TUPLE_ID])[0].to_numpy() for n in range(len(group))]
            assert all((np.diff(block) > 0).all() for block in blocks), "sorted inside each block"
            ids.append(np.concatenate(blocks))
            assert sorted(ids[-1]) == list(range(part.rows))
        first, second, _ = (pq.read_table(path / group.files.paths[0]) for group in part.groups)
        together = dict(zip(second[TUPLE_ID].to_pylist(), second["g"].to_pylist(), strict=True))
        for id_, tuple_ in zip(first["id"].to_pylist(), first[TUPLE_ID].to_pylist(), strict=True):
            assert truth[id_] == together[tuple_]


def test_blocks_have_bounds_of_all_columns_that_place_them(
    spark: SparkSession, copied: Callable[..., Path]
) -> None:
    path = copied("grouped", lambda path: write_grouped(spark, path))
    found = stored(spark, str(path)).grouped
    blocks, number = found.catalog.blocks, found.group_of
    assert [feature.text for feature in blocks.features] == ["k < 100"]
    second = np.isin(number, [1, 4])
    assert blocks.union_known[~np.isin(number, [0, 3]), 0].all()
    assert not blocks.union_known[np.isin(number, [0, 3]), 0].any(), "what GSOP calls an invalid bit"
    widths = [
        np.array(blocks.statistics[column].high.to_pylist(), float)
        - np.array(blocks.statistics[column].low.to_pylist(), float)
        for column in (G, K)
    ]
    assert widths[0][second].max() < 100 < widths[1][second].min(), "also of a column that others hold"


def test_groups_are_listed_checked_and_dropped_like_any_replica(
    spark: SparkSession, copied: Callable[..., Path]
) -> None:
    path = copied("grouped", lambda path: write_grouped(spark, path))
    table = skipstone.table(spark, str(path))
    (replica,) = table.replicas().replicas
    assert (replica.layout, replica.partitions, replica.partitions_valid) == ("gsop", 2, 2)
    assert (replica.rows, replica.files, replica.files_covered) == (ROWS, 6, 4)
    assert table.perform(Repair(check=True)).whole
    table.spark.sql(f"DELETE FROM delta.`{path}` WHERE id = 3")
    assert table.replicas().replicas[0].partitions_valid == 1
    assert table.refresh().partitions_made == 1
    assert table.replicas().replicas[0].rows == ROWS - 1
    broken = path / stored(spark, str(path)).parts[0].groups[1].files.paths[0]
    data = bytearray(broken.read_bytes())
    data[len(data) // 3] ^= 255
    broken.write_bytes(bytes(data))
    (damage,) = table.perform(Repair()).damages
    assert damage.copy == replica.id
    assert damage.repaired
    assert table.perform(Repair()).whole
    table.drop(replica.id)
    assert not table.replicas().replicas
