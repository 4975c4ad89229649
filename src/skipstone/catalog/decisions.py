"""The decision log: what was decided about a table's layout, when, why and by which numbers.

``TABLE/_skipstone/decisions/TIME-DIGEST.json``. A decision to do nothing that repeats the one before replaces
it and counts the repetitions, so that a loop that waits for months leaves one file. The newest
``MOST_DECISIONS`` are kept.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime

from skipstone.catalog.store import FOLDER, FileStore, digest_of
from skipstone.errors import SkipstoneError
from skipstone.json_types import JsonObject, json_int, json_number, json_object, json_text
from skipstone.view import Cell, Grid, Share, View, Viewed, count, megabytes

__all__ = ["DECISIONS", "Decision", "load_decisions", "save_decision"]

DECISIONS = f"{FOLDER}/decisions"
MOST_DECISIONS = 200
_NAME = re.compile(r"[0-9TZ]+-(?:[0-9a-f]{8}|(?P<digest>[0-9a-f]{12}))\.json")
"""Earlier versions gave eight digits that say nothing."""


_OF_REPLICAS = {
    "REPLICA_PAYS": "replica made",
    "REFRESH_PAYS": "replica refreshed",
    "DROP_OVER_BUDGET": "replica dropped",
    "DROP_UNUSED": "replica dropped",
    "DROP_OUTBID": "replica dropped",
}
"""What a decision about replicas comes to, by its code."""


@dataclass(frozen=True, slots=True, repr=False)
class Decision(Viewed):
    """A decision of the self-organising loop: code, sentence and all numbers behind it.

    ``time`` is ISO 8601 in UTC and ``acted`` says whether the table was rewritten or a replica made,
    refreshed or dropped.
    ``repeated`` is how often the same was decided before without a change.
    """

    time: str
    acted: bool
    code: str
    sentence: str
    numbers: JsonObject = field(default_factory=dict)
    repeated: int = 0

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)

    def view(self) -> View:
        """What was decided, with the numbers that people look for."""
        numbers, pays, what = self.numbers, self.code in ("PAYS", "ADAPTS"), ""
        verb = "Rewrote" if self.acted else "Would rewrite" if pays else "Nothing to do"
        if (of_replica := _OF_REPLICAS.get(self.code)) is not None:
            verb = of_replica.capitalize() if self.acted else f"Would have a {of_replica}"
        if pays and {"files", "bytes", "data"} <= numbers.keys():
            size = megabytes(json_number(numbers["bytes"]))
            what = f" {count(json_int(numbers['files']), 'file')} of {numbers['data']} data ({size})"
        values: list[tuple[str, Cell]] = []
        if (runs := numbers.get("break_even_runs")) is not None:
            values.append(("pays after", f"{json_number(runs):,.2f} runs of the log; {self._rate()}"))
        if "least_rewrite_seconds" in numbers:
            values.append(("costs", json_text(numbers["costs"])))
        if self.acted and "version" in numbers:
            files, seconds = (
                count(json_int(numbers["files_after"]), "file"),
                json_number(numbers["rewrite_seconds"]),
            )
            decided = f"decided in {json_number(numbers['analysis_seconds']):.1f} s"
            values.append(("version", f"{numbers['version']}, {files}, {seconds:.1f} s; {decided}"))
        by = json_object(numbers.get("percent_scanned_by", {}))
        known = [(name, json_number(share)) for name, share in by.items() if share is not None]
        shares = [(name, Share(share, 100, f"{share:.2f} %")) for name, share in known]
        grids = (Grid("Rows scanned", ("layout", "of all rows"), tuple(shares)),) if shares else ()
        return View(f"{verb}{what}: {self.sentence} [{self.code}].", tuple(values), grids=grids)

    def _rate(self) -> str:
        days = self.numbers.get("break_even_days")
        if days is None:
            return "the rate of queries is unknown"
        return f"{json_number(days):,.2f} days at the observed rate"

    def in_a_line(self) -> str:
        """As one of many."""
        done = _OF_REPLICAS.get(self.code, "rewritten") if self.acted else "left alone"
        again = f" ({self.repeated + 1} times)" if self.repeated else ""
        return f"{self.time[:19].replace('T', ' ')} {done}{again}: {self.sentence} [{self.code}]"


def save_decision(store: FileStore, decision: Decision) -> Decision:
    """Add a decision to the log and return it as it was written."""
    names = _names(store)
    last = _read(store, names[-1]) if names else None
    surplus = names[: max(0, len(names) + 1 - MOST_DECISIONS)]
    if last is not None and not decision.acted and not last.acted and last.code == decision.code:
        decision = replace(decision, repeated=last.repeated + 1)
        surplus = [*surplus, names[-1]]
    moment = re.sub(r"[^0-9T]", "", decision.time.partition("+")[0].replace(".", ""))
    data = json.dumps(decision.to_dict()).encode()
    written = f"{moment:0<21}Z-{digest_of(data)}.json"
    store.write(f"{DECISIONS}/{written}", data)
    for name in dict.fromkeys(each for each in surplus if each != written):
        store.delete(f"{DECISIONS}/{name}")
    return decision


def load_decisions(store: FileStore, most: int = MOST_DECISIONS) -> tuple[Decision, ...]:
    """The newest decisions, oldest first; a file that cannot be read is left out."""
    found = [_read(store, name) for name in _names(store)[-most:]]
    return tuple(decision for decision in found if decision is not None)


def _names(store: FileStore) -> list[str]:
    return sorted(name for name in store.names(DECISIONS) if _NAME.fullmatch(name))


def _read(store: FileStore, name: str) -> Decision | None:
    found = _NAME.fullmatch(name)
    try:
        data = store.read(f"{DECISIONS}/{name}")
        if found is None or found["digest"] not in (None, digest_of(data)):
            return None
        return _checked(Decision(**json.loads(data)))
    except (ValueError, TypeError, RecursionError, SkipstoneError):  # it may just have been deleted
        return None


def _checked(decision: Decision) -> Decision:
    """The decision, if each of its fields is what it should be."""
    texts = (decision.time, decision.code, decision.sentence)
    if not all(isinstance(text, str) for text in texts) or type(decision.acted) is not bool:
        raise TypeError
    if not isinstance(decision.numbers, dict) or type(decision.repeated) is not int:
        raise TypeError
    if datetime.fromisoformat(decision.time).tzinfo is None:
        raise ValueError
    return decision
