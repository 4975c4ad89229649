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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import and_

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from skipstone.catalog.logical_names import LogicalNames
from skipstone.errors import SkipstoneError
from skipstone.predicate.codec import fingerprint
from skipstone.predicate.expr import Call, Column, Expr, Literal, columns_of, walk
from skipstone.predicate.joined_column import (
    column_bound,
    column_states,
    column_unbound,
    joined_column_of,
)
from skipstone.predicate.normalize import TRUE, conjuncts, normalize_filter
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
from skipstone.spark.bridge.read_back import Unreadable, read_back
from skipstone.spark.engine.column_ranges import ColumnRanges, column_of, range_words, ranges_of, word_names
from skipstone.spark.engine.engine import Engine
from skipstone.spark.engine.job_settings import DRAWN, WIDE
from skipstone.spark.engine.open_table import OpenTable, open_table
from skipstone.spark.failures import SPARK_FAILURES, reason_of

__all__ = ["WORD_BITS", "JoinedTables", "packed_bits_sql"]

LOG = logging.getLogger("skipstone")
WORD_BITS = 62
_BROADCAST_BYTES = 128 << 20
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
    for start in range(0, len(texts), WORD_BITS):
        bits = [
            f"IF(coalesce({text}, false), {-(1 << bit)}L, 0L)"
            for bit, text in enumerate(texts[start : start + WORD_BITS])
        ]
        words.append(f"0L - {' - '.join(bits)}")
    return words


Ranges = Mapping[Expr, ColumnRanges]
"""Of joined columns."""


