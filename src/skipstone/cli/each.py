"""``--each``: a command for the further tables, too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Generic, Protocol, TypeVar

import typer

from skipstone.cli.output import fail, print_json, warn
from skipstone.cli.query_options import warn_of_unused

if TYPE_CHECKING:
    import skipstone
    from skipstone.actions.optimize_report import OptimizeReport
    from skipstone.each_table import Done
    from skipstone.workload import BrokenQuery

__all__ = ["Each", "Every"]

Each = Annotated[
    bool, typer.Option("--each", help="For the tables of --table, too, each for what the queries ask of it.")
]


class _Found(Protocol):
    """What an action found, and the statements that it could not use."""

    @property
    def unusable(self) -> Sequence[BrokenQuery]: ...

    def to_dict(self) -> dict[str, object]: ...


Found = TypeVar("Found", bound=_Found)


@dataclass(frozen=True, slots=True)
class Every(Generic[Found]):
    """What was done for every table, the one that the command is about first."""

    done: Sequence[Done[Found]]

    @classmethod
    def of(
        cls, tables: Sequence[skipstone.Table], action: Callable[[skipstone.Table], Found]
    ) -> Every[Found]:
        """Do something with each."""
        from skipstone.each_table import for_each_table

        return cls(for_each_table(tables, action))

    @staticmethod
    def optimized(
        tables: Sequence[skipstone.Table], optimize: Callable[[skipstone.Table], OptimizeReport]
    ) -> Every[OptimizeReport]:
        """Lay each out, and bring what they know about each other up to date."""
        from skipstone.each_table import optimize_each

        return Every(optimize_each(tables, optimize))

    def show(self, queries: Path | None, as_json: bool) -> None:
        """Show all of it, or why nothing was done; fails if that is so for the first table."""
        found: list[dict[str, object]] = []
        for each in self.done:
            name = each.table.name or each.table.source
            if each.result is None:
                found.append({"table": name, "why_not": each.why_not})
                warn(f"{name}: {each.why_not}")
                continue
            warn_of_unused(queries, each.result.unusable)
            found.append({"table": name, **each.result.to_dict()})
            if not as_json:
                typer.echo(f"{name}\n{each.result}\n")
        if self.done[0].result is None:
            fail(self.done[0].why_not, report={"tables": found})
        if as_json:
            print_json({"tables": found})
