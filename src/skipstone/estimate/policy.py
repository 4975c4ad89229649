"""When the automatic optimiser acts; every default is meant to be safe to leave alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields

from skipstone.arguments import NUMBERS, checked
from skipstone.errors import SkipstoneError
from skipstone.estimate.replica_budget import budget_bytes

__all__ = ["Policy", "policy_or_default"]


@dataclass(frozen=True, slots=True)
class Policy:
    """What is awaited, what is counted and what is risked.

    * Data that no layout covers is looked at once ``new_blocks`` blocks of it have gathered.
    * The scans of the last ``window_days`` are the workload. It is expected to come once more, as in
      Self-organising layouts for Delta (thesis), section 5, or at its own rate for ``horizon_days``.
    * A rewrite must save at least ``margin`` times what it costs.
    * Old data is looked at when the drift is at least ``drift`` over ``drift_queries`` recent queries, at
      most ``step_bytes`` at a time.
    * ``layout_options`` are those that only one layout has, such as ``{"curve": "hilbert"}`` of ``selforg``;
      what is not given is as in the newest layout.
    * ``replica_budget`` is how many bytes the table's replicas may have together, as ``"50%"`` of the table's
      own or as ``"20GB"``. Without it the optimiser leaves replicas alone.
    """

    new_blocks: float = 4.0
    window_days: float = 30.0
    horizon_days: float | None = None
    margin: float = 1.0
    drift: float = 0.25
    drift_queries: float = 20.0
    step_bytes: int = 4 << 30
    block_rows: int | None = None
    layouts: tuple[str, ...] | None = None
    layout_options: Mapping[str, str] = field(default_factory=dict)
    sample_rows: int | None = None
    replica_budget: str | None = None

    def __post_init__(self) -> None:
        """Refuse numbers out of range, and layouts and options that there are not."""
        numbers = checked(
            **{each.name: getattr(self, each.name) for each in fields(self) if each.name in NUMBERS}
        )
        for name, value in numbers.items():
            object.__setattr__(self, name, value)
        if isinstance(self.layouts, str):
            raise SkipstoneError(f"layouts must be several names, such as ('{self.layouts}',).")
        if self.replica_budget is not None:
            budget_bytes(self.replica_budget, 0)
        _check_layouts(self.layouts or (), self.layout_options)

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        # As JSON gives it back, for stored decisions are compared with it.
        return {**asdict(self), "layouts": None if self.layouts is None else list(self.layouts)}


def _check_layouts(layouts: tuple[str, ...], options: Mapping[str, str]) -> None:
    if not layouts and not options:
        return
    # Imported late: the command line asks for the defaults before it knows that it needs a layout.
    from skipstone.layout.layouts import REPLICA_LAYOUTS, check_any_options, layout_named

    for name in layouts:
        layout_named(name)
    if layouts and set(layouts) <= set(REPLICA_LAYOUTS):
        raise SkipstoneError(
            f"layouts must name one for the table itself too, and by {layouts[0]} only replicas can be made."
        )
    check_any_options(options)


def policy_or_default(policy: Policy | None) -> Policy:
    """The policy that a caller gave; anything that is none is refused."""
    if policy is None:
        return Policy()
    if not isinstance(policy, Policy):
        raise SkipstoneError(f"policy must be a skipstone.Policy, and it is a {type(policy).__name__}.")
    return policy
