"""Which columns queries read, and which features subsume them."""

from __future__ import annotations

from tests.layout.gsop_cases import both, compare

from skipstone.layout.column_reads import column_reads, read_columns
from skipstone.layout.workload_view import workload_view
from skipstone.pruning.blocks import Feature
from skipstone.workload.predicates import LoggedFilter

NAMES = ("a", "b", "c", "d")
FEW, SOME = compare("b", "<", 5), compare("b", "<", 50)


def test_queries_of_the_same_filter_and_columns_are_one_kind() -> None:
    entries = [
        LoggedFilter(FEW, 2.0, columns=("a",)),
        LoggedFilter(FEW, 3.0, columns=("a", "b")),
        LoggedFilter(FEW, columns=("c",)),
        LoggedFilter(both(compare("d", "=", 1), SOME), columns=("a",)),
    ]
    view = workload_view([entry.filter for entry in entries], [entry.weight for entry in entries])
    reads = column_reads(NAMES, entries, view, (Feature(FEW, ""), Feature(SOME, "")))
    read = [[name for name, bit in zip(NAMES, row, strict=True) if bit] for row in reads.columns]
    assert read == [["a", "b"], ["b", "c"], ["a", "b", "d"]], "columns of the filter too"
    assert reads.weights.tolist() == [5.0, 1.0, 1.0]
    assert reads.query.tolist() == [0, 0, 1]
    assert reads.features.tolist() == [[True, True], [True, True], [False, True]], "b < 5 entails b < 50"


def test_a_query_reads_all_columns_if_nobody_knows_which_and_none_that_the_table_has_not() -> None:
    assert read_columns(LoggedFilter(FEW), NAMES) == frozenset(NAMES)
    assert read_columns(LoggedFilter(FEW, columns=("dropped", "c")), NAMES) == {"b", "c"}


def test_without_features_there_are_bits_for_none() -> None:
    entries = [LoggedFilter(FEW, columns=("a",))]
    assert column_reads(NAMES, entries, workload_view([FEW]), ()).features.shape == (1, 0)
