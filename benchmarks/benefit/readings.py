"""The generated table of the grid, readings of stations, and the workload on it.

As in Self-organising layouts for Delta (thesis), table 5.1: a table of eight columns, numbers and texts, and
a workload that compares three columns with many constants and asks twelve predicates that minima and maxima
do not answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from skipstone.spark import DataFrame, SparkSession

__all__ = ["RANGES", "SOP", "TABLE", "Asked", "Z", "readings", "workload"]

TABLE = "readings"
Z = ("station", "level", "code")
"""Columns that are compared with many constants."""
_COLOURS = ("amber", "black", "green", "white")
_WORDS = tuple(
    f"{colour} {wood}" for wood in ("ash", "birch", "cedar", "elm", "fir", "oak") for colour in _COLOURS
)
_NOTES = ("leak", "noise", "spike")
SOP = (
    *(f"label LIKE '%{word}%'" for word in _WORDS[:6]),
    *(f"note LIKE '%{word}%'" for word in _NOTES),
    "level > 60 * amount",
    "amount > 4 * level",
    "amount % 40 = 7 OR label LIKE '%white oak%' AND station < 50",
)
"""Predicates that are always the same."""
RANGES = 16
_DAYS = 400


def readings(spark: SparkSession, rows: int, seed: int = 0) -> DataFrame:
    """Eight columns, of which only the day goes with the order of arrival."""
    dice = [f"pmod(xxhash64(id, {8 * seed + index}), 1000003) / 1000003D AS d{index}" for index in range(8)]
    word = f"array({', '.join(repr(word) for word in _WORDS)})"
    note = f"array({', '.join(repr(note) for note in _NOTES)})"
    pairs = [f"{word}[CAST(d{index} * {len(_WORDS)} AS INT)]" for index in (4, 5)]
    return (
        spark.range(0, rows, 1, 16)
        .selectExpr("id", *dice)
        .selectExpr(
            "id",
            f"date_add(DATE'2024-01-01', CAST((id + d0 * {rows} / 20) * {_DAYS} / {rows} AS INT)) AS day",
            "CAST(d1 * d1 * 1000 AS INT) AS station",
            "CAST(d2 * 10000 AS INT) AS level",
            "lpad(hex(CAST(d3 * 65535 AS INT)), 4, '0') AS code",
            f"concat_ws(', ', {pairs[0]}, {pairs[1]}) AS label",
            f"IF(d6 < 0.12, concat('see ', {note}[CAST(d6 * 25 AS INT)], ' below'), 'ok') AS note",
            "CAST(d7 * 5000 AS INT) AS amount",
        )
    )


@dataclass(frozen=True, slots=True)
class Asked:
    """A query of the grid's workload; ``feature`` is the index of what it asks, ``kind`` z, sop or other."""

    where: str
    kind: str
    feature: int
    count: int = 1

    @property
    def sql(self) -> str:
        """All columns are read, so that the bytes of files are those of the columns."""
        return f"SELECT * FROM {TABLE} WHERE {self.where}"


def workload(seed: int = 0, ranges: int = RANGES) -> tuple[Asked, ...]:
    """Ranges of each Z column, every SOP predicate, and ranges of days."""
    random = Random(seed)
    found = []
    for _ in range(ranges):
        station, level, code = (
            random.randrange(0, 980),
            random.randrange(0, 9_500),
            random.randrange(0, 62_000),
        )
        first = f"DATE'2024-01-01' + INTERVAL '{random.randrange(0, _DAYS - 20)}' DAY"
        found += [
            Asked(f"station BETWEEN {station} AND {station + 20}", "z", 0),
            Asked(f"level BETWEEN {level} AND {level + 500}", "z", 1),
            Asked(f"code >= '{code:04X}' AND code < '{code + 3_500:04X}'", "z", 2),
            Asked(f"day BETWEEN {first} AND {first} + INTERVAL '10' DAY", "other", 0),
        ]
    return (*found, *(Asked(where, "sop", index, ranges // 3) for index, where in enumerate(SOP)))
