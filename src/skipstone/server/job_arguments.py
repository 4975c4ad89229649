"""The arguments of jobs: named as the options of the command, with the same ranges."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from skipstone.arguments import NUMBERS
from skipstone.estimate.policy import Policy

__all__ = [
    "AdaptArguments",
    "AdviseArguments",
    "AnalyzeArguments",
    "AutoArguments",
    "CalibrateArguments",
    "DenormaliseArguments",
    "DropArguments",
    "GenerateArguments",
    "IndexArguments",
    "NoArguments",
    "OptimizeArguments",
    "RefreshArguments",
    "RepairArguments",
    "ReplicateArguments",
]

_DEFAULT = Policy()


def _range(name: str) -> Any:  # noqa: ANN401 - what pydantic makes of a field
    allowed = NUMBERS[name]
    kind = int if allowed.whole else float
    return Field(ge=kind(allowed.least), le=kind(allowed.most))


_EXPRESSIONS = ("expression", "feature", "partition_by", "keys")
Sql = Annotated[str, Field(min_length=1, max_length=10_000)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
BlockRows = Annotated[int, _range("block_rows")]
NumFeatures = Annotated[int, _range("num_features")]


class NoArguments(BaseModel):
    """Nothing to choose."""

    model_config = ConfigDict(extra="forbid", strict=True)

    def sql(self) -> list[str]:
        """The expressions among them, which Spark is to analyse."""
        given = [getattr(self, name, None) for name in _EXPRESSIONS]
        return [text for each in given if each for text in ([each] if isinstance(each, str) else each)]


class IndexArguments(NoArguments):
    """As ``skipstone index``."""

    expression: Annotated[list[Sql], Field(max_length=1_000)] = []
    feature: Annotated[list[Sql], Field(max_length=1_000)] = []
    rebuild: bool = False


class AnalyzeArguments(NoArguments):
    """As ``skipstone analyze``."""

    num_features: NumFeatures | None = None
    threshold: Annotated[float, _range("threshold")] | None = None


class BlockArguments(NoArguments):
    """What any layout can be asked for."""

    block_rows: BlockRows | None = None
    partition_by: Sql | None = None
    num_features: NumFeatures | None = None


class OwnArguments(BlockArguments):
    """And what only the layouts hyper and gsop can be asked for."""

    balance: Name | None = None
    keys: Sql | None = None
    grouping: Name | None = None
    inner: Name | None = None
    reconstruction: Name | None = None
    estimation: Name | None = None
    max_vectors: Annotated[int, Field(ge=1, le=2**53)] | None = None

    def own(self) -> dict[str, str]:
        """Those of them that were given."""
        found = {name: getattr(self, name) for name in OwnArguments.model_fields}
        shared = BlockArguments.model_fields
        return {name: str(text) for name, text in found.items() if text is not None and name not in shared}


class AdviseArguments(OwnArguments):
    """As ``skipstone advise``."""

    layout: Annotated[list[Name], Field(max_length=20)] = []


class OptimizeArguments(BlockArguments):
    """As ``skipstone optimize``."""

    layout: Name = "auto"
    balance: Name | None = None
    keys: Sql | None = None
    curve: Name | None = None
    output: Annotated[str, Field(min_length=1, max_length=4_096)] | None = None
    convert: bool = False
    force: bool = False
    replicas: Annotated[int, _range("replicas")] = 1
    new_only: bool = False


class ReplicateArguments(OwnArguments):
    """As ``skipstone replicate``."""

    layout: Name = "auto"
    partition_rows: Annotated[int, _range("partition_rows")] | None = None


class DenormaliseArguments(NoArguments):
    """As ``skipstone denormalise``."""

    layout: Name = "qdtree"
    block_rows: BlockRows | None = None


class RefreshArguments(NoArguments):
    """As ``skipstone refresh``."""

    replica: Name | None = None


class DropArguments(NoArguments):
    """As ``skipstone drop``."""

    replica: Name
    now: bool = False


class RepairArguments(NoArguments):
    """As ``skipstone repair``."""

    check: bool = False


class AdaptArguments(NoArguments):
    """As ``skipstone adapt``."""

    window_days: Annotated[float, _range("window_days")] = 30.0
    most_given_up: Annotated[float, _range("most_given_up")] = 0.5
    most_rewritten: Annotated[float, _range("most_rewritten")] = 0.5
    dry_run: bool = False


class AutoArguments(NoArguments):
    """As ``skipstone auto --once``, or ``--dry-run``."""

    dry_run: bool = False
    window_days: Annotated[float, _range("window_days")] = _DEFAULT.window_days
    horizon_days: Annotated[float, _range("horizon_days")] | None = None
    margin: Annotated[float, _range("margin")] = _DEFAULT.margin
    new_blocks: Annotated[float, _range("new_blocks")] = _DEFAULT.new_blocks
    drift: Annotated[float, _range("drift")] = _DEFAULT.drift
    step_mb: Annotated[float, _range("step_mb")] = _DEFAULT.step_bytes / 1e6
    layout: Annotated[list[Name], Field(max_length=20)] = []
    curve: Name | None = None
    block_rows: BlockRows | None = None
    replica_budget: Name | None = None

    def policy(self) -> Policy:
        """The policy that these arguments make."""
        return Policy(
            new_blocks=self.new_blocks,
            window_days=self.window_days,
            horizon_days=self.horizon_days,
            margin=self.margin,
            drift=self.drift,
            step_bytes=int(self.step_mb * 1e6),
            block_rows=self.block_rows,
            layouts=tuple(self.layout) or None,
            layout_options={} if self.curve is None else {"curve": self.curve},
            replica_budget=self.replica_budget,
        )


class GenerateArguments(NoArguments):
    """As ``skipstone generate``."""

    queries: Annotated[int, Field(ge=1, le=100_000)] = 100
    seed: Annotated[int, Field(ge=0, le=2**53)] = 0
    zipf: Annotated[float, _range("zipf")] | None = None
    columns: Annotated[list[Name], Field(max_length=1_000)] = []


class CalibrateArguments(NoArguments):
    """As ``skipstone calibrate``."""

    rows: Annotated[int, Field(ge=10_000, le=100_000_000)] = 600_000
