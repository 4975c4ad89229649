"""Options of single layouts: read from texts, and refused in one sentence that lists what there is."""

from __future__ import annotations

import pytest

from skipstone.errors import SkipstoneError
from skipstone.layout.grid import GridOptions
from skipstone.layout.layouts import (
    LAYOUTS,
    check_any_options,
    check_options,
    layout_options,
    needs_of,
    options_for,
)
from skipstone.layout.own_options import NoOptions, option_names
from skipstone.layout.selforg import CURVES, SelfOrgOptions


def test_texts_become_the_options_of_a_layout() -> None:
    assert layout_options("zorder", {"columns": "a, b.c", "most_columns": "3"}) == GridOptions(
        ("a", "b.c"), 3
    )
    assert layout_options("selforg", {"curve": "hilbert"}) == SelfOrgOptions("hilbert")
    assert layout_options("qdtree", {}) == NoOptions()


@pytest.mark.parametrize("name", LAYOUTS)
def test_every_layout_has_defaults_for_its_options(name: str) -> None:
    assert layout_options(name, {}) == LAYOUTS[name].options()
    assert needs_of(name, {}).workload == (name != "hyper")


def test_only_selforg_takes_a_curve() -> None:
    for curve in CURVES:
        assert layout_options("selforg", {"curve": curve}) == SelfOrgOptions(curve)
    assert [name for name in LAYOUTS if "curve" in option_names(LAYOUTS[name].options)] == ["selforg"]
    for layout in ("auto", "zorder", "qdtree"):
        with pytest.raises(
            SkipstoneError, match=f"^The option curve is for the layout selforg, .* is {layout}.$"
        ):
            check_options(layout, {"curve": "hilbert"})
    with pytest.raises(SkipstoneError, match=r"^There is no curve peano; choose one of z, hilbert\.$"):
        layout_options("selforg", {"curve": "peano"})


@pytest.mark.parametrize(
    ("layout", "given", "sentence"),
    [
        ("zorder", {"angle": "3"}, "The layout zorder has no option angle; it has columns and most_columns."),
        ("qdtree", {"angle": "3"}, "The layout qdtree has no option angle; it has none."),
        (
            "sop",
            {"columns": "a"},
            (
                "The option columns is for the layouts range, zorder, hilbert and hyper, "
                "and the layout asked for is sop."
            ),
        ),
        (
            "range",
            {"columns": "a,,b"},
            "Names are separated by single commas, as in a,b, and there is 'a,,b'.",
        ),
        ("range", {"columns": "a,b,c,d,e,f,g"}, "A grid has at most 6 columns, and 7 are named."),
        ("range", {"most_columns": "many"}, "A whole number is wanted, and there is 'many'."),
        ("range", {"most_columns": "0"}, "most_columns must be a number from 1 to 6, and it is 0."),
    ],
)
def test_what_there_is_not_is_refused_in_one_sentence(
    layout: str, given: dict[str, str], sentence: str
) -> None:
    with pytest.raises(SkipstoneError) as refused:
        layout_options(layout, given)
    assert str(refused.value) == sentence


def test_layouts_that_are_compared_take_the_options_that_they_have() -> None:
    given = {"curve": "hilbert", "columns": "a"}
    check_any_options(given)
    assert options_for("selforg", given) == {"curve": "hilbert"}
    assert options_for("range", given) == {"columns": "a"}
    assert options_for("qdtree", given) == {}
    assert needs_of("range", given).all_columns
    with pytest.raises(
        SkipstoneError, match="There is no layout option angle; choose one of balance, columns, curve"
    ):
        check_any_options({"angle": "3"})
    with pytest.raises(SkipstoneError, match="There is no curve peano"):
        check_any_options({"curve": "peano"})
