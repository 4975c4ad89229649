"""Policies: what cannot be meant is refused when they are made."""

from __future__ import annotations

import json

import pytest

from skipstone.errors import SkipstoneError
from skipstone.estimate.policy import Policy


def test_a_policy_comes_back_from_json_as_it_was_compared() -> None:
    reported = Policy(layouts=("sop", "selforg"), layout_options={"curve": "hilbert"}).to_dict()
    assert json.loads(json.dumps(reported)) == reported
    assert reported["layouts"] == ["sop", "selforg"]
    assert reported["layout_options"] == {"curve": "hilbert"}
    assert Policy().to_dict()["layouts"] is None


def test_options_that_no_layout_has_are_refused() -> None:
    with pytest.raises(SkipstoneError, match="There is no curve peano; choose one of z, hilbert"):
        Policy(layout_options={"curve": "peano"})
    with pytest.raises(SkipstoneError, match="There is no layout option bend"):
        Policy(layout_options={"bend": "z"})