@dataclass(frozen=True, slots=True)
class _Joined:
    """What is asked of one join: predicates, and joined columns, each with what it is in the other table."""

    link: Partner
    members: list[Partner] = field(default_factory=list)
    columns: dict[Expr, tuple[Expr, ColumnRanges]] = field(default_factory=dict)

    @property
    def further(self) -> dict[Expr, ColumnRanges]:
        """The columns of tables that the other table is joined to."""
        return {inner: known for inner, known in self.columns.values() if not isinstance(inner, Column)}

    @property
    def own(self) -> list[tuple[Expr, Column, ColumnRanges]]:
        """The columns of the other table itself."""
        return [
            (column, inner, known)
            for column, (inner, known) in self.columns.items()
            if isinstance(inner, Column)
        ]


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
        """Whether an expression or a joined column is about the tables as they are now."""
        try:
            found = states_in(expr) | column_states(expr)
            return all(states == {self.state(root)} for root, states in found.items())
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
        plain = [part for part in parts if partner_of(part) is None and part != TRUE]
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

    def column_bound(self, expr: Expr) -> Expr:
        """The joined column of the tables as they are now."""
        return column_bound(expr, {root: self.state(root) for root in column_states(expr)})

    def column_problem(self, expr: Expr) -> str:
        """Why the values of a joined column cannot be read; empty if they can."""
        found = joined_column_of(expr)
        if found is None:
            return f"{expr} is no column of a joined table"
        link, column = replace(found.link, where=TRUE), found.column
        if not isinstance(column, Column):
            return self._problem(link.call) or self.column_problem(column)
        # The column is read as the keys are.
        every = replace(link, keys=(*link.keys, link.keys[0]), table_keys=(*link.table_keys, column))
        return self._problem(every.call)

    def ranges(self, columns: Iterable[Expr]) -> dict[Expr, ColumnRanges]:
        """The ranges of joined columns, of those that have any."""
        wanted = {column: column_of(column) for column in columns}
        found: dict[tuple[str, Column], ColumnRanges] = {}
        for root in dict.fromkeys(root for root, _ in wanted.values()):
            other, some = self.open(root), dict.fromkeys(leaf for at, leaf in wanted.values() if at == root)
            rows = other.live(other.file_indices, self.engine.session({**DRAWN, **WIDE}))
            found |= {(root, leaf): it for leaf, it in ranges_of(other, rows, list(some)).items()}
        return {column: found[leaf] for column, leaf in wanted.items() if leaf in found}

    def with_flags(
        self,
        frame: DataFrame,
        names: LogicalNames,
        exprs: Iterable[Expr],
        ranges: Ranges | None = None,
    ) -> DataFrame:
        """The frame with a column for each join-induced predicate of the expressions; all its rows, once.

        Of joined columns, the keys of ``ranges``, there are the words of all partners' values.
        """
        calls = dict.fromkeys(call for expr in exprs for call in partners_in(unbound(expr)))
        groups: dict[tuple[object, ...], _Joined] = {}
        for call in calls:
            partner = partner_of(call)
            assert partner is not None
            groups.setdefault(partner.join, _Joined(partner)).members.append(partner)
        for column, known in (ranges or {}).items():
            found = joined_column_of(column_unbound(column))
            assert found is not None
            groups.setdefault(found.join, _Joined(found.link)).columns[column] = (found.column, known)
        for group in groups.values():
            frame = self._joined(frame, names, group)
        return frame

    def _joined(self, frame: DataFrame, names: LogicalNames, group: _Joined) -> DataFrame:
        first, members = group.link, group.members
        prefix = f"__skipstone_{fingerprint(replace(first, where=Literal(True, BOOLEAN)).call)}_"
        keys = [f"{prefix}k{index}" for index in range(len(first.keys))]
        flags = self._flagged(frame, group, prefix)
        words = [name for name in flags.columns if name.startswith(prefix) and name not in keys]
        pairs = (F.expr(names.sql(own)) == F.col(key) for own, key in zip(first.keys, keys, strict=True))
        joined = frame.join(flags, reduce(and_, pairs), "left")
        found = {}
        for index, member in enumerate(members):
            word, bit = words[index // WORD_BITS], 1 << (index % WORD_BITS)
            (flag,) = columns_of(with_flags(member.call))
            found[flag.path[0]] = F.expr(f"coalesce(({word} & {bit}L) != 0L, false)")
        return joined.withColumns(found).drop(*keys, *words)

    def _flagged(self, frame: DataFrame, group: _Joined, prefix: str) -> DataFrame:
        """One row for each key that some condition holds for, with the words of bits of all its rows."""
        other = self.open(group.link.table)
        names = other.snapshot.logical_names
        wheres = [member.where for member in group.members]
        live = other.live(other.file_indices, frame.sparkSession)
        rows = self.with_flags(live, names, wheres, group.further)
        rows = range_words(rows, names, group.own)
        keys = [
            F.expr(names.sql(key)).alias(f"{prefix}k{index}")
            for index, key in enumerate(group.link.table_keys)
        ]
        texts = packed_bits_sql([names.sql(where) for where in wheres])
        flags = [f"{prefix}w{index}" for index in range(len(texts))]
        values = [
            F.col(inside).alias(name)
            for column, (inner, known) in group.columns.items()
            for name, inside in zip(
                word_names(column, known),
                word_names(column if isinstance(inner, Column) else inner, known),
                strict=True,
            )
        ]
        each = rows.select(
            *keys, *(F.expr(text).alias(word) for text, word in zip(texts, flags, strict=True)), *values
        )
        words = each.columns[len(keys) :]
        keyed = each.dropna(subset=each.columns[: len(keys)]).groupBy(*each.columns[: len(keys)])
        # Asked of the rows before, this would repeat all conditions in a filter.
        found = keyed.agg(*(F.bit_or(word).alias(word) for word in words)).where(
            " OR ".join(f"{word} != 0L" for word in words)
        )
        return F.broadcast(found) if other.files.bytes <= _BROADCAST_BYTES else found


def _cannot_fail(expr: Expr) -> bool:
    """Whether a condition has a value on every row."""
    return all(node.name in _CANNOT_FAIL for node in walk(expr) if isinstance(node, Call))
