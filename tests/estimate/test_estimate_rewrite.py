"""Every verdict on a rewrite, by figures alone and by a sample in memory."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.costs import EAGER
from tests.estimate.tables import K, below, inputs, prepared

from skipstone.estimate.advice import CURRENT_LAYOUT, Advice, LayoutAdvice, advise
from skipstone.estimate.cost import DEFAULT, CostModel
from skipstone.estimate.cost_inputs import current_layout
from skipstone.estimate.estimate_rewrite import (
    FileGroup,
    after_simulating,
    before_sampling,
    before_simulating,
    cannot_fit,
    first_figures,
    sample_figures,
    sample_rows,
)
from skipstone.estimate.policy import Policy
from skipstone.estimate.verdict import RewriteFigures, SampleFigures, Verdict, VerdictCode
from skipstone.json_types import json_list, json_object
from skipstone.layout.options import SAMPLE_ROWS
from skipstone.workload.predicates import LoggedFilter
from skipstone.workload.queries import BrokenQuery

FIGURES = RewriteFigures(
    files=4,
    bytes=2_000_000,
    queries=60.0,
    observed_days=2.0,
    runs_counted=1.0,
    margin=1.0,
    costs="default coefficients",
    least_rewrite_seconds=5.0,
    most_seconds_saved=100.0,
    data="new",
)
SAMPLE = SampleFigures(
    rows=1_000,
    sampled_rows=1_000,
    sampled_queries=2,
    block_rows=100,
    bytes_scanned_now=9e6,
    scan_seconds_now=90.0,
    bytes_needed=1e6,
    scan_seconds_needed=10.0,
)
SIMULATED = LayoutAdvice(
    layout="qdtree",
    blocks=10,
    percent_scanned=20.0,
    fit_seconds=0.1,
    bytes_saved=7e6,
    seconds_saved=70.0,
    rewrite_seconds=8.0,
    rewrite_bytes_read=2e6,
    rewrite_bytes_written=2e6,
    break_even_runs=0.125,
    break_even_days=0.25,
)
FIRST_KEYS = {
    "files",
    "bytes",
    "queries",
    "observed_days",
    "runs_counted",
    "margin",
    "costs",
    "least_rewrite_seconds",
    "most_seconds_saved",
    "data",
}
SAMPLE_KEYS = {
    "rows",
    "sampled_rows",
    "sampled_queries",
    "block_rows",
    "bytes_scanned_now",
    "scan_seconds_now",
    "bytes_needed",
}
LAYOUT_KEYS = {
    "layout",
    "percent_scanned",
    "bytes_saved",
    "seconds_saved",
    "rewrite_seconds_estimated",
    "rewrite_bytes_read",
    "rewrite_bytes_written",
    "net_seconds",
    "break_even_runs",
    "break_even_days",
    "percent_scanned_by",
}


def advice(*layouts: LayoutAdvice) -> Advice:
    standing = LayoutAdvice(CURRENT_LAYOUT, 4, 95.0, 0.0)
    return Advice("t", 2, 1_000, 1_000, 100, 10.0, (*layouts, standing), {})


def test_queries_that_read_too_little_decide_it_before_any_job() -> None:
    assert before_sampling(FIGURES) is None
    found = before_sampling(replace(FIGURES, most_seconds_saved=5.0))
    assert found is not None
    assert (found.code, found.pays) == (VerdictCode.READ_TOO_LITTLE, False)
    assert found.sentence == (
        "reading these files takes the expected queries 5.0 s in all, and rewriting them costs 5.0 s"
    )
    assert found.figures is not None
    assert found.figures.to_dict().keys() == FIRST_KEYS


def test_the_margin_is_part_of_what_must_be_saved_and_of_the_sentence() -> None:
    strict = replace(FIGURES, margin=20.0)
    found = before_sampling(strict)
    assert found is not None
    assert found.sentence.endswith("costs 5.0 s, 20 times of which must be saved")
    assert before_sampling(replace(strict, most_seconds_saved=100.1)) is None


def test_queries_that_need_what_they_read_decide_it_before_any_layout_is_fitted() -> None:
    sampled = FIGURES.with_sample(SAMPLE)
    assert sampled.most_seconds_saved == 80.0
    assert before_simulating(sampled) is None
    found = before_simulating(FIGURES.with_sample(replace(SAMPLE, scan_seconds_needed=86.0)))
    assert found is not None
    assert found.code is VerdictCode.NOTHING_TO_GAIN
    assert found.sentence == (
        "even if queries read only the rows they need, 4.0 s and 8.0 MB would be saved, and rewriting costs "
        "5.0 s"
    )
    assert found.figures is not None
    assert found.figures.to_dict().keys() == FIRST_KEYS | SAMPLE_KEYS


def test_expected_runs_multiply_savings_and_not_the_cost() -> None:
    thrice = replace(FIGURES, runs_counted=3.0).with_sample(replace(SAMPLE, scan_seconds_needed=88.0))
    assert thrice.most_seconds_saved == pytest.approx(6.0)
    assert before_simulating(thrice) is None
    slow = replace(SIMULATED, seconds_saved=3.0)
    assert after_simulating(thrice, advice(slow)).pays
    assert not after_simulating(replace(thrice, runs_counted=2.0), advice(slow)).pays


def test_the_layout_that_gains_most_pays_if_it_saves_more_than_it_costs() -> None:
    other = replace(SIMULATED, layout="sop", seconds_saved=75.0, rewrite_seconds=30.0)
    found = after_simulating(FIGURES.with_sample(SAMPLE), advice(other, SIMULATED))
    assert (found.code, found.pays) == (VerdictCode.PAYS, True)
    assert found.sentence == "qdtree saves 70.0 s and 7.0 MB, and rewriting 2.0 MB costs about 8.0 s"
    assert found.figures is not None
    reported = found.figures.to_dict()
    assert reported.keys() == FIRST_KEYS | SAMPLE_KEYS | LAYOUT_KEYS
    assert reported["percent_scanned_by"] == {"sop": 20.0, "qdtree": 20.0, "current layout": 95.0}
    assert (reported["net_seconds"], reported["rewrite_seconds_estimated"]) == (62.0, 8.0)


def test_the_best_layout_does_not_pay_if_it_saves_no_more_than_it_costs() -> None:
    found = after_simulating(FIGURES.with_sample(SAMPLE), advice(replace(SIMULATED, seconds_saved=8.0)))
    assert found.code is VerdictCode.DOES_NOT_PAY
    assert found.sentence == (
        "the best layout, qdtree, would save 8.0 s and 7.0 MB, and rewriting 2.0 MB costs 8.0 s"
    )
    assert found.figures is not None
    assert found.figures.to_dict()["layout"] == "qdtree", "what was best is written down all the same"


def test_layouts_that_cannot_be_fitted_decide_it_with_their_reasons() -> None:
    problems = [LayoutAdvice(name, 0, None, 0.0, problem=f"{name} fails.") for name in ("sop", "range")]
    found = after_simulating(FIGURES, advice(*problems))
    assert found.code is VerdictCode.CANNOT_FIT
    assert found.sentence == "no layout can be fitted: sop fails; range fails"
    assert cannot_fit(FIGURES, "Too few rows.").sentence == "Too few rows"


def test_statements_that_cannot_be_used_and_the_time_it_took_are_told_only_if_there_are_any() -> None:
    reported = replace(
        FIGURES, unusable=(BrokenQuery("SELECT", "why", 2, 3),), analysis_seconds=1.5
    ).to_dict()
    assert reported.keys() == FIRST_KEYS | {"unusable", "analysis_seconds"}
    (named,) = json_list(reported["unusable"])
    assert json_object(named)["reason"] == "why"


def test_the_sample_grows_with_what_the_rewrite_costs() -> None:
    assert sample_rows(FIGURES, Policy()) == 20_000
    assert sample_rows(replace(FIGURES, least_rewrite_seconds=1_000.0), Policy()) == 80_000
    assert sample_rows(replace(FIGURES, least_rewrite_seconds=1e9), Policy()) == SAMPLE_ROWS
    assert sample_rows(FIGURES, Policy(sample_rows=77)) == 77


def test_first_figures_count_what_all_queries_read_of_their_columns() -> None:
    entries = [LoggedFilter(below(K, 5), 3.0, columns=("k",)), LoggedFilter(below(K, 9), 2.0)]
    found = first_figures(FileGroup(4, 4_000_000, "old"), entries, Policy(), inputs(days=2.0))
    # 40,000 rows of 8 bytes in k and of 100 in all, at ten seconds a megabyte.
    assert found.most_seconds_saved == pytest.approx(3.0 * 3.2 + 2.0 * 40.0)
    assert (found.least_rewrite_seconds, found.queries, found.data) == (0.1, 5.0, "old")
    assert (found.observed_days, found.runs_counted) == (2.0, 1.0)


def test_with_a_horizon_the_log_counts_at_its_own_rate() -> None:
    group, entries = FileGroup(4, 4_000_000), [LoggedFilter(below(K, 5))]
    long = Policy(horizon_days=30.0)
    assert first_figures(group, entries, long, inputs(days=2.0)).runs_counted == 15.0
    assert first_figures(group, entries, long, inputs()).runs_counted == 1.0, "the rate is not known"


def estimated(
    most: list[int], model: CostModel = EAGER, margin: float = 1.0, block_rows: int = 100
) -> Verdict:
    """All steps of an estimate on a sample of all rows."""
    found, costs = prepared(most, block_rows=block_rows), inputs(model=model)
    policy = Policy(margin=margin, layouts=("qdtree",))
    figures = first_figures(FileGroup(4, found.bytes), found.entries, policy, costs)
    if (verdict := before_sampling(figures)) is not None:
        return verdict
    current = current_layout(found, costs)
    figures = figures.with_sample(sample_figures(found, current, costs))
    if (verdict := before_simulating(figures)) is not None:
        return verdict
    return after_simulating(figures, advise(found, policy.layouts, None, costs, current))


def test_selective_queries_on_shuffled_rows_pay() -> None:
    found = estimated([50, 100])
    assert found.code is VerdictCode.PAYS
    assert found.figures is not None
    sample, best = found.figures.sample, found.figures.best
    assert sample is not None
    assert best is not None
    # All files are read for the 5 and 10 % of the rows that are needed.
    assert sample.bytes_needed / sample.bytes_scanned_now == pytest.approx(0.075)
    assert best.percent_scanned is not None
    assert 7.5 <= best.percent_scanned < 20.0


def test_queries_that_need_all_rows_have_nothing_to_gain() -> None:
    assert estimated([1_000, 2_000]).code is VerdictCode.NOTHING_TO_GAIN


def test_what_a_rewrite_costs_decides() -> None:
    dear = replace(EAGER, coefficients=replace(EAGER.coefficients, rewrite_fixed=1_000.0))
    assert estimated([50, 100], dear).code is VerdictCode.READ_TOO_LITTLE
    assert estimated([50, 100], CostModel(DEFAULT)).code is VerdictCode.READ_TOO_LITTLE


def test_a_layout_that_saves_less_than_the_margin_does_not_pay() -> None:
    paying = estimated([50, 100], block_rows=500).figures
    assert paying is not None
    assert paying.best is not None
    assert paying.best.seconds_saved is not None
    between = (paying.best.seconds_saved + paying.most_seconds_saved) / 2
    assert paying.best.seconds_saved < between, "blocks are larger than what is needed"
    found = estimated([50, 100], margin=between / paying.least_rewrite_seconds, block_rows=500)
    assert found.code is VerdictCode.DOES_NOT_PAY
