"""Joining the tables of a star by Spark: whether keys are unique, and the joined rows as a table.

A joined table's rows are joined to those of its parent by a left outer join on a unique key, so each row of
the table in the middle stays exactly once; a column says whether it has a partner. That rows were neither
lost nor doubled is checked by their number and by the hash of the columns of the table in the middle.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import and_

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegralType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from skipstone.catalog.column_names import quoted
from skipstone.catalog.joined_replicas import CoveredTable
from skipstone.errors import SkipstoneError
from skipstone.spark.engine.engine import Engine
from skipstone.spark.engine.job_settings import AUTO_COMPACT, EXACT
from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.engine.partners import JoinedTables
from skipstone.spark.engine.row_hash import RowHash, hash_of, hashes_of
from skipstone.spark.failures import SPARK_FAILURES, reason_of
from skipstone.workload.join_trees import Link, Star

__all__ = ["JoinedRows", "StarTables", "rows_of_joined", "write_joined"]

_PLAIN = (IntegralType, DecimalType, StringType, BinaryType, BooleanType, DateType)
_KEYS = (*_PLAIN, TimestampType, TimestampNTZType)
_VALUES = (*_KEYS, FloatType, DoubleType)
_OTHERWISE = ("skipstone.zoned", "__COLLATIONS", '": "char(')
"""What the metadata of columns have whose values depend on who reads them."""
_NEW = "spark.databricks.delta.properties.defaults."
_OWN_SETTINGS = {
    **EXACT,
    # All rows are wanted, in files of Delta's own choice.
    "spark.skipstone.enabled": "false",
    AUTO_COMPACT: "false",
    # Whatever new tables of the user are like: this one is rewritten, and has the names given here.
    f"{_NEW}appendOnly": "false",
    f"{_NEW}columnMapping.mode": "none",
}


@dataclass(slots=True, eq=False)
class StarTables:
    """The tables of a star, each opened once, at one version."""

    engine: Engine
    center: OpenTable
    session: SparkSession = field(init=False)
    _others: JoinedTables = field(init=False)

    def __post_init__(self) -> None:
        """Others are opened when they are asked for."""
        self.session = self.engine.session(_OWN_SETTINGS)
        self._others = JoinedTables(self.engine)

    def open(self, root: str) -> OpenTable:
        """The table at a root; a sentence if there is no Delta table."""
        return self.center if root == self.center.root else self._others.open(root)

    def frame(self, root: str) -> DataFrame:
        """All its rows, in a session where nothing else counts."""
        table = self.open(root)
        return table.live(table.file_indices, self.session)

    def problem_of(self, link: Link) -> str:
        """Why a table cannot be joined so; empty if its key is unique and of the types of what it equals."""
        try:
            types, own = self._types(link.parent), self._types(link.table)
        except SkipstoneError as problem:
            return str(problem).rstrip(".")
        for theirs, key in link.keys:
            left, right = types.get(theirs), own.get(key)
            if left is None or right is None:
                return f"{key} or {theirs} cannot be copied"
            if left != right or not _is_key(left):
                return f"{key} and {theirs} cannot be compared as keys"
        return self._duplicates(link)

    def _duplicates(self, link: Link) -> str:
        keys = [key for _, key in link.keys]
        known = reduce(and_, (F.col(quoted(key)).isNotNull() for key in keys))
        found = (
            self.frame(link.table)
            .where(known)
            .groupBy(*(F.col(quoted(key)) for key in keys))
            .agg(F.count(F.lit(1)).alias("__skipstone_rows"))
            .where("__skipstone_rows > 1")
            .first()
        )
        if found is None:
            return ""
        value = ", ".join(f"{key} = {found[index]}" for index, key in enumerate(keys))
        return f"its key is not unique: {found[len(keys)]:,} rows have {value}"

    def _types(self, root: str) -> dict[str, DataType]:
        return {column.name: column.dataType for column in self.copied_fields(root)}

    def copied_fields(self, root: str) -> Iterator[StructField]:
        """The columns whose values are the same wherever they are read from."""
        for column in StructType.fromJson(json.loads(self.open(root).snapshot.schema)):
            described = json.dumps(column.metadata or {})
            if _is_value(column.dataType) and not any(mark in described for mark in _OTHERWISE):
                yield column

    def covered(self, star: Star) -> tuple[CoveredTable, ...]:
        """Where each column of a star that is needed and can be copied is to be, without equal ones twice."""
        taken: set[str] = set()
        links = {link.table: link for link in star.links}
        covered: dict[str, CoveredTable] = {}
        for root in (star.center, *links):
            table, link = self.open(root), links.get(root)
            known = self._types(root)
            keys = {} if link is None else {own: theirs for theirs, own in link.keys}
            columns = {
                name: covered[link.parent].columns[keys[name]]
                if link is not None and name in keys
                else _new_name(name, root, taken)
                for name in dict.fromkeys((*keys, *star.columns[root]))
                if name in known
            }
            made = CoveredTable(root, table.state, columns)
            if link is not None:
                flag = _new_name(f"has_{_called(root)}", root, taken)
                made = replace(made, parent=link.parent, keys=link.keys, present=flag)
            covered[root] = made
        return tuple(covered.values())


@dataclass(frozen=True, slots=True, eq=False)
class JoinedRows:
    """Joined rows that were written; ``tables`` know where all rows have partners."""

    tables: tuple[CoveredTable, ...]
    rows: int


def write_joined(tables: StarTables, covered: tuple[CoveredTable, ...], root: str) -> JoinedRows:
    """Join the tables and write the rows as a Delta table; nothing is left if they are not right."""
    center = covered[0]
    frame = _selected(tables.frame(center.root), center.columns)
    before = hash_of(frame)
    for table in covered[1:]:
        frame = _joined(frame, tables.frame(table.root), table, _columns_of(covered, table.parent))
    try:
        frame.write.format("delta").mode("append").save(root)
        written = tables.session.read.format("delta").load(root)
        flags = [table.present for table in covered[1:]]
        partners = written.agg(*(F.count_if(F.col(quoted(flag))).alias(flag) for flag in flags)).first()
        (after,) = hashes_of(written, [list(center.columns.values())])
    except SPARK_FAILURES as problem:
        raise SkipstoneError(f"The tables cannot be joined ({reason_of(problem)}).") from problem
    if after != before:
        raise SkipstoneError(
            f"Joining {center.root} gave {after.rows:,} rows and not its {before.rows:,}, or others; nothing "
            "was kept."
        )
    assert partners is not None
    whole = [replace(table, always=partners[table.present] == before.rows) for table in covered[1:]]
    return JoinedRows((center, *whole), before.rows)


def rows_of_joined(table: OpenTable) -> RowHash:
    """Number and hash of all rows of a joined replica."""
    return hash_of(table.live(table.file_indices, table.engine.session(_OWN_SETTINGS)))


def _columns_of(covered: tuple[CoveredTable, ...], root: str) -> Mapping[str, str]:
    return next(table.columns for table in covered if table.root == root)


def _selected(frame: DataFrame, columns: Mapping[str, str]) -> DataFrame:
    """The columns under other names, without what the table says about them."""
    return frame.select(*(_plain(name, copy) for name, copy in columns.items()))


def _plain(name: str, alias: str) -> Column:
    """A column under another name; of an expression over it, nothing is known but its values."""
    return F.coalesce(F.col(quoted(name))).alias(alias)


def _joined(frame: DataFrame, other: DataFrame, table: CoveredTable, parent: Mapping[str, str]) -> DataFrame:
    own = {key for _, key in table.keys}
    values = {name: copy for name, copy in table.columns.items() if name not in own}
    keys = [f"__skipstone_key{number}" for number in range(len(table.keys))]
    side = other.select(
        *(_plain(key, alias) for (_, key), alias in zip(table.keys, keys, strict=True)),
        *(_plain(name, copy) for name, copy in values.items()),
        F.lit(True).alias(table.present),
    )
    same = [
        F.col(quoted(parent[theirs])) == F.col(quoted(alias))
        for (theirs, _), alias in zip(table.keys, keys, strict=True)
    ]
    joined = frame.join(side, reduce(and_, same), "left").drop(*keys)
    return joined.withColumn(table.present, F.coalesce(F.col(quoted(table.present)), F.lit(False)))


def _is_key(type_: DataType) -> bool:
    return isinstance(type_, _KEYS) and _is_value(type_)


def _is_value(type_: DataType) -> bool:
    """Whether values of a type are stored as they are, and compared in one way only."""
    if isinstance(type_, StringType):
        return type_.simpleString() == "string"
    match type_:
        case ArrayType():
            return _is_value(type_.elementType)
        case MapType():
            return _is_value(type_.keyType) and _is_value(type_.valueType)
        case StructType():
            return all(_is_value(inner.dataType) for inner in type_.fields)
    return isinstance(type_, _VALUES)


def _called(root: str) -> str:
    return root.rstrip("/").rpartition("/")[2]


def _new_name(name: str, root: str, taken: set[str]) -> str:
    """A column's name, with that of its table where another has it, in letters that any Delta table takes."""
    plain, longer = (re.sub(r"\W", "_", text) for text in (name, f"{_called(root)}_{name}"))
    wished = (plain, longer, *(f"{longer}{number}" for number in range(2, len(taken) + 3)))
    found = next(each for each in wished if each.lower() not in taken)
    taken.add(found.lower())
    return found
