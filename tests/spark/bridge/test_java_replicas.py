"""What the shim knows about replicas, and what it takes from Python's answer."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import IllegalArgumentException
from pyspark.sql import DataFrame, SparkSession
from tests.spark.bridge.java_calls import call, call_static, construct

from skipstone.catalog.choose_copies import Choice, CopyState, Verdict
from skipstone.pruning.reasons import PruneResult
from skipstone.spark.bridge.janino import new_instance
from skipstone.spark.bridge.loaded_table import Decided


def numbers(*values: int) -> bytes:
    return np.array(values, ">i8").tobytes()


def field(instance: Any, name: str) -> Any:
    found = instance.getClass().getDeclaredField(name)
    found.setAccessible(True)
    return found.get(instance)


def bits(spark: SparkSession, *indices: int) -> Any:
    made = spark._jvm.java.util.BitSet()  # type: ignore[union-attr]
    for index in indices:
        made.set(index)
    return made


def some(size: int, *indices: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    flags = np.zeros(size, np.bool_)
    flags[list(indices)] = True
    return flags


def pruned(size: int, *indices: int) -> PruneResult:
    return PruneResult(some(size, *indices), np.zeros(size, np.int16), (), ())


@pytest.mark.parametrize(
    ("base", "parts", "own"),
    [((), (), ()), ((0, 7, 8), (), ()), ((), (1,), (0, 9)), ((19,), (0, 3), (5, 64)), ((1,), (0,), ())],
)
def test_an_answer_is_read_as_it_was_written(
    spark: SparkSession, base: tuple[int, ...], parts: tuple[int, ...], own: tuple[int, ...]
) -> None:
    choice = Choice(some(4, *parts), (Verdict.STALE,) * 4)
    answer = construct(spark, "ScanAnswer", Decided(pruned(20, *base), pruned(65, *own), choice).packed())
    assert field(answer, "skip").equals(bits(spark, *base))
    assert field(answer, "parts").equals(bits(spark, *parts))
    assert field(answer, "skipOfReplicas").equals(bits(spark, *own))


def test_an_answer_without_replicas_chooses_none(spark: SparkSession) -> None:
    answer = construct(spark, "ScanAnswer", Decided(pruned(3, 1)).packed())
    assert field(answer, "skip").equals(bits(spark, 1))
    assert field(answer, "parts").isEmpty()
    assert field(answer, "skipOfReplicas").isEmpty()


@pytest.mark.parametrize("cut", [1, 4, 5])
def test_an_answer_that_is_cut_off_is_an_error(spark: SparkSession, cut: int) -> None:
    whole = Decided(pruned(9, 8), pruned(1), Choice(some(1, 0), (Verdict.CHEAPER,))).packed()
    with pytest.raises(Py4JJavaError):
        construct(spark, "ScanAnswer", whole[:-cut])


def test_the_state_of_copies_is_json_that_python_reads(spark: SparkSession) -> None:
    sets = (bits(spark, 0, 2, 11), bits(spark, 1), bits(spark), bits(spark, 4))
    found = json.loads(call(spark, construct(spark, "CopyState", *sets), "json"))
    assert CopyState.read(found) == CopyState((0, 2, 11), (1,), (), (4,))


@pytest.fixture
def entries(spark: SparkSession) -> Any:
    made = new_instance(spark, "ReplicaEntries")
    made.cover(b"a\0b\0a", numbers(1, 2, 3), numbers(4, 5, 6), b"\0u:1\0", numbers(0, 0, 2))
    made.hold("x\0y=ü".encode(), numbers(7, 8), numbers(9, 10), b'\0{"p":null}', numbers(0, 2))
    made.name(b"r\0r\0s", 3)
    return made


def test_entries_keep_empty_vectors_and_values(spark: SparkSession, entries: Any) -> None:
    assert list(field(entries, "covered")) == ["a", "b", "a"]
    assert list(field(entries, "coveredVectors")) == ["", "u:1", ""]
    assert list(field(entries, "coveredBy")) == [0, 0, 2]
    assert list(field(entries, "paths")) == ["x", "y=ü"]
    assert list(field(entries, "partitionValues")) == ["", '{"p":null}']
    assert call(spark, entries, "parts") == 3
    assert list(call(spark, entries, "replicasOf", bits(spark, 0, 1))) == ["r"]
    assert list(call(spark, entries, "replicasOf", bits(spark, 0, 2))) == ["r", "s"]


def test_one_file_without_a_vector_is_one_text(spark: SparkSession) -> None:
    made = new_instance(spark, "ReplicaEntries")
    made.cover(b"a", numbers(1), numbers(4), b"", numbers(0))
    made.hold(b"x", numbers(1), numbers(4), b"", numbers(0))
    assert (list(field(made, "coveredVectors")), list(field(made, "partitionValues"))) == ([""], [""])


def test_as_many_texts_as_numbers_are_asked_for(spark: SparkSession) -> None:
    made = new_instance(spark, "ReplicaEntries")
    with pytest.raises(IllegalArgumentException, match="1 texts and not 2"):
        made.cover(b"a", numbers(1, 2), numbers(4, 5), b"\0", numbers(0, 0))
    with pytest.raises(IllegalArgumentException, match="2 texts and not 1"):
        made.hold(b"a", numbers(1), numbers(4), b"\0", numbers(0))


def test_what_was_found_is_remembered_for_the_versions_asked_for_last(spark: SparkSession) -> None:
    validity = field(new_instance(spark, "ReplicaEntries"), "validity")
    for version in range(40):
        validity.put(str(version), "found")
        validity.get("0")
    assert validity.size() == 32
    assert validity.containsKey("0")
    assert not validity.containsKey("1")
    assert validity.containsKey("39")


def test_base_files_of_the_chosen_partitions_are_those_that_they_cover(
    spark: SparkSession, entries: Any
) -> None:
    assert set(call_static(spark, "SkipstoneDeltaCopies", "covered", entries, bits(spark, 0))) == {"a", "b"}
    assert set(call_static(spark, "SkipstoneDeltaCopies", "covered", entries, bits(spark, 2))) == {"a"}
    assert set(call_static(spark, "SkipstoneDeltaCopies", "covered", entries, bits(spark))) == set()


def listed(spark: SparkSession, present: Any, folder: Path) -> set[str]:
    jvm: Any = spark._jvm
    conf = spark._jsparkSession.sessionState().newHadoopConf()
    return set(call(spark, present, "sizes", conf, jvm.org.apache.hadoop.fs.Path(str(folder))))


def touched(folder: Path, second: int) -> None:
    """A clock of the file system that has gone on: its own may stand still for some milliseconds."""
    os.utime(folder, (second, second))


def test_changes_of_a_local_folder_are_seen(spark: SparkSession, tmp_path: Path) -> None:
    present, folder = construct(spark, "PresentFiles"), tmp_path / "a b"
    assert listed(spark, present, folder) == set()
    folder.mkdir()
    (folder / "x%20.parquet").touch()
    assert listed(spark, present, folder) == {"x%20.parquet"}
    (folder / "y").touch()
    touched(folder, 2_000_000_000)
    assert listed(spark, present, folder) == {"x%20.parquet", "y"}
    (folder / "x%20.parquet").unlink()
    touched(folder, 2_000_000_001)
    assert listed(spark, present, folder) == {"y"}
    (folder / "y").unlink()
    folder.rmdir()
    assert listed(spark, present, folder) == set()


def test_a_folder_that_has_not_changed_is_not_listed_again(spark: SparkSession, tmp_path: Path) -> None:
    present = construct(spark, "PresentFiles")
    (tmp_path / "x").touch()
    touched(tmp_path, 2_000_000_000)
    assert listed(spark, present, tmp_path) == {"x"}
    (tmp_path / "y").touch()
    touched(tmp_path, 2_000_000_000)
    assert listed(spark, present, tmp_path) == {"x"}


def test_missing_files_are_found_by_their_folders(spark: SparkSession, tmp_path: Path) -> None:
    jvm: Any = spark._jvm
    conf = spark._jsparkSession.sessionState().newHadoopConf()
    elsewhere = tmp_path / "elsewhere"
    for path in (tmp_path / "t" / "a b", elsewhere):
        path.mkdir(parents=True)
    for path in (tmp_path / "t" / "x", tmp_path / "t" / "a b" / "y z", elsewhere / "w"):
        path.write_bytes(b"rows")
    given = ["x", "a%20b/y%20z", f"file:{elsewhere}/w", "a%20b/gone", "none/x"]
    new_array = spark.sparkContext._gateway.new_array  # type: ignore[union-attr]
    paths, sizes = new_array(jvm.java.lang.String, len(given)), new_array(jvm.long, len(given))
    for index, path_ in enumerate(given):
        paths[index], sizes[index] = path_, 4
    present = construct(spark, "PresentFiles")
    root = jvm.org.apache.hadoop.fs.Path(str(tmp_path / "t"))
    there = construct(spark, "FilesThere", present, root, paths, sizes)
    assert call(spark, there, "missing", conf).equals(bits(spark, 3, 4))
    assert call(spark, there, "missing", conf).equals(bits(spark, 3, 4)), "nothing has changed"
    (tmp_path / "t" / "a b" / "y z").unlink()
    touched(tmp_path / "t" / "a b", 2_000_000_000)
    assert call(spark, there, "missing", conf).equals(bits(spark, 1, 3, 4))
    assert call(spark, there, "resized", bits(spark, 0, 2)).isEmpty()
    (elsewhere / "w").write_bytes(b"row")
    assert call(spark, there, "missing", conf).equals(bits(spark, 1, 3, 4)), "its folder is as it was"
    assert call(spark, there, "resized", bits(spark, 0)).isEmpty(), "it is not looked at"
    assert call(spark, there, "resized", bits(spark, 0, 2)).equals(bits(spark, 2))


def plan_of(frame: DataFrame) -> Any:
    return frame._jdf.queryExecution().analyzed()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT input_file_name() FROM f",
        "SELECT id + input_file_block_start() FROM f",
        "SELECT input_file_block_length() FROM f",
        "SELECT id FROM f WHERE upper(input_file_name()) LIKE '%A%'",
        "SELECT id FROM (SELECT id, input_file_name() AS n FROM f) WHERE n = 'a'",
        "SELECT id FROM f WHERE id IN (SELECT length(input_file_name()) FROM f)",
        "SELECT id, (SELECT max(n) FROM (SELECT input_file_name() AS n FROM f)) FROM f",
        "SELECT id FROM f UNION ALL SELECT length(input_file_name()) FROM f",
        "WITH c AS (SELECT input_file_name() AS n FROM f) SELECT n FROM c",
    ],
)
def test_a_plan_that_asks_for_names_of_files_is_found(spark: SparkSession, query: str) -> None:
    spark.range(3).createOrReplaceTempView("f")
    assert call_static(spark, "FilePaths", "inPlan", plan_of(spark.sql(query)))


@pytest.mark.parametrize(
    "query",
    ["SELECT * FROM f", "SELECT id FROM f WHERE id IN (SELECT max(id) FROM f)", "SELECT 'input_file_name()'"],
)
def test_other_plans_are_not(spark: SparkSession, query: str) -> None:
    spark.range(3).createOrReplaceTempView("f")
    assert not call_static(spark, "FilePaths", "inPlan", plan_of(spark.sql(query)))


def test_a_scan_that_gives_metadata_of_files_is_found(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(3).write.parquet(str(tmp_path / "t"))

    def found(frame: DataFrame) -> bool:
        (scan,) = (
            leaf
            for leaf in _leaves(frame._jdf.queryExecution().optimizedPlan())
            if "Relation" in leaf.nodeName()
        )
        return bool(call_static(spark, "FilePaths", "inOutput", scan))

    frame = spark.read.parquet(str(tmp_path / "t"))
    assert not found(frame.where("id > 0"))
    assert found(frame.select("id", "_metadata.file_path"))


def _leaves(plan: Any) -> list[Any]:
    leaves = plan.collectLeaves()
    return [leaves.apply(index) for index in range(leaves.size())]
