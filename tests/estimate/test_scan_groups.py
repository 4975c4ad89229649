"""What queries would read of column groups: equations 1 and 2 of GSOP, on virtual blocks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.estimate.tables import K, below, inputs, prepared

from skipstone.estimate.advice import advise, features_of_rewrite
from skipstone.estimate.benefit import Scanned
from skipstone.estimate.prepared import Prepared
from skipstone.estimate.scan_groups import group_reads, scanned_groups
from skipstone.layout.assignment import Split, Tree
from skipstone.layout.column_reads import column_reads
from skipstone.layout.contract import ColumnGroup, Design
from skipstone.layout.reconstruction import JOIN_SECONDS
from skipstone.pruning.blocks import Feature

ROWS = 2_000
HALVES = Tree(Split(below(K, 500), 0, 1), 2)
GROUPS = Design((ColumnGroup(HALVES, columns=("k",)), ColumnGroup(Tree(0, 1), columns=("m",))))
STANDING = Scanned(np.array([1.0]), np.array([4.0]))


def asked_for(*columns: tuple[str, ...]) -> Prepared:
    """The query ``k < 100``, once for each of these lists of columns."""
    table = prepared([100], rows=ROWS)
    entries = tuple(replace(table.entries[0], columns=names) for names in columns)
    names = table.column_names
    reads = column_reads(names, entries, table.workload.queries, ())
    workload = replace(table.workload, reads=reads)
    return replace(
        table, entries=entries, workload=workload, asked=replace(table.asked, entries=entries), options={}
    )


def test_a_query_of_one_group_reads_its_cells_and_no_tuple_ids() -> None:
    reads = group_reads(asked_for(("k",)), GROUPS)
    assert reads.cells.tolist() == [0.5]
    assert reads.tuple_ids.tolist() == [0.0]
    found = scanned_groups(reads, STANDING)
    assert found.share.tolist() == [0.5]
    assert found.join_seconds(ROWS).tolist() == [0.0]


def test_a_query_of_two_groups_reads_tuple_ids_of_what_is_left_of_each() -> None:
    reads = group_reads(asked_for(("k", "m")), GROUPS)
    assert reads.cells.tolist() == [1.5], "the bounds of k say nothing about blocks of m"
    assert reads.tuple_ids.tolist() == [1.5]
    assert (reads.percent(reads.cells), reads.percent(reads.tuple_ids)) == (75.0, 75.0)
    found = scanned_groups(reads, STANDING)
    assert found.share.tolist() == [1.5], "of two cells a row"
    assert found.join_seconds(ROWS) == pytest.approx(1.5 * ROWS * JOIN_SECONDS)


def test_a_local_feature_lets_a_group_skip_by_a_column_that_it_has_not() -> None:
    feature = Feature(below(K, 500), "k < 500")
    table = asked_for(("m",))
    atoms = (*table.workload.queries.atoms, below(K, 500))
    values = np.asarray(table.view.sample.columns[K].to_numpy())
    bits = np.stack([values < 100, values < 500], axis=1)
    table = replace(
        table,
        view=replace(table.view, sample=replace(table.view.sample, bits=bits)),
        workload=replace(table.workload, queries=replace(table.workload.queries, atoms=atoms)),
    )
    for features, cells in (((), 2.0), ((feature,), 1.0)):
        group = ColumnGroup(HALVES, columns=("m",), features=features)
        both = Design((ColumnGroup(Tree(0, 1), columns=("k",)), group))
        reads = group_reads(table, both)
        assert reads.cells.tolist() == [cells / 2 + 1.0], "all of k, and half of m if the feature says so"


def test_a_query_of_a_column_in_no_group_reads_the_table() -> None:
    only_m = Design((ColumnGroup(HALVES, columns=("m",)),))
    reads = group_reads(asked_for(("k", "m")), only_m)
    assert not reads.covered.any()
    found = scanned_groups(reads, Scanned(np.array([0.7]), np.array([3.0])))
    assert (found.share.tolist(), found.blocks.tolist(), found.join_seconds(ROWS).tolist()) == (
        [0.7],
        [3.0],
        [0.0],
    )


def test_the_same_filter_on_different_columns_counts_by_its_weights() -> None:
    found = scanned_groups(group_reads(asked_for(("k",), ("k", "m")), GROUPS), STANDING)
    assert found.share.tolist() == [(0.5 + 1.5) / 2]


def test_advice_shows_groups_like_any_layout_with_cells_ids_and_storage() -> None:
    table = asked_for(("k", "m"))
    feature, bits = Feature(below(K, 100), "k < 100"), table.view.sample.bits
    reads = column_reads(table.column_names, table.entries, table.workload.queries, (feature,))
    workload = replace(
        table.workload, features=(feature,), feature_weights=np.ones(1), feature_bits=bits, reads=reads
    )
    single = replace(table, workload=workload, options={"grouping": "single"})
    advice = advise(single, ("gsop",), inputs=inputs())
    (row,) = (row for row in advice.layouts if row.layout == "gsop")
    assert row.percent_scanned == pytest.approx(20.0), "a tenth of both columns, and as many tuple ids"
    assert "2 column groups (k; m), 0 columns that no query reads" in row.note
    assert "queries read 10.00 % and 10.00 % as tuple ids" in row.note
    assert row.rewrite_bytes_written == ROWS * (100 + 2), "a byte for each tuple id"
    assert row.note.endswith("; putting tuples together takes 0.0 s of reading, storing them about 0.2 MB")
    assert row.scan_seconds is not None
    sop = next(each for each in advise(single, ("sop",), inputs=inputs()).layouts if each.layout == "sop")
    assert sop.scan_seconds is not None
    assert row.scan_seconds > sop.scan_seconds, "which has the same blocks, and nothing to put together"


def test_what_groups_cost_to_write_is_that_of_each() -> None:
    found = features_of_rewrite(asked_for(("k",)), GROUPS, inputs().sizes)
    assert found.extent.rows == 2 * ROWS
    assert found.extent.values == ROWS * (2 + 2)
    assert found.sop == 1, "the cut of the first group"
