"""Which files no layout covers, by what the catalog knows of them."""

from __future__ import annotations

import numpy as np
from tests.estimate.tables import catalog, files, indexed

from skipstone.catalog import Files
from skipstone.estimate.unclustered import files_by_layout, newest_layout, unclustered_files

KNOWN = catalog(indexed("ab"), indexed("cd", "one"), indexed("e", "two"))


def test_files_without_an_entry_or_without_a_layout_are_unclustered() -> None:
    assert unclustered_files(files("abcdef"), KNOWN, block_rows=10).tolist() == [0, 1, 5]


def test_files_with_far_fewer_rows_than_a_block_are_unclustered() -> None:
    small = catalog(indexed("ab", "one", rows=9), indexed("cd", "one", rows=10))
    assert unclustered_files(files("abcd"), small, block_rows=40).tolist() == [0, 1]


def test_an_overwritten_file_is_unclustered_whatever_layout_the_one_before_had() -> None:
    others = Files(("c", "d"), np.array([1_000, 1_001]), np.array([5, 5]))
    assert unclustered_files(others, KNOWN, block_rows=10).tolist() == [1]
    assert files_by_layout(others, KNOWN)["one"].tolist() == [0]


def test_without_a_catalog_all_files_are_unclustered() -> None:
    assert unclustered_files(files("abc"), catalog(), block_rows=10).tolist() == [0, 1, 2]
    assert newest_layout(files("abc"), catalog()) == ""
    assert files_by_layout(files("abc"), catalog()) == {}


def test_the_newest_layout_is_one_that_has_a_file_in_the_table() -> None:
    assert newest_layout(files("acde"), KNOWN) == "two"
    assert newest_layout(files("acd"), KNOWN) == "one", "the other lost a race, or its files were replaced"
    assert newest_layout(files("ab"), KNOWN) == ""


def test_layouts_come_with_their_files_those_of_most_bytes_first() -> None:
    found = files_by_layout(files("edcba"), KNOWN)
    assert [(layout, indices.tolist()) for layout, indices in found.items()] == [
        ("one", [1, 2]),
        ("two", [0]),
    ]
