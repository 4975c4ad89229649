"""Join-induced predicates evaluated by Spark: through the join, as one boolean column for each.

A predicate says that some row of another table has a row's key and satisfies a condition. The other table's
rows become words of bits, one bit for each condition; they are reduced to one row for each key, OR-ing the
words, and joined to the rows that are looked at. Keys are distinct by then, so every row stays exactly once,
and a row without a partner has no bit. However many predicates there are about one table and key, there is
one join.

Conditions are evaluated on rows that no query may ever have seen, so only such are used as cannot fail.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import and_
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from skipstone.catalog.column_names import quoted
from skipstone.catalog.logical_names import LogicalNames
from skipstone.errors import SkipstoneError
from skipstone.predicate.codec import fingerprint
from skipstone.predicate.expr import Call, Expr, Literal, columns_of, walk
from skipstone.predicate.normalize import conjuncts, normalize_filter
from skipstone.predicate.partner import (
    Partner,
    bound,
    partner_of,
    partners_in,
    states_in,
    unbound,
    with_flags,
)
from skipstone.predicate.render import to_sql, unwritable
from skipstone.predicate.types import BOOLEAN
from skipstone.pruning.blocks import Counts, Feature
from skipstone.spark.bridge.read_back import Unreadable, read_back
from skipstone.spark.engine.engine import Engine
from skipstone.spark.engine.job_settings import DRAWN, WIDE
from skipstone.spark.engine.open_table import OpenTable, open_table
from skipstone.spark.failures import SPARK_FAILURES, reason_of

__all__ = ["JoinedTables", "joined_bits", "packed_bits_sql"]

LOG = logging.getLogger("skipstone")
_WORD_BITS = 62
_BROADCAST_BYTES = 128 << 20
_FILE = "__skipstone_file"
_CANNOT_FAIL = {
    *("substring", "lower", "upper", "length", "year", "month", "quarter", "day_of_month", "string_trim"),
    *("literal", "partner"),
}


def packed_bits_sql(texts: Sequence[str]) -> list[str]:
    """SQL of 64-bit words with one bit per condition, set where it is TRUE.

    Bits are put together by subtracting negative ones. Of a chain of additions or of ORs, Catalyst would keep
    the list of all operands at every link, for comparing them in any order: gigabytes for some plans.
    """
    words = []
    for start in range(0, len(texts), _WORD_BITS):
        bits = [
            f"IF(coalesce({text}, false), {-(1 << bit)}L, 0L)"
            for bit, text in enumerate(texts[start : start + _WORD_BITS])
        ]
        words.append(f"0L - {' - '.join(bits)}")
    return words


@dataclass(slots=True, eq=False)
class JoinedTables:
    """The tables that predicates are about through joins, each opened once, at one version."""

    engine: Engine
    _opened: dict[str, OpenTable] = field(default_factory=dict)

    def open(self, root: str) -> OpenTable:
        """The table at a root, as it was when it was first asked for."""
        if root not in self._opened:
            spark = self.engine.spark
            try:
                frame = spark.read.format("delta").load(root)
            except SPARK_FAILURES as problem:
                raise SkipstoneError(f"{root} cannot be read ({reason_of(problem)})") from problem
            found = open_table(self.engine, frame, root)
            if not found.snapshot.is_delta or found.root != root:
                raise SkipstoneError(f"{root} is no Delta table")
            self._opened[root] = found
        return self._opened[root]

    def bound(self, expr: Expr) -> Expr:
        """The expression about the tables as they are now."""
        return bound(expr, {root: self.state(root) for root in states_in(expr)})

    def state(self, root: str) -> str:
        """What identifies the rows of a table as it is now."""
        return str(self.open(root).jvm_files.state())

    def is_current(self, expr: Expr) -> bool:
        """Whether an expression is about the tables as they are now."""
        try:
            return all(states == {self.state(root)} for root, states in states_in(expr).items())
        except SkipstoneError:  # there is no such table any more
            return False

    def problems(self, predicates: Iterable[Expr]) -> dict[Expr, str]:
        """Which predicates cannot be evaluated through joins, and why."""
        found = {}
        for predicate in predicates:
            why = next((why for call in partners_in(predicate) if (why := self._problem(call))), "")
            if not _cannot_fail(predicate):
                why = f"{to_sql(predicate)} may fail on some row"
            if why:
                found[predicate] = why
        return found

    def _problem(self, call: Call) -> str:
        partner = partner_of(call)
        assert partner is not None
        try:
            other = self.open(partner.table)
        except SkipstoneError as problem:
            return str(problem)
        parts = conjuncts(partner.where)
        nested = [part for part in parts if partner_of(part) is not None]
        plain = [part for part in parts if partner_of(part) is None]
        for part in plain:
            if partners_in(part) or not _cannot_fail(part):
                return f"{to_sql(part)} may fail on some row of {partner.table}"
            if unwritable(part) is not None:
                return f"SQL cannot say {to_sql(part)}"
        names = other.snapshot.logical_names
        try:
            texts = [names.sql(part) for part in (*plain, *partner.table_keys)]
        except KeyError:
            return f"{partner.table} has other columns now"
        for part, read in zip(
            (*plain, *partner.table_keys),
            read_back(other.no_rows(), other.snapshot.schema, texts),
            strict=True,
        ):
            if isinstance(read, Unreadable):
                return read.reason
            if normalize_filter(read) != part:
                return f"Spark reads {to_sql(part)} as {to_sql(read)}"
        return next((why for part in nested if isinstance(part, Call) and (why := self._problem(part))), "")

    def with_flags(self, frame: DataFrame, names: LogicalNames, exprs: Iterable[Expr]) -> DataFrame:
        """The frame with a column for each join-induced predicate of the expressions; all its rows, once."""
        calls = dict.fromkeys(call for expr in exprs for call in partners_in(unbound(expr)))
        groups: dict[tuple[object, ...], list[Partner]] = {}
        for call in calls:
            partner = partner_of(call)
            assert partner is not None
            groups.setdefault(partner.join, []).append(partner)
        for members in groups.values():
            frame = self._joined(frame, names, members)
        return frame

    def _joined(self, frame: DataFrame, names: LogicalNames, members: Sequence[Partner]) -> DataFrame:
        first = members[0]
        other = self.open(first.table)
        prefix = f"__skipstone_{fingerprint(replace(first, where=Literal(True, BOOLEAN)).call)}_"
        keys = [f"{prefix}k{index}" for index in range(len(first.keys))]
        flags = self._flagged(frame, other, members, prefix)
        words = [name for name in flags.columns if name not in keys]
        pairs = (F.expr(names.sql(own)) == F.col(key) for own, key in zip(first.keys, keys, strict=True))
        joined = frame.join(flags, reduce(and_, pairs), "left")
        found = {}
        for index, member in enumerate(members):
            word, bit = words[index // _WORD_BITS], 1 << (index % _WORD_BITS)
            (flag,) = columns_of(with_flags(member.call))
            found[flag.path[0]] = F.expr(f"coalesce(({word} & {bit}L) != 0L, false)")
        return joined.withColumns(found).drop(*keys, *words)

    def _flagged(
        self, frame: DataFrame, other: OpenTable, members: Sequence[Partner], prefix: str
    ) -> DataFrame:
        """One row for each key that some condition holds for, with the words of bits of all its rows."""
        names = other.snapshot.logical_names
        wheres = [member.where for member in members]
        rows = self.with_flags(other.live(other.file_indices, frame.sparkSession), names, wheres)
        keys = [
            F.expr(names.sql(key)).alias(f"{prefix}k{index}")
            for index, key in enumerate(members[0].table_keys)
        ]
        texts = packed_bits_sql([names.sql(where) for where in wheres])
        words = [f"{prefix}w{index}" for index in range(len(texts))]
        each = rows.select(
            *keys, *(F.expr(text).alias(word) for text, word in zip(texts, words, strict=True))
        )
        keyed = each.dropna(subset=each.columns[: len(keys)]).groupBy(*each.columns[: len(keys)])
        # Asked of the rows before, this would repeat all conditions in a filter.
        found = keyed.agg(*(F.bit_or(word).alias(word) for word in words)).where(
            " OR ".join(f"{word} != 0L" for word in words)
        )
        return F.broadcast(found) if other.files.bytes <= _BROADCAST_BYTES else found


def joined_bits(
    table: OpenTable, chosen: Counts, features: Sequence[Feature]
) -> tuple[tuple[Feature, ...], np.ndarray, np.ndarray]:
    """The features about the joined tables as they are now, which files have each, and if that is known.

    Rows behind deletion vectors are counted in, as for all statistics.
    """
    if not features or not len(chosen):
        return (), np.zeros((len(chosen), 0), np.bool_), np.zeros((len(chosen), 0), np.bool_)
    joined = JoinedTables(table.engine)
    for feature in features:
        for why in joined.problems([feature.predicate]).values():
            raise SkipstoneError(f"The feature {feature.text} cannot be kept: {why}.")
    wanted = [unbound(feature.predicate) for feature in features]
    names = table.snapshot.logical_names
    session = table.engine.session({**DRAWN, **WIDE, "spark.skipstone.enabled": "false"})
    frame = table.frame(chosen, session)
    needed = dict.fromkeys(name for expr in wanted for name in names.top_level(expr))
    file = frame.metadataColumn("_metadata")["file_path"].alias(_FILE)
    rows = joined.with_flags(frame.select(*map(quoted, needed), file), names, wanted)
    words = packed_bits_sql([names.sql(expr) for expr in wanted])
    found: pa.Table = (
        rows.select(_FILE, *(F.expr(word).alias(f"w{index}") for index, word in enumerate(words)))
        .groupBy(_FILE)
        .agg(*(F.bit_or(f"w{index}").alias(f"w{index}") for index in range(len(words))))
        .toArrow()
    )
    bits, known = _by_file(table, chosen, found, len(features))
    now = tuple(
        Feature(joined.bound(expr), feature.text) for expr, feature in zip(wanted, features, strict=True)
    )
    return now, bits, known


def _by_file(
    table: OpenTable, chosen: Counts, found: pa.Table, features: int
) -> tuple[np.ndarray, np.ndarray]:
    """The bits in the order of the files; of a file that is not found for sure none is known."""
    places: dict[str, list[int]] = {}
    for place, index in enumerate(chosen.tolist()):
        places.setdefault(_plain(table.snapshot.locations[index]), []).append(place)
    bits = np.zeros((len(chosen), features), np.bool_)
    times = np.zeros(len(chosen), np.int64)
    words = [
        found[f"w{index}"].combine_chunks().to_numpy(zero_copy_only=False)
        for index in range(found.num_columns - 1)
    ]
    for row, path in enumerate(found[_FILE].to_pylist()):
        for place in places.get(_plain(path), ()):
            times[place] += 1
            bits[place] |= [
                bool((int(words[each // _WORD_BITS][row]) >> (each % _WORD_BITS)) & 1)
                for each in range(features)
            ]
    alone = np.array([len(places[_plain(table.snapshot.locations[index])]) == 1 for index in chosen.tolist()])
    known = (times == 1) & alone
    return bits, np.repeat(known[:, None], features, axis=1)


def _plain(path: str) -> str:
    """A path whatever way it is written in."""
    plain = unquote(path)
    return "/" + plain.removeprefix("file:").lstrip("/") if plain.startswith("file:") else plain


def _cannot_fail(expr: Expr) -> bool:
    """Whether a condition has a value on every row."""
    return all(node.name in _CANNOT_FAIL for node in walk(expr) if isinstance(node, Call))
