"""What one round decides by, from a snapshot, a catalog, a log and the layouts."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.estimate.tables import ROWS, SIZE, K, M, below, catalog, drifted, indexed, record, scan, snapshot

from skipstone.catalog import Catalog
from skipstone.catalog.layout_records import LayoutRecord
from skipstone.estimate.policy import Policy
from skipstone.estimate.table_state import KnownLayouts, TableState, table_state

MIB = 1 << 20
KNOWN = catalog(indexed("ab", "one"), indexed("c"))
SCANS = [scan(below(K, 5), 3.0, count=3), scan(below(M, 5), 1.0)]


def state(
    policy: Policy | None = None,
    known: Catalog = KNOWN,
    score: float = 0.0,
    newest: LayoutRecord | None = None,
    scans: bool = True,
) -> TableState:
    """A table of four files, two of which lie by a layout."""
    of = newest or record()
    layouts = KnownLayouts((drifted(of, [0, 1], score),), of.id, of)
    return table_state(snapshot("abcd"), known, SCANS if scans else (), policy or Policy(), layouts)


def test_a_table_without_layouts_is_unclustered_and_has_no_drift() -> None:
    found = table_state(snapshot("abcd"), catalog(), SCANS, Policy(), KnownLayouts())
    assert found.unclustered.tolist() == [0, 1, 2, 3]
    assert (found.figures.drift, found.proven, found.block_rows) == (None, None, None)
    assert not found.old_data_drifted
    assert found.layout_options == {}


def test_figures_have_the_names_that_decisions_are_stored_with_and_survive_json() -> None:
    found = state(score=0.4).figures.to_dict()
    assert found == {
        "table_version": 7,
        "table_files": 4,
        "table_bytes": 4 * SIZE,
        "logged_scans": 4,
        "unclustered_files": 2,
        "unclustered_bytes": 2 * SIZE,
        "awaited_bytes": 4 * MIB,
        "drift": 0.4,
        "drift_threshold": 0.25,
        "asked": {"(k range ?)": 0.75, "(m range ?)": 0.25},
        "layouts": [
            {
                "id": "one",
                "strategy": "qdtree",
                "distance": 0.4,
                "noise": 0.0,
                "unserved": 0.0,
                "unserved_before": 0.0,
                "queries": 100.0,
                "score": 0.4,
            }
        ],
    }
    assert json.loads(json.dumps(found)) == found


def test_as_many_bytes_of_new_data_are_awaited_as_the_blocks_of_the_policy_have() -> None:
    row_bytes = SIZE / ROWS
    asked = state(Policy(block_rows=5, new_blocks=3.0))
    assert asked.figures.awaited_bytes == 3 * 5 * row_bytes
    unknown = state(Policy(block_rows=5), catalog())
    assert unknown.figures.awaited_bytes == 0, "the blocks are counted once they are read"


@pytest.mark.parametrize(("blocks", "enough"), [(2.0, True), (2.1, False)])
def test_new_data_is_enough_once_the_awaited_bytes_have_gathered(blocks: float, enough: bool) -> None:
    # Two files of ten rows lie outside the layout.
    assert state(Policy(block_rows=ROWS, new_blocks=blocks)).enough_new_data is enough


def test_no_new_data_is_never_enough() -> None:
    known = catalog(indexed("abcd", "one"))
    assert not state(Policy(new_blocks=0.0), known).enough_new_data


def test_files_of_a_layout_that_is_not_stored_count_as_laid_out() -> None:
    found = table_state(snapshot("abcd"), KNOWN, SCANS, Policy(), KnownLayouts((), "one", None))
    assert found.unclustered.tolist() == [2, 3]
    assert found.proven is None


def test_old_data_has_drifted_if_a_layout_has() -> None:
    assert not state(score=0.2).old_data_drifted
    assert state(score=0.3).old_data_drifted


def test_the_newest_layout_is_proven_while_recent_queries_have_not_drifted_away_from_it() -> None:
    proven = state().proven
    assert proven is not None
    assert proven.id == "one"
    assert state(score=0.3).proven is None
    assert state(scans=False).proven is None, "nobody asks anything of it"
    other = table_state(
        snapshot("abcd"), KNOWN, SCANS, Policy(), KnownLayouts((drifted(record(), [0], 0.0),), "two", None)
    )
    assert other.proven is None, "there is a newer one"


def test_options_of_layouts_are_as_in_the_newest_one_unless_the_policy_has_others() -> None:
    hilbert = replace(record(strategy="selforg"), options={"curve": "hilbert"})
    assert state(newest=hilbert).layout_options == {"curve": "hilbert"}
    assert state(Policy(layout_options={"curve": "z"}), newest=hilbert).layout_options == {"curve": "z"}
    assert state().layout_options == {}


def test_blocks_have_the_rows_of_the_policy_or_those_that_suit_the_whole_table() -> None:
    assert state(Policy(block_rows=123)).block_rows == 123
    assert state().block_rows == int(MIB / (SIZE / ROWS))
    assert state(known=catalog()).block_rows is None
