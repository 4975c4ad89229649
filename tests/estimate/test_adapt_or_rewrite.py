"""Which of an adaptation and a full rewrite is done: the one that gains more seconds, and why is said."""

from __future__ import annotations

from dataclasses import replace

from skipstone.estimate.adapt_or_rewrite import AdaptationFigures, adapt_or_rewrite
from skipstone.estimate.verdict import LayoutFigures, RewriteFigures, Verdict, VerdictCode

ADAPTATION = AdaptationFigures(10, 3_000_000, 40.0, 4.0, seconds_saved=20.0, rewrite_seconds=5.0)


def rewrite_gaining(seconds: float) -> Verdict:
    best = LayoutFigures("qdtree", 3.0, 1e6, seconds + 12.0, 12.0, 1e6, 1e6, seconds, 0.5, None, {})
    figures = RewriteFigures(20, 8_000_000, 50.0, None, 1.0, 1.0, "measured", 10.0, 60.0, "old", best=best)
    return Verdict(VerdictCode.PAYS, "qdtree saves a lot", figures)


def test_the_one_that_gains_more_seconds_is_done() -> None:
    adapts = adapt_or_rewrite(rewrite_gaining(14.0), ADAPTATION)
    assert (adapts.code, adapts.pays) == (VerdictCode.ADAPTS, False)
    assert adapts.sentence == (
        "adapting its tree saves 20.0 s, and rewriting 3.0 MB costs about 5.0 s; "
        "against that qdtree saves a lot"
    )
    rewrites = adapt_or_rewrite(rewrite_gaining(15.0), ADAPTATION)
    assert (rewrites.code, rewrites.pays) == (VerdictCode.PAYS, True)
    assert "qdtree saves a lot; adapting its tree would save 20.0 s" in rewrites.sentence


def test_a_rewrite_that_does_not_pay_leaves_the_tree_to_be_adapted() -> None:
    verdict = replace(rewrite_gaining(14.0), code=VerdictCode.DOES_NOT_PAY)
    assert adapt_or_rewrite(verdict, ADAPTATION).code is VerdictCode.ADAPTS
    unknown = Verdict(VerdictCode.CANNOT_FIT, "no layout can be fitted")
    assert adapt_or_rewrite(unknown, ADAPTATION).code is VerdictCode.ADAPTS


def test_why_a_tree_stays_is_said_beside_what_is_done() -> None:
    nothing = AdaptationFigures(0, 0, 40.0, 40.0, 0.0, 0.0, reason="no change saves anything")
    for code in (VerdictCode.PAYS, VerdictCode.DOES_NOT_PAY):
        found = adapt_or_rewrite(replace(rewrite_gaining(1.0), code=code), nothing)
        assert (found.code, found.sentence) == (
            code,
            "qdtree saves a lot; its tree stays, for no change saves anything",
        )
    assert nothing.to_dict()["net_seconds"] == 0.0
