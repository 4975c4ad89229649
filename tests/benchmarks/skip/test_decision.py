from __future__ import annotations

import numpy as np

from benchmarks.skip.decision import measure, query, synthetic_blocks
from skipstone.predicate.normalize import normalize_filter
from skipstone.pruning.prune import prune
from skipstone.pruning.reasons import Code


def test_the_decision_that_is_timed_uses_every_kind_of_statistic() -> None:
    blocks = synthetic_blocks(blocks=20_000)
    assert len(blocks.statistics) == 20
    assert len(blocks.features) == 128
    decision = prune(normalize_filter(query(1)), blocks)
    used = {decision.reasons[number].code for number in np.unique(decision.reason)}
    assert {Code.MIN_MAX, Code.VALUE_SET, Code.FEATURE, Code.COMBINED} <= used
    assert 0 < decision.skip.sum() < len(blocks)


def test_every_decision_after_the_first_is_timed() -> None:
    found = measure(runs=3, blocks=1_000)
    assert len(found.milliseconds) == 3
    assert 0 < found.share_skipped < 1
