"""The decision log: what was decided about a table's layout, when, why and by which numbers.

``TABLE/_skipstone/decisions/TIME-ID.json``. A decision to do nothing that repeats the one before takes its
place and counts the repetitions, so that a loop that waits for months leaves one file. The newest
``MOST_DECISIONS`` are kept.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from skipstone.catalog.store import FOLDER, FileStore
from skipstone.errors import SkipstoneError

__all__ = ["DECISIONS", "Decision", "load_decisions", "save_decision"]

DECISIONS = f"{FOLDER}/decisions"
MOST_DECISIONS = 200
_NAME = re.compile(r"[0-9TZ]+-[0-9a-f]{8}\.json")


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision of the self-organising loop: code, sentence and all numbers behind it.

    ``time`` is ISO 8601 in UTC and ``acted`` says whether the table was rewritten.
    ``repeated`` is how often the same was decided before without a change.
    """

    time: str
    acted: bool
    code: str
    sentence: str
    numbers: Mapping[str, Any] = field(default_factory=dict)
    repeated: int = 0

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def save_decision(store: FileStore, decision: Decision) -> Decision:
    """Add a decision to the log and return it as it was written."""
    names = _names(store)
    last = _read(store, names[-1]) if names else None
    stale = names[: max(0, len(names) + 1 - MOST_DECISIONS)]
    if last is not None and not decision.acted and not last.acted and last.code == decision.code:
        decision = replace(decision, repeated=last.repeated + 1)
        stale = [*stale, names[-1]]
    moment = re.sub(r"[^0-9T]", "", decision.time.partition("+")[0].replace(".", ""))
    store.write(
        f"{DECISIONS}/{moment:0<21}Z-{uuid.uuid4().hex[:8]}.json", json.dumps(decision.to_dict()).encode()
    )
    for name in dict.fromkeys(stale):
        store.delete(f"{DECISIONS}/{name}")
    return decision


def load_decisions(store: FileStore, most: int = MOST_DECISIONS) -> tuple[Decision, ...]:
    """The newest decisions, oldest first; a file that cannot be read is left out."""
    found = [_read(store, name) for name in _names(store)[-most:]]
    return tuple(decision for decision in found if decision is not None)


def _names(store: FileStore) -> list[str]:
    return sorted(name for name in store.names(DECISIONS) if _NAME.fullmatch(name))


def _read(store: FileStore, name: str) -> Decision | None:
    try:
        return Decision(**json.loads(store.read(f"{DECISIONS}/{name}")))
    except (ValueError, TypeError, SkipstoneError):  # another session may just have deleted it
        return None
