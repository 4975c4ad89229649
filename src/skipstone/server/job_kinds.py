"""Which actions can be asked for as jobs: their arguments, what they need, and what becomes of their results.

Every kind makes the same action as the command of its name; arguments that only the action itself can judge
are judged by it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from skipstone.actions.action import Action
from skipstone.actions.adapt import Adapt
from skipstone.actions.advise import Advise
from skipstone.actions.analyze import Analyze
from skipstone.actions.auto import Auto
from skipstone.actions.denormalise import Denormalise
from skipstone.actions.drop import Drop
from skipstone.actions.generate import Generate
from skipstone.actions.import_log import ImportLog
from skipstone.actions.index import Index
from skipstone.actions.log import ClearLog
from skipstone.actions.optimize import Optimize
from skipstone.actions.optimize_new import OptimizeNew
from skipstone.actions.refresh import Refresh
from skipstone.actions.repair import Repair
from skipstone.actions.replay import Replay
from skipstone.actions.replicate import Replicate
from skipstone.errors import SkipstoneError
from skipstone.layout.options import LayoutOptions
from skipstone.server import job_arguments as given
from skipstone.server.look import Look
from skipstone.workload.queries import Workload

__all__ = ["CALIBRATE", "KINDS", "JobKind"]

Need = Literal["none", "optional", "required"]


@dataclass(frozen=True, slots=True)
class JobKind:
    """An action as a job; ``writes`` says that it must be alone on its table."""

    title: str
    arguments: type[given.NoArguments]
    # The arguments are those of the kind, whose names no other has.
    make: Callable[[Any, Workload | None], Action[object]]
    writes: bool = False
    workload: Need = "none"

    def to_dict(self, name: str) -> dict[str, object]:
        """For JSON."""
        return {
            "name": name,
            "title": self.title,
            "table": name != CALIBRATE,
            "exclusive": self.writes,
            "workload": self.workload,
            "arguments": self.arguments.model_json_schema(),
        }


def _own(**options: str | None) -> dict[str, str]:
    return {name: text for name, text in options.items() if text is not None}


def _options(arguments: given.BlockArguments, own: dict[str, str]) -> LayoutOptions:
    return LayoutOptions(arguments.block_rows, arguments.partition_by, arguments.num_features, own=own)


def _optimize(arguments: given.OptimizeArguments, queries: Workload | None) -> Action[object]:
    if arguments.new_only:
        return OptimizeNew(force=arguments.force)
    return Optimize(
        queries,
        arguments.layout,
        _options(arguments, _own(balance=arguments.balance, keys=arguments.keys, curve=arguments.curve)),
        arguments.output,
        arguments.convert,
        arguments.force,
        arguments.replicas,
    )


def _required(queries: Workload | None) -> Workload:
    if queries is None:
        raise SkipstoneError("This needs a workload.")
    return queries


CALIBRATE = "calibrate"
KINDS: dict[str, JobKind] = {
    "index": JobKind(
        "Compute statistics of the files that have none",
        given.IndexArguments,
        lambda it, _: Index(it.expression, it.feature, it.rebuild),
        writes=True,
    ),
    "analyze": JobKind(
        "Show what a query log says",
        given.AnalyzeArguments,
        lambda it, queries: Analyze(queries, it.num_features, it.threshold),
        workload="optional",
    ),
    "advise": JobKind(
        "Simulate every layout",
        given.AdviseArguments,
        lambda it, queries: Advise(
            queries, _options(it, it.own()), block_maps=True, layouts=tuple(it.layout)
        ),
        workload="optional",
    ),
    "optimize": JobKind(
        "Rewrite the table by a layout", given.OptimizeArguments, _optimize, writes=True, workload="optional"
    ),
    "replicate": JobKind(
        "Copy the rows into another layout",
        given.ReplicateArguments,
        lambda it, queries: Replicate(queries, it.layout, _options(it, it.own()), it.partition_rows),
        writes=True,
        workload="optional",
    ),
    "denormalise": JobKind(
        "Copy the rows with those that queries join to them",
        given.DenormaliseArguments,
        lambda it, queries: Denormalise(_required(queries), it.layout, LayoutOptions(it.block_rows)),
        writes=True,
        workload="required",
    ),
    "refresh": JobKind(
        "Bring replicas up to date", given.RefreshArguments, lambda it, _: Refresh(it.replica), writes=True
    ),
    "drop": JobKind(
        "Delete a replica", given.DropArguments, lambda it, _: Drop(it.replica, it.now), writes=True
    ),
    "repair": JobKind(
        "Verify all copies of the rows", given.RepairArguments, lambda it, _: Repair(it.check), writes=True
    ),
    "adapt": JobKind(
        "Change the tree where queries gain by it",
        given.AdaptArguments,
        lambda it, queries: Adapt(
            queries, it.window_days, it.most_given_up, it.most_rewritten, dry_run=it.dry_run
        ),
        writes=True,
        workload="optional",
    ),
    "auto": JobKind(
        "Decide by the query log and, if it pays, rewrite",
        given.AutoArguments,
        lambda it, _: Auto(not it.dry_run, it.policy()),
        writes=True,
    ),
    "replay": JobKind(
        "Run queries with skipping on and off",
        given.NoArguments,
        lambda _, queries: Replay(_required(queries)),
        workload="required",
    ),
    "import_log": JobKind(
        "Add queries to the query log",
        given.NoArguments,
        lambda _, queries: ImportLog(_required(queries)),
        writes=True,
        workload="required",
    ),
    "clear_log": JobKind(
        "Delete the query log", given.NoArguments, lambda _it, _queries: ClearLog(), writes=True
    ),
    "generate": JobKind(
        "Draw queries from what the columns hold",
        given.GenerateArguments,
        lambda it, _: Generate(it.queries, it.seed, it.zipf, tuple(it.columns)),
    ),
    "look": JobKind("Look at the table anew", given.NoArguments, lambda _it, _queries: Look()),
    # Made by whoever runs it, since it has no table.
    CALIBRATE: JobKind(
        "Measure what rewrites and scans cost here", given.CalibrateArguments, lambda _it, _queries: Look()
    ),
}
