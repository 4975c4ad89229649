"""A job: an action that was asked for, and what has become of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum

__all__ = ["ENDED", "Job", "JobRequest", "State", "moment"]


class State(StrEnum):
    """Where a job is; the last four are ends."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"


ENDED = frozenset({State.DONE, State.FAILED, State.CANCELLED, State.INTERRUPTED})


@dataclass(frozen=True, slots=True)
class JobRequest:
    """What a client asks for; ``arguments`` are JSON."""

    action: str
    table: str | None = None
    workload: str | None = None
    arguments: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Job:
    """A request with its state; a change is a new value."""

    id: int
    request: JobRequest
    created_at: str
    state: State = State.QUEUED
    waits_for: str | None = None
    started_at: str | None = None
    ended_at: str | None = None
    progress: tuple[str, int, int] = ("", 0, 0)
    cancelling: bool = False
    headline: str | None = None
    error: str | None = None
    has_result: bool = False

    def changed(self, **fields: object) -> Job:
        """The job with other values of some fields."""
        return replace(self, **fields)  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        what, done, total = self.progress
        return {
            "id": self.id,
            "action": self.request.action,
            "table": self.request.table,
            "workload": self.request.workload,
            "arguments": dict(self.request.arguments),
            "state": self.state.value,
            "waits_for": self.waits_for,
            "created_at": self.created_at,
            "started_at": self.started_at,
            "ended_at": self.ended_at,
            "progress": {"what": what, "done": done, "total": total},
            "cancelling": self.cancelling,
            "headline": self.headline,
            "error": self.error,
            "has_result": self.has_result,
        }


def moment() -> str:
    """The time, as clients are told it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
