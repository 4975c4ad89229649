"""The progress of an action only grows, whatever its steps and the stages of its Spark jobs tell."""

from __future__ import annotations

import pytest

from skipstone.progress import Steps
from skipstone.spark.engine.job_progress import share_of_stages

Event = tuple[str, int, int]


def test_steps_of_steps_tell_one_count_that_ends_at_the_total() -> None:
    events: list[Event] = []
    with Steps(lambda *event: events.append(event), 40, {"sampling": 1, "rewriting": 3}) as steps:
        steps.step("sampling")("sampling", 1, 1)  # type: ignore[misc]
        inner = Steps(steps.step("rewriting"), 900, {"writing": 2, "verifying": 1})
        for done in range(4):
            inner.step("writing")("writing", done, 4)  # type: ignore[misc]
        inner.step("verifying")("verifying", 0, 2)  # type: ignore[misc]
    assert events[0] == ("sampling", 10, 40)
    assert ("verifying", 30, 40) in events
    assert events[-1] == ("verifying", 40, 40)
    assert [done for _, done, _ in events] == sorted(done for _, done, _ in events)


def test_what_a_step_tells_too_late_or_falsely_takes_nothing_back() -> None:
    events: list[Event] = []
    steps = Steps(lambda *event: events.append(event), 10, {"a": 1, "b": 1})
    late, early = steps.step("b"), steps.step("a")
    assert late is not None
    assert early is not None
    late("b", 1, 2)
    early("a", 1, 2)
    late("b", -5, 2)
    late("b", 9, 2)
    late("b", 0, 0)
    assert [done for _, done, _ in events] == [7, 7, 7, 10]


def test_nobody_is_told_when_nobody_asks() -> None:
    with Steps(None, 10, {"a": 1}) as steps:
        assert steps.step("a") is None


def test_a_failed_action_is_not_told_to_be_done() -> None:
    events: list[Event] = []
    steps = Steps(lambda *event: events.append(event), 4, {"a": 1})
    steps.step("a")("a", 1, 4)  # type: ignore[misc]
    with pytest.raises(ValueError, match="broken"), steps:
        raise ValueError("broken")
    assert events == [("a", 1, 4)]


@pytest.mark.parametrize("expected", [1, 2, 3])
def test_stages_that_turn_up_one_after_the_other_never_move_the_share_back(expected: int) -> None:
    seen: dict[int, float] = {}
    shares = [0.0]
    for number in range(6):  # more than expected
        for done in range(5):
            seen[number] = done / 4
            shares.append(share_of_stages(seen, expected))
    assert shares[-1] < 1.0, "there may always be one more"
    assert shares == sorted(shares)
    assert shares[5 * expected] >= 0.9, "the expected stages are nearly all"
