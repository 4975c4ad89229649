"""Numbers that users give: out of range, or no numbers at all, they are refused in one sentence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from skipstone.actions.watch import Watch
from skipstone.arguments import NUMBERS, bounds_of, checked
from skipstone.errors import SkipstoneError
from skipstone.estimate.policy import Policy, policy_or_default
from skipstone.layout.options import LayoutOptions

NO_NUMBERS: list[Any] = [
    "10",
    "",
    True,
    False,
    math.nan,
    math.inf,
    -math.inf,
    [],
    object(),
    1j,
    b"1",
    10**5000,
]


@pytest.mark.parametrize("name", NUMBERS)
def test_both_ends_of_a_range_are_allowed_and_nothing_beyond_them(name: str) -> None:
    allowed = NUMBERS[name]
    for value in (allowed.least, allowed.most):
        assert checked(**{name: value}) == {name: value}
    step = 1 if allowed.whole else 0.001
    for value in (allowed.least - step, allowed.most * 1.001 + 1, -5):
        with pytest.raises(
            SkipstoneError, match=rf"^{name} must be a (whole )?number from .* to .*, and it is"
        ):
            checked(**{name: value})


@pytest.mark.parametrize("name", NUMBERS)
def test_what_is_no_number_is_refused_by_a_sentence_that_names_the_argument(name: str) -> None:
    wrong = NO_NUMBERS + ([1.5, 100_000.0] if NUMBERS[name].whole else [])
    wrong += [] if NUMBERS[name].optional else [None]
    for value in wrong:
        with pytest.raises(SkipstoneError) as caught:
            checked(**{name: value})
        assert str(caught.value).startswith(f"{name} must be ")
        assert len(str(caught.value)) < 200


def test_numbers_of_numpy_become_those_of_python() -> None:
    found = checked(block_rows=np.int32(600), margin=np.float32(0.5), drift=1)
    assert found == {"block_rows": 600, "margin": 0.5, "drift": 1}
    assert [type(value) for value in found.values()] == [int, float, int]


def test_a_number_that_may_be_left_to_skipstone_may_be_none() -> None:
    optional = {name for name, allowed in NUMBERS.items() if allowed.optional}
    assert "block_rows" in optional
    assert checked(**dict.fromkeys(optional)) == dict.fromkeys(optional)


def test_the_command_line_has_the_same_ranges() -> None:
    assert bounds_of("drift") == {"min": 0.0, "max": 1.0}
    assert type(bounds_of("block_rows")["min"]) is int


@pytest.mark.parametrize("name", [name for name in NUMBERS if name in Policy.__dataclass_fields__])
@pytest.mark.parametrize("value", [-5, math.nan, "10", True])
def test_a_policy_with_a_number_out_of_range_cannot_be_made(name: str, value: Any) -> None:
    with pytest.raises(SkipstoneError, match=f"^{name} must be "):
        Policy(**{name: value})


def test_every_number_of_a_policy_has_a_range() -> None:
    numbers = {
        name
        for name, field in Policy.__dataclass_fields__.items()
        if "int" in field.type or "float" in field.type
    }
    assert numbers
    assert numbers <= NUMBERS.keys()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"layouts": ("spiral",)}, "There is no layout spiral"),
        ({"layouts": "qdtree"}, "layouts must be several names"),
        ({"layout_options": {"curve": "peano"}}, "There is no curve peano"),
        (
            {"layout_options": {"angle": "3"}},
            "There is no layout option angle; choose one of balance, columns, curve",
        ),
    ],
)
def test_a_policy_with_what_there_is_not_cannot_be_made(given: dict[str, Any], said: str) -> None:
    with pytest.raises(SkipstoneError, match=said):
        Policy(**given)


def test_anything_but_a_policy_is_refused() -> None:
    assert policy_or_default(None) == Policy()
    with pytest.raises(SkipstoneError, match=r"policy must be a skipstone\.Policy, and it is a dict"):
        policy_or_default({"margin": 2})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["block_rows", "num_features", "threshold", "sample_rows"])
def test_options_of_a_layout_out_of_range_cannot_be_made(name: str) -> None:
    for value in (0, -5, "10", math.nan):
        option: dict[str, Any] = {name: value}
        with pytest.raises(SkipstoneError, match=f"^{name} must be "):
            LayoutOptions(**option)


def test_a_watch_that_never_rests_cannot_be_made() -> None:
    with pytest.raises(SkipstoneError, match=r"^seconds must be a number from"):
        Watch(lambda: 0, lambda: None, seconds=0)  # type: ignore[arg-type,return-value]
