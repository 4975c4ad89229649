"""All layouts by name, and what users may ask of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skipstone.errors import SkipstoneError
from skipstone.layout.contract import AnyLayout, Design, Needs
from skipstone.layout.gsop import GSOP
from skipstone.layout.hilbert import HILBERT
from skipstone.layout.hyper import HYPER
from skipstone.layout.own_options import option_names, parse_options
from skipstone.layout.qdtree import QDTREE
from skipstone.layout.range import RANGE
from skipstone.layout.selforg import SELFORG
from skipstone.layout.sop import SOP
from skipstone.layout.table_view import FitWorkload, TableView
from skipstone.layout.zorder import ZORDER

__all__ = [
    "LAYOUTS",
    "REPLICA_LAYOUTS",
    "check_any_options",
    "check_base_layout",
    "check_options",
    "compared_layouts",
    "fit_layout",
    "layout_named",
    "layout_options",
    "needs_of",
    "options_for",
]

LAYOUTS: Mapping[str, AnyLayout] = {
    layout.name: layout for layout in (RANGE, ZORDER, HILBERT, SOP, SELFORG, QDTREE, HYPER, GSOP)
}

REPLICA_LAYOUTS = (GSOP.name,)
"""Those by which only replicas can be made."""


def layout_named(name: str, also: tuple[str, ...] = ()) -> AnyLayout:
    """The layout of this name; ``also`` are further names that the user might have chosen."""
    if name not in LAYOUTS:
        raise SkipstoneError(f"There is no layout {name}; choose one of {', '.join((*also, *LAYOUTS))}.")
    return LAYOUTS[name]


def layout_options(name: str, given: Mapping[str, str]) -> Any:
    """The options of a layout as its own dataclass, from the texts that a user gave.

    An option or a value that there is not is an error that lists what there is.
    """
    check_options(name, given)
    return parse_options(LAYOUTS[name].options, given)


def check_options(name: str, given: Mapping[str, str]) -> None:
    """Refuse options that a layout has not, and all options of a name that stands for no one layout."""
    known = option_names(LAYOUTS[name].options) if name in LAYOUTS else ()
    for option in given:
        if option in known:
            continue
        others = [other for other, layout in LAYOUTS.items() if option in option_names(layout.options)]
        if others:
            noun = "layout" if len(others) == 1 else "layouts"
            owners = f"{noun} {_listed(others)}"
            raise SkipstoneError(
                f"The option {option} is for the {owners}, and the layout asked for is {name}."
            )
        has = f"it has {_listed(known)}" if known else "it has none"
        raise SkipstoneError(f"The layout {name} has no option {option}; {has}.")


def check_base_layout(name: str) -> None:
    """Refuse to lay the table itself out by what only replicas can have."""
    if name in REPLICA_LAYOUTS:
        raise SkipstoneError(
            f"The layout {name} blocks columns separately, and a table has one order of rows; make a replica "
            f"by it (skipstone replicate --layout {name})."
        )


def options_for(name: str, given: Mapping[str, str]) -> dict[str, str]:
    """Those of the options that a layout has, where several layouts are compared."""
    known = option_names(LAYOUTS[name].options)
    return {option: text for option, text in given.items() if option in known}


def check_any_options(given: Mapping[str, str]) -> None:
    """Refuse options that no layout has, and values that there are not."""
    for option in given:
        owners = [layout for layout in LAYOUTS.values() if option in option_names(layout.options)]
        if not owners:
            every = sorted({name for layout in LAYOUTS.values() for name in option_names(layout.options)})
            raise SkipstoneError(f"There is no layout option {option}; choose one of {', '.join(every)}.")
        for layout in owners:
            parse_options(layout.options, {option: given[option]})


def compared_layouts(given: Mapping[str, str], queries: bool, replica: bool = False) -> tuple[str, ...]:
    """The layouts to compare where none is named: with queries, or without, for a replica or a table.

    Those that need every column are made for when nobody knows what will be asked. Where queries are known,
    they are compared only if an option of theirs is given.
    """
    needs = {name: needs_of(name, given) for name in LAYOUTS}
    possible = [name for name in LAYOUTS if replica or not needs[name].replica]
    if not queries:
        return tuple(name for name in possible if not needs[name].workload)
    return tuple(name for name in possible if options_for(name, given) or not needs[name].all_columns)


def needs_of(name: str, given: Mapping[str, str]) -> Needs:
    """What a layout needs with those of these options that it has."""
    return LAYOUTS[name].needs(layout_options(name, options_for(name, given)))


def fit_layout(
    name: str, view: TableView, workload: FitWorkload | None, given: Mapping[str, str] | None = None
) -> Design:
    """Fit the layout of this name with options as a user gives them."""
    return layout_named(name).fit(view, workload, layout_options(name, given or {}))


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
