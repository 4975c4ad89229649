"""Logged SQL through Catalyst: the filters and columns that reach each table.

Every statement is parsed, analysed and optimised, never run, in a copy of the user's session in which the
tables are empty relations of the right schema. So logged and live predicates go the same way and have one
normal form, and whatever Catalyst does to joins, subqueries, common table expressions and views is done.
Of a statement that changes something, only the part that reads is looked at: the query of an INSERT, the
rows that a DELETE looks for. A statement without such a part is left out, and not even analysed.

The copy has the user's temporary views, functions and settings; the session itself is left alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from skipstone.catalog.column_names import ColumnNames
from skipstone.errors import SkipstoneError
from skipstone.predicate.expr import And, Expr, Literal
from skipstone.predicate.types import BOOLEAN
from skipstone.progress import Progress
from skipstone.spark.bridge.catalyst import TreeJson, expr_from_catalyst
from skipstone.spark.bridge.janino import load_class, new_instance
from skipstone.spark.bridge.jvm import JavaObject, java_array
from skipstone.spark.bridge.partners import JoinedTable, PartnerJson, partner_filters
from skipstone.spark.bridge.query_text import not_a_query
from skipstone.spark.bridge.runtime import runtime_of
from skipstone.spark.delta_settings import has_delta
from skipstone.spark.failures import SPARK_FAILURES
from skipstone.workload.queries import (
    BrokenQuery,
    LeftOut,
    ParsedQuery,
    ParsedWorkload,
    Query,
    TableScan,
    Workload,
)
from skipstone.workload.table_names import quoted, replace_name, same_ending

__all__ = ["QueryParser", "TableSource", "TreeOfJoinsJson", "TreesJson", "parse_queries"]

_MARK = "skipstone.table"


@dataclass(frozen=True, slots=True)
class TableSource:
    """What a query may mean by a table: its schema as JSON, and the path it lies at, where known.

    For Delta give the log's own schema, which has the physical names of its columns.
    """

    schema: str
    path: str | None = None


@dataclass(frozen=True, slots=True)
class _Understood:
    """The scans of a statement; if it has none, the reason."""

    scans: tuple[TableScan, ...]
    reason: str
    broken: bool = False


def parse_queries(
    spark: SparkSession,
    workload: Workload,
    tables: Mapping[str, TableSource | StructType | DataFrame],
    views: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> ParsedWorkload:
    """The scans of ``tables`` that a workload makes; ``tables`` are keyed by what the queries call them.

    ``views`` maps further names to the queries behind them, in an order in which they can be made.
    """
    parser = QueryParser(spark, tables, views)
    parsed: list[ParsedQuery] = []
    unusable: list[BrokenQuery] = list(workload.broken)
    for index, query in enumerate(workload.queries):
        if progress is not None:
            progress("parsing queries", index, len(workload.queries))
        result = parser.parse(query)
        if isinstance(result, BrokenQuery):
            unusable.append(result)
        else:
            parsed.append(result)
    return ParsedWorkload(tuple(parsed), tuple(sorted(unusable, key=lambda broken: broken.position)))


class _FoundScan(TypedDict):
    """A scan as ``QueryScans.java`` writes it: of a known table, or of a relation with paths or a name."""

    table: NotRequired[str]
    name: NotRequired[str]
    paths: list[str]
    filters: list[TreeJson]
    columns: list[str]
    partners: list[PartnerJson]


class TreeOfJoinsJson(TypedDict):
    """Inner joins as ``JoinTrees.java`` writes them; tables are numbers."""

    tables: list[int]
    columns: list[list[str]]
    equal: list[tuple[int, str, int, str]]
    filters: list[TreeJson]


class TreesJson(TypedDict):
    """The inner joins of a statement, and the roots of their tables."""

    tables: list[str]
    trees: list[TreeOfJoinsJson]


class _Answer(TypedDict, total=False):
    """What ``QueryScans.java`` answers: one of these; ``tables`` and ``trees`` together."""

    error: str
    other: str
    qualified: list[list[str]]
    scans: list[_FoundScan]
    tables: list[str]
    trees: list[TreeOfJoinsJson]


class QueryParser:
    """A copy of a session that knows some tables; parses one statement after the other."""

    def __init__(
        self,
        spark: SparkSession,
        tables: Mapping[str, TableSource | StructType | DataFrame],
        views: Mapping[str, str] | None = None,
    ) -> None:
        """Copy the session and make the tables and views known in it."""
        constructor = load_class(spark, "QueryScans").getConstructors()[0]
        self._scans: JavaObject = constructor.newInstance(
            java_array(spark._sc._gateway, spark._jsparkSession)
        )
        self._sources = {name: _source(table) for name, table in tables.items()}
        self._names = {name: ColumnNames.from_schema(source.schema) for name, source in self._sources.items()}
        self._views = _view_names(self._sources)
        self._bound = runtime_of(spark).names
        self._seen: dict[str, _Understood] = {}
        self._spark = spark
        self._joined: dict[str, JoinedTable | None] = {}
        for name, source in self._sources.items():
            self._scans.addTable(self._views[name], _marked(source.schema, name))
        for name, text in (views or {}).items():
            self._add_view(name, text)

    def _add_view(self, name: str, text: str) -> None:
        try:
            other = self._scans.addView(name.rsplit(".", 1)[-1], self._with_known_names(text))
        except Exception as error:
            raise SkipstoneError(f"The view {name} cannot be used: {_sentence(str(error))}.") from error
        if other is not None:
            raise SkipstoneError(f"The view {name} cannot be used: {not_a_query(other)}.")

    def parse(self, query: Query) -> ParsedQuery | BrokenQuery:
        """The query's scans of the known tables, or why there are none."""
        if query.sql not in self._seen:
            self._seen[query.sql] = self._understood(query.sql)
        found = self._seen[query.sql]
        if found.scans:
            return ParsedQuery(query, found.scans)
        kind = BrokenQuery if found.broken else LeftOut
        return kind(query.sql, found.reason, query.position, query.line, query.file)

    def _understood(self, sql: str) -> _Understood:
        answer = self._answer(sql, self._scans.scans)
        if "error" in answer:
            return _Understood((), _sentence(answer["error"]), broken=True)
        if "other" in answer:
            return _Understood((), not_a_query(answer["other"]))
        scans = tuple(scan for found in answer["scans"] if (scan := self._scan(found)) is not None)
        one = next(iter(self._sources)) if len(self._sources) == 1 else ""
        return _Understood(scans, f"it does not read {one}" if one else "it reads none of the given tables")

    def joins(self, sql: str) -> TreesJson | str:
        """The inner joins of a statement; or the sentence that says why nothing is known of them."""
        answer = self._answer(sql, self._scans.joins)
        if "error" in answer:
            return _sentence(answer["error"])
        if "other" in answer:
            return not_a_query(answer["other"])
        return {"tables": answer["tables"], "trees": answer["trees"]}

    def _answer(self, sql: str, ask: JavaObject) -> _Answer:
        answer: _Answer = json.loads(ask(sql, True))
        if "qualified" in answer:
            answer = json.loads(ask(self._renamed(sql, answer["qualified"]), False))
        return answer

    def _with_known_names(self, sql: str) -> str:
        return self._renamed(sql, json.loads(self._scans.scans(sql, True)).get("qualified", ()))

    def _renamed(self, sql: str, qualified: Iterable[Sequence[str]]) -> str:
        """Put our views' names where a statement has qualified names of known tables."""
        for parts in qualified:
            name = self._table_called(parts)
            if name is not None:
                sql = replace_name(sql, parts, self._views[name])
            elif view := self._bound.get(tuple(part.lower() for part in parts)):
                sql = replace_name(sql, parts, view)
            elif self._scans.isViewAlone(parts[-1], ".".join(quoted(part) for part in parts)):
                # A further table that the user named: a log calls it by its name in a catalog.
                sql = replace_name(sql, parts, parts[-1])
        return sql

    def _table_called(self, parts: Sequence[str]) -> str | None:
        """The table that a name of several parts means: the one with the same last parts, if only one has."""
        wanted = [part.lower() for part in parts]
        by_path = [name for name, source in self._sources.items() if _same_path(parts[-1], source.path)]
        by_name = [name for name in self._sources if same_ending(name.lower().split("."), wanted)]
        candidates = by_path or by_name
        return candidates[0] if len(candidates) == 1 else None

    def _scan(self, found: _FoundScan) -> TableScan | None:
        table = found.get("table") or self._table_of_relation(found)
        if table is None:
            return None
        names = self._names[table]
        filters = [expr_from_catalyst(tree, names) for tree in found["filters"]]
        filters += partner_filters(found["partners"], names, self._joined_table)
        columns = tuple(names.resolve((), column).path[0] for column in found["columns"])
        return TableScan(table, _conjunction(filters), columns)

    def _joined_table(self, found: PartnerJson) -> JoinedTable | None:
        """A table that is joined: a known one, or a Delta table at the path that the statement means."""
        table = found["table"]
        if table not in self._joined:
            source = self._sources.get(table)
            root = table if source is None else source.path
            self._joined[table] = None if root is None else _delta_table(self._spark, root)
        return self._joined[table]

    def _table_of_relation(self, found: _FoundScan) -> str | None:
        for name, source in self._sources.items():
            if any(_same_path(path, source.path) for path in found["paths"]):
                return name
        return self._table_called(found["name"].split(".")) if "name" in found else None


