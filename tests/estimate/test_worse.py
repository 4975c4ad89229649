"""A layout that is worse than what is there is noticed by its figures alone."""

from __future__ import annotations

import pytest

from skipstone.estimate.worse import is_worse, refusal


@pytest.mark.parametrize(
    ("before", "after", "worse"),
    [
        (5.9, 58.1, True),
        (58.1, 5.9, False),
        (50.0, 50.0, False),
        (50.0, 52.0, False),  # within what a sample can tell
        (50.0, 53.0, True),
        (0.1, 0.14, False),
        (0.1, 0.2, True),
        (0.0, 0.04, False),
        (0.0, 1.0, True),
        (100.0, 100.0, False),
        (None, 58.1, False),
        (5.9, None, False),
    ],
)
def test_a_layout_is_worse_if_it_scans_clearly_more(
    before: float | None, after: float | None, worse: bool
) -> None:
    assert is_worse(before, after) is worse
    assert (refusal("sop", before, after) is not None) is worse


def test_the_refusal_tells_both_figures() -> None:
    assert refusal("sop", 5.9, 58.1) == (
        "by the layout sop the log's queries would scan about 58.10 % of the rows instead of 5.90 % now"
    )
