"""What queries read of a table and its replicas, and what each replica is worth to them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from tests.catalog.segments import bounds, segment
from tests.estimate.tables import SIZE, K, below, catalog, indexed, inputs, prepared, snapshot

from skipstone.catalog.replicas import HorizontalPartition, replicas_of
from skipstone.catalog.snapshot import Snapshot
from skipstone.estimate.advice import advise
from skipstone.estimate.benefit import Scanned
from skipstone.estimate.copy_costs import CopyCosts
from skipstone.predicate.expr import Expr
from skipstone.predicate.types import LONG
from skipstone.workload.predicates import LoggedFilter

BIG = 10_000_000
"""Bytes of a base file: enough to be worth another copy."""


def part(name: str, of: Snapshot, covered: Sequence[int], lows: Sequence[int]) -> HorizontalPartition:
    """A partition with a file of 10 rows for each ``low``, whose k are from there up to 9 more."""
    replica, id_ = name.split(".")
    known = bounds(LONG, list(lows), [low + 9 for low in lows])
    found = segment([f"{name}/{number}" for number in range(len(lows))], {K: known}, size=BIG)
    rows = np.full(len(lows), 10, np.int64)
    return HorizontalPartition(
        id=id_,
        replica=replica,
        created="2026-05-01T12:00:00+00:00",
        table_version=3,
        schema=of.schema,
        covered=of.files.some(np.array(covered)),
        rows=10 * len(lows),
        row_hash=1,
        segment=replace(found, blocks=replace(found.blocks, rows=rows)),
        partition_values=("",) * len(lows),
    )


TABLE = replace(
    snapshot("abcd", BIG), files=replace(snapshot("abcd").files, sizes=np.full(4, BIG), times=np.full(4, 5))
)


def costs(*parts: HorizontalPartition, valid: Sequence[bool] | None = None) -> CopyCosts:
    """The base files have all k from 0 to 39 each, so no query skips one."""
    everywhere = bounds(LONG, [0] * 4, [39] * 4)
    found = segment(tuple("abcd"), {K: everywhere}, size=BIG)
    known = catalog(replace(found, blocks=replace(found.blocks, rows=np.full(4, 10, np.int64))))
    flags = np.array([True] * len(parts) if valid is None else valid, np.bool_)
    return CopyCosts(TABLE, replicas_of(parts), flags, inputs(known))


def asked(*filters: Expr) -> list[LoggedFilter]:
    return [LoggedFilter(filter_, 3.0) for filter_ in filters]


def test_a_replica_is_worth_what_queries_read_more_without_it() -> None:
    both = costs(part("r.1", TABLE, (0, 1), (0, 20)), part("r.2", TABLE, (2, 3), (0, 20)))
    worth = both.worth(asked(below(K, 5)), "r")
    # 20 of 40 rows of 100 bytes are left, at 10 s for a megabyte, three times.
    assert worth.seconds_saved == pytest.approx(3 * 20 * 100 * 1e-6 * 10)
    assert worth.refresh_seconds_saved == 0.0
    assert both.worth(asked(below(K, 100)), "r").seconds_saved == 0.0, "all is read either way"


def test_of_two_replicas_that_serve_the_same_queries_neither_is_worth_much() -> None:
    parts = [part(f"{name}.1", TABLE, (0, 1, 2, 3), (0, 10, 20, 30)) for name in "rs"]
    both = costs(*parts)
    assert both.worth(asked(below(K, 5)), "r").seconds_saved == 0.0
    assert costs(parts[0]).worth(asked(below(K, 5)), "r").seconds_saved > 0.0


def test_what_a_replica_lacks_is_estimated_from_what_it_has() -> None:
    half = costs(
        part("r.1", TABLE, (0, 1), (0, 20)), part("r.2", TABLE, (2, 3), (0, 20)), valid=(True, False)
    )
    worth = half.worth(asked(below(K, 5)), "r")
    assert worth.refresh_seconds_saved == pytest.approx(worth.seconds_saved)
    gone = costs(part("r.1", TABLE, (0, 1), (0, 20)), valid=(False,))
    worth = gone.worth(asked(below(K, 5)), "r")
    assert (worth.seconds_saved, worth.refresh_seconds_saved > 0.0) == (0.0, True)
    assert gone.worth(asked(below(K, 5)), "unknown").refresh_seconds_saved == 0.0


def test_what_is_scanned_now_is_that_of_the_cheapest_copies() -> None:
    found = costs(part("r.1", TABLE, (0, 1), (0, 20)))
    base = Scanned(np.array([1.0, 1.0]), np.array([4.0, 4.0]))
    scanned = found.scanned([below(K, 5), below(K, 100)], base)
    assert scanned.share.tolist() == [0.75, 1.0]
    assert scanned.blocks.tolist() == [3.0, 4.0]


def test_queries_count_for_a_further_copy_by_what_they_read_now() -> None:
    found = costs(part("r.1", TABLE, (0, 1, 2, 3), (0, 10, 20, 30)))
    served, badly = found.badly_served(asked(below(K, 5), below(K, 100)))
    assert (served.weight, badly.weight) == (0.75, 3.0)


def test_beside_what_there_is_a_layout_that_is_worse_for_some_queries_costs_them_nothing() -> None:
    table = prepared((50, 500))
    known = inputs()
    standing = Scanned(np.array([0.0, 1.0]), np.array([0.0, 4.0]))
    alone = advise(table, ("range",), None, known, standing)
    beside = advise(table, ("range",), None, replace(known, beside=True), standing)
    (one,), (other,) = (
        [row for row in advice.layouts if row.layout == "range"] for advice in (alone, beside)
    )
    assert one.seconds_saved is not None
    assert other.seconds_saved is not None
    assert 0.0 < one.seconds_saved < other.seconds_saved


def test_files_that_the_catalog_does_not_know_have_rows_by_their_size() -> None:
    parts = replicas_of((part("r.1", TABLE, (0, 1, 2, 3), (0, 10, 20, 30)),))
    some = CopyCosts(TABLE, parts, np.ones(1, np.bool_), inputs(catalog(indexed("a"))))
    assert SIZE != BIG
    assert some.worth(asked(below(K, 5)), "r").seconds_saved > 0.0