def _delta_table(spark: SparkSession, path: str) -> JoinedTable | None:
    """A Delta table; None if there is none, or it cannot be read."""
    if not has_delta(spark):
        return None
    try:
        frame = spark.read.format("delta").load(path)
        handle = new_instance(spark, "SkipstoneDeltaOpener").open(frame._jdf)
    except SPARK_FAILURES:
        return None
    return None if handle is None else JoinedTable(handle.root(), ColumnNames.from_schema(handle.schema()))


def _source(table: TableSource | StructType | DataFrame) -> TableSource:
    if isinstance(table, TableSource):
        return table
    schema = table if isinstance(table, StructType) else table.schema
    return TableSource(schema.json())


def _view_names(names: Iterable[str]) -> dict[str, str]:
    """One plain name per table: the last part of its own, unless two tables share that."""
    out: dict[str, str] = {}
    for name in names:
        last = name.rsplit(".", 1)[-1]
        taken = {view.lower() for view in out.values()}
        out[name] = last if last.lower() not in taken else name.replace(".", "__")
    return out


def _marked(schema: str, table: str) -> str:
    described = json.loads(schema)
    for field in described["fields"]:
        field["metadata"] = {**(field.get("metadata") or {}), _MARK: table}
    return json.dumps(described)


def _same_path(left: str, right: str | None) -> bool:
    return right is not None and _plain_path(left) == _plain_path(right)


def _plain_path(path: str) -> str:
    return re.sub(r"^file:/+", "/", path).rstrip("/")


def _conjunction(parts: Sequence[Expr]) -> Expr:
    if not parts:
        return Literal(True, BOOLEAN)
    flat = [arg for part in parts for arg in (part.args if isinstance(part, And) else (part,))]
    return And(tuple(flat)) if len(flat) > 1 else flat[0]


def _sentence(message: str) -> str:
    """The first line of one of Spark's messages, without its codes."""
    first = message.strip().splitlines()[0]
    plain = re.sub(r"\s*SQLSTATE: \w+.*$|^\[[A-Z_.0-9]+\]\s*", "", re.sub(r"^\[[A-Z_.0-9]+\]\s*", "", first))
    return plain.rstrip(" .;:")
