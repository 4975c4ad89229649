"""What the shell completes after an option. Only what is cheap to import is asked: a shell does not wait."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "complete_balance",
    "complete_curve",
    "complete_dialect",
    "complete_layout",
    "complete_layout_or_auto",
    "complete_master",
]


def _starting(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def complete_layout(incomplete: str) -> list[str]:
    """Names of layouts."""
    from skipstone.layout.layouts import LAYOUTS

    return _starting(LAYOUTS, incomplete)


def complete_layout_or_auto(incomplete: str) -> list[str]:
    """Names of layouts, and the choice among them."""
    return [*_starting(("auto",), incomplete), *complete_layout(incomplete)]


def complete_balance(incomplete: str) -> list[str]:
    """What the layout hyper can balance."""
    from skipstone.layout.hyper import BALANCES

    return _starting(BALANCES, incomplete)


def complete_grouping(incomplete: str) -> list[str]:
    """How the layout gsop can group columns."""
    from skipstone.layout.gsop import GROUPINGS

    return _starting(GROUPINGS, incomplete)


def complete_inner(incomplete: str) -> list[str]:
    """The layouts inside a column group."""
    from skipstone.layout.gsop import INNER

    return _starting(INNER, incomplete)


def complete_reconstruction(incomplete: str) -> list[str]:
    """What the layout gsop can take putting tuples together to cost."""
    from skipstone.layout.gsop import RECONSTRUCTIONS

    return _starting(RECONSTRUCTIONS, incomplete)


def complete_curve(incomplete: str) -> list[str]:
    """The curves of the layout selforg."""
    from skipstone.layout.selforg import CURVES

    return _starting(CURVES, incomplete)


def complete_dialect(incomplete: str) -> list[str]:
    """The SQL dialects that queries may be in."""
    from sqlglot.dialects.dialect import Dialects

    return _starting((dialect.value for dialect in Dialects if dialect.value), incomplete)


def complete_master(incomplete: str) -> list[str]:
    """Forms of a Spark master."""
    return _starting(("local[*]", "local[2]", "spark://", "yarn", "k8s://"), incomplete)
