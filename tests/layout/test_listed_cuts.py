"""Where queries have lists of values, a qd-tree may cut between any two of them."""

from __future__ import annotations

from tests.layout.gsop_cases import column, compare
from tests.layout.test_general_features import lists_case

from skipstone.layout.qdtree import candidate_cuts


def test_a_column_of_few_values_that_lists_are_about_is_cut_at_each_of_them() -> None:
    case = lists_case(values=40)
    cuts, bits, _ = candidate_cuts(
        case.view.sample, case.workload.queries, [column("b"), column("d")], ranges=16
    )
    of_b = [cut for cut in cuts if cut in {compare("b", "<", value) for value in range(1, 40)}]
    assert len(of_b) == 39, "all values but the least"
    of_d = [cut for cut in cuts if cut in {compare("d", "<", value) for value in range(1, 1_000)}]
    assert 15 <= len(of_d) <= 15 + 3, "quantiles, and what the queries ask"
    below = bits[cuts.index(compare("b", "<", 3))]
    values = case.view.sample.columns[column("b")].to_pylist()
    assert below.tolist() == [value is not None and value < 3 for value in values]
