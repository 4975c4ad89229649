"""The tables that a server knows: registered by a client, looked at now and then."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from skipstone.errors import SkipstoneError
from skipstone.server.job import moment
from skipstone.server.problems import ConflictError, MissingError, TooManyError
from skipstone.server.seen import Seen
from skipstone.server.settings import Limits
from skipstone.server.store import Store

__all__ = ["TableEntry", "Tables"]

LOG = logging.getLogger("skipstone")


@dataclass(slots=True, eq=False)
class TableEntry:
    """A registered table and what was last seen of it; facts survive a restart, blocks do not."""

    id: str
    name: str
    source: str
    registered_at: str
    state: str = "waiting"
    problem: str | None = None
    seen_at: str | None = None
    facts: Mapping[str, object] = field(default_factory=dict)
    seen: Seen | None = None
    looked: float = 0.0
    begun: float = 0.0

    def stored(self) -> dict[str, object]:
        """What is to be remembered."""
        return {
            "id": self.id,
            "name": self.name,
            "source": self.source,
            "registered_at": self.registered_at,
            "state": self.state,
            "problem": self.problem,
            "seen_at": self.seen_at,
            "facts": dict(self.facts),
        }

    def to_dict(self, job: int | None) -> dict[str, object]:
        """For JSON; ``job`` is the one that runs on it."""
        told = {name: value for name, value in self.stored().items() if name != "facts"}
        facts = {**_UNKNOWN, **self.facts}
        if self.state == "gone":
            facts["health"] = {"code": "GONE", "sentence": self.problem}
        return {**told, **facts, "job": job}


_UNKNOWN: dict[str, object] = {
    "root": None,
    "format": None,
    "version": None,
    "files": None,
    "bytes": None,
    "rows": None,
    "files_indexed": None,
    "columns": [],
    "expressions": [],
    "features": [],
    "layout": None,
    "layouts": [],
    "log": None,
    "lately": None,
    "saving": None,
    "drift": None,
    "unclustered_files": None,
    "unclustered_bytes": None,
    "replicas": None,
    "health": {"code": "WAITING", "sentence": "The table has not been looked at yet."},
}


class Tables:
    """The registry, by id; an id is the table's name in lower case."""

    def __init__(self, store: Store, limits: Limits, changed: Callable[[TableEntry], None]) -> None:
        """Know those of earlier servers; ``changed`` is called with what has changed."""
        self._store = store
        self._limits = limits
        self._changed = changed
        self._lock = threading.RLock()
        self._known = {
            key: TableEntry(**value)  # type: ignore[arg-type]
            for key, value in store.values("tables").items()
        }

    def list(self) -> list[TableEntry]:
        """All, in the order in which they were registered."""
        return sorted(self._known.values(), key=lambda entry: (entry.registered_at, entry.id))

    def get(self, key: str) -> TableEntry:
        """One of them."""
        entry = self._known.get(key.lower())
        if entry is None:
            raise MissingError(f"There is no table {key[:200]}; register it first.")
        return entry

    def add(self, name: str, source: str) -> TableEntry:
        """Register a table under a name that no other has; the same one again is the same."""
        with self._lock:
            key = name.lower()
            known = self._known.get(key)
            if known is not None and known.source == source:
                return known
            if known is not None:
                raise ConflictError(f"{known.source} is called {known.name} already; give name=PATH.")
            # Jobs on one table are kept apart by its name.
            for other in self._known.values():
                if other.source == source:
                    raise ConflictError(f"{source} is registered already, as {other.name}.")
            if len(self._known) >= self._limits.tables:
                raise TooManyError(f"There are {len(self._known)} tables already; forget some.")
            entry = TableEntry(key, name, source, moment())
            self._store.put("tables", key, entry.stored())
            self._known[key] = entry
        self._changed(entry)
        return entry

    def forget(self, key: str) -> None:
        """Know it no longer."""
        entry = self.get(key)
        self._store.forget("tables", entry.id)
        with self._lock:
            self._known.pop(entry.id, None)

    def found(self, entry: TableEntry, seen: Seen, begun: float) -> None:
        """Remember what was seen by a look that began then; one that has begun later knows better."""
        with self._lock:
            if begun < entry.begun:
                return
            entry.begun = begun
            entry.seen, entry.facts = seen, seen.facts
            entry.state, entry.problem = "ready", None
            self._remember(entry)

    def lost(self, entry: TableEntry, problem: str, begun: float) -> None:
        """Remember that it could not be looked at; what was known before is still told."""
        with self._lock:
            if begun < entry.begun:
                return
            entry.begun = begun
            entry.state, entry.problem = "gone", problem
            self._remember(entry)

    def _remember(self, entry: TableEntry) -> None:
        entry.seen_at, entry.looked = moment(), time.monotonic()
        if entry.id in self._known:
            try:
                self._store.put("tables", entry.id, entry.stored())
            except SkipstoneError as problem:  # the disk may be full; it is looked at again anyway
                LOG.warning("What was seen of %s cannot be written now: %s", entry.name, problem)
            self._changed(entry)
