"""Timelines: inserts and scans in the order in which they happen, recorded or generated.

A recorded timeline is a JSON Lines file, each line with a ``timestamp`` and either ``sql``, a query as a log
has it, or ``batch``, the path of inserted rows as Parquet, relative to the file.

A generated one follows a few templates, the first asked most, with filters that minima and maxima of columns
say little about: map extractors, date functions, casts, LIKE on texts short and long. As in
Self-organising layouts for Delta (thesis), section 6.1, not whole queries are replayed but their scans: each
reads some columns of the rows that satisfy its filter and reduces them to a count and a hash, by which
results can be compared. Constants are skewed (Zipf). With drift, other constants and templates are hot in
the second half.

>>> events = generated(batches=2, scans=3)
>>> [type(event).__name__ for event in events]
['Insert', 'Scan', 'Insert', 'Scan', 'Scan']
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from benchmarks.replay.orders import COUNTRIES, COURIERS, REQUESTS, THINGS
from benchmarks.tpch.queries import Draw
from skipstone.errors import SkipstoneError

__all__ = ["TABLE", "TEMPLATES", "Event", "Insert", "Scan", "generated", "recorded", "scans_of"]

TABLE = "orders"
ZIPF_FACTOR = 1.5
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Insert:
    """A batch of rows arrives; ``path`` is where a recorded one lies."""

    batch: int
    path: str = ""


@dataclass(frozen=True, slots=True)
class Scan:
    """A query; ``template`` is what it was generated from."""

    sql: str
    template: str = ""


Event = Insert | Scan


class _Constants:
    """Draws constants, the first ones preferred; after the drift those from the middle on."""

    def __init__(self, random: Random, drifted: bool) -> None:
        self._draw = Draw(random, ZIPF_FACTOR)
        self._drifted = drifted

    def one_of(self, values: Sequence[_T]) -> _T:
        half = len(values) // 2 if self._drifted else 0
        return self._draw.one_of((*values[half:], *values[:half]))


def _month(constants: _Constants) -> date:
    """A month of the two years, the newest preferred."""
    number = constants.one_of(range(23, -1, -1))
    return date(2024 + number // 12, number % 12 + 1, 1)


def _courier(constants: _Constants) -> str:
    first = _month(constants)
    last = (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
    courier = constants.one_of(COURIERS)
    return f"attrs['courier'] = '{courier}' AND placed_on BETWEEN DATE'{first}' AND DATE'{last}'"


def _month_functions(constants: _Constants) -> str:
    asked = _month(constants)
    return f"year(placed_on) = {asked.year} AND month(placed_on) = {asked.month}"


def _weight(constants: _Constants) -> str:
    return f"CAST(attrs['weight'] AS INT) >= {constants.one_of(range(28, 22, -1))}"


def _product(constants: _Constants) -> str:
    return f"product LIKE '%{constants.one_of(THINGS)}%' AND country = '{constants.one_of(COUNTRIES)}'"


def _request(constants: _Constants) -> str:
    return f"remarks LIKE '%{constants.one_of(REQUESTS)}%'"


@dataclass(frozen=True, slots=True)
class _Template:
    """How often something is asked, which columns it reads besides those of its filter, and the filter."""

    share: float
    reads: str
    where: Callable[[_Constants], str]


_WIDE = (
    "order_id, customer_id, country, city, product, price, status, delivered_on, map_values(attrs), remarks"
)
_NARROW = "order_id, price"
TEMPLATES: dict[str, _Template] = {
    "request": _Template(0.30, _WIDE, _request),
    "courier": _Template(0.25, _WIDE, _courier),
    "month": _Template(0.20, _WIDE, _month_functions),
    "product": _Template(0.15, _WIDE, _product),
    "weight": _Template(0.10, _NARROW, _weight),
}


def generated(batches: int, scans: int, seed: int = 0, drift: bool = False) -> tuple[Event, ...]:
    """So many batches, with so many scans spread evenly between them."""
    if batches < 1 or scans < 1:
        raise SkipstoneError("A timeline needs at least one batch and one scan.")
    random = Random(seed)
    events: list[Event] = []
    for batch in range(batches):
        events.append(Insert(batch))
        drifted = drift and 2 * batch >= batches
        count = (batch + 1) * scans // batches - batch * scans // batches
        events += [_scan(random, drifted) for _ in range(count)]
    return tuple(events)


def _scan(random: Random, drifted: bool) -> Scan:
    shares = [template.share for template in TEMPLATES.values()]
    name = random.choices(list(TEMPLATES), shares[::-1] if drifted else shares)[0]
    template = TEMPLATES[name]
    where = template.where(_Constants(random, drifted))
    return Scan(f"SELECT count(*), bit_xor(xxhash64({template.reads})) FROM {TABLE} WHERE {where}", name)


def recorded(path: str | Path) -> tuple[Event, ...]:
    """The events of a file in the order of their time; of events at one time, in the order of the lines."""
    file = Path(path)
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as problem:
        raise SkipstoneError(f"The timeline {file} cannot be read ({problem.strerror}).") from problem
    found = [_recorded(file, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    ordered = [event for _, event in sorted(found, key=lambda pair: pair[0])]
    if not ordered or not isinstance(ordered[0], Insert) or not scans_of(ordered):
        raise SkipstoneError(f"The timeline {file} must begin with a batch and have at least one query.")
    batches = iter(range(len(ordered)))
    return tuple(Insert(next(batches), each.path) if isinstance(each, Insert) else each for each in ordered)


def _recorded(file: Path, number: int, line: str) -> tuple[datetime, Event]:
    try:
        content: dict[str, Any] = json.loads(line)
        moment = datetime.fromisoformat(str(content["timestamp"]))
        event: Event = (
            Scan(str(content["sql"])) if "sql" in content else Insert(0, str(file.parent / content["batch"]))
        )
    except (ValueError, KeyError, TypeError) as problem:
        raise SkipstoneError(
            f"Line {number} of {file} is no event: it needs a timestamp in ISO 8601, and sql or batch."
        ) from problem
    return _utc(moment), event


def _utc(moment: datetime) -> datetime:
    """Without a time zone, so that moments with and without one can be compared."""
    return (moment - (moment.utcoffset() or timedelta())).replace(tzinfo=None)


def scans_of(events: Sequence[Event]) -> tuple[Scan, ...]:
    """The scans alone."""
    return tuple(event for event in events if isinstance(event, Scan))
