"""The soundness law over random blocks, statistics and predicates: no skipped block has a matching row.

``SKIPSTONE_FUZZ_CASES`` sets how many predicate x block cases are tried, ``SKIPSTONE_FUZZ_SEED`` where
to begin.
"""

from __future__ import annotations

import os
import random

import pytest
from tests.pruning.prune_cases import Block, block_set, random_block
from tests.pruning.prune_predicates import key_expressions, random_feature, random_predicate

from skipstone.predicate.evaluate import NotEvaluable, evaluate
from skipstone.predicate.expr import Expr
from skipstone.predicate.render import to_sql
from skipstone.pruning.prune import prune

CASES = int(os.environ.get("SKIPSTONE_FUZZ_CASES", "40000"))
SEED = int(os.environ.get("SKIPSTONE_FUZZ_SEED", "20"))
BLOCKS, PREDICATES = 40, 60


def matches(predicate: Expr, block: Block) -> tuple[bool, bool]:
    """Whether a row of the block is sure to match, and whether all rows could be evaluated."""
    sure = True
    for row in block:
        try:
            if evaluate(predicate, row) is True:
                return True, sure
        except NotEvaluable:
            sure = False
    return False, sure


def run(seed: int, *, exact: bool) -> tuple[int, int, int]:
    """Cases, skipped blocks, and blocks that a perfect index would skip."""
    rng = random.Random(seed)
    blocks = [random_block(rng) for _ in range(BLOCKS)]
    known = block_set(
        blocks,
        key_expressions(rng),
        features=[random_feature(rng) for _ in range(70)],
        rng=None if exact else rng,
        value_sets=lambda key: rng.random() < 0.3,
    )
    cases = skipped = possible = 0
    for _ in range(PREDICATES):
        predicate = random_predicate(rng)
        decision = prune(predicate, known)
        for number, block in enumerate(blocks):
            matching, sure = matches(predicate, block)
            cases, skipped = cases + 1, skipped + bool(decision.skip[number])
            possible += not matching and sure
            assert not (decision.skip[number] and matching), (
                f"seed {seed}: wrong skip of block {number} for {to_sql(predicate)}: {decision.why(number)}; "
                f"rows {block}"
            )
            assert decision.skip[number] == (decision.reason[number] != 0)
    return cases, skipped, possible


@pytest.mark.parametrize("exact", [True, False], ids=["exact statistics", "loose and unknown statistics"])
def test_no_skipped_block_has_a_row_that_satisfies_the_filter(exact: bool) -> None:
    totals = [0, 0, 0]
    seed = SEED
    while totals[0] < CASES // 2:
        totals = [sum(pair) for pair in zip(totals, run(seed, exact=exact), strict=True)]
        seed += 1
    cases, skipped, possible = totals
    assert cases >= CASES // 2 > 0
    assert skipped > 0.6 * possible, f"only {skipped} of {possible} skippable blocks were skipped"
