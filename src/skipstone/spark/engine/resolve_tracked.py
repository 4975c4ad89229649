"""What is tracked in statistics: the table's columns and the expressions and features that were asked for.

Each has two readings: Spark SQL text, by which it is computed, and our own expression, by which filters
find it. Both come from the same Catalyst expression, after the optimizer, as live filters do.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from pyspark.errors import PySparkException

from skipstone.catalog.column_names import ColumnNames, quoted
from skipstone.catalog.tracked import Tracked, TrackedSet
from skipstone.catalog.types_json import type_from_object
from skipstone.errors import SkipstoneError
from skipstone.json_types import JsonObject, json_list, json_object, json_text
from skipstone.predicate.expr import Call, Column, Expr, Opaque, columns_of, is_opaque, walk
from skipstone.predicate.implies import implies
from skipstone.predicate.joined_column import about_known_column, column_unbound, columns_asked
from skipstone.predicate.normalize import conjuncts, normalize
from skipstone.predicate.partner import partners_in, unbound
from skipstone.predicate.render import to_sql
from skipstone.predicate.types import Kind
from skipstone.pruning.blocks import Feature
from skipstone.spark.bridge.catalyst import expr_from_catalyst
from skipstone.spark.bridge.catalyst_json import expression_json
from skipstone.spark.bridge.jvm import JavaObject
from skipstone.spark.bridge.parse_sql import QueryParser, TableSource
from skipstone.spark.bridge.read_back import Unreadable, read_back
from skipstone.spark.engine.open_table import OpenTable
from skipstone.spark.engine.partners import JoinedTables
from skipstone.spark.failures import unlogged_errors
from skipstone.workload.queries import BrokenQuery, Query

__all__ = [
    "joined_columns_now",
    "rendered_expressions",
    "rendered_features",
    "still_tracked",
    "tracked_columns",
    "tracked_expressions",
    "tracked_features",
    "tracked_set",
]

LOG = logging.getLogger("skipstone")
_reported: set[str] = set()
_JOINED = re.compile(r"\s*EXISTS\s*\(", re.IGNORECASE)
_JOINED_COLUMN = re.compile(
    r"\s*\(\s*SELECT\s+(?P<column>.+?)\s+(?P<rest>FROM\s.+)\)\s*$", re.IGNORECASE | re.DOTALL
)
_TABLE = "skipstone_table"
_UNSUPPORTED = (Kind.OTHER, Kind.YEAR_MONTH_INTERVAL, Kind.TIME)
_SENTENCES = {
    "UDF": "it calls a user-defined function",
    "NON_DETERMINISTIC": "its value may change from one evaluation to the next",
    "SESSION_DEPENDENT": "its value depends on the session",
    "SUBQUERY": "it contains a subquery",
    "COLLATION": "it compares strings under a collation",
    "METADATA_COLUMN": "it reads file metadata",
    "COLUMN_DEFAULT": "it reads a column with a default for older files",
    "ZONED_PARTITION": "it reads a timestamp from a partition's path, where the session's time zone decides",
}


def tracked_columns(schema: str) -> tuple[Tracked, ...]:
    """All columns and struct fields whose values have an order that outlives the session."""
    names = ColumnNames.from_schema(schema)
    found = []
    for name, described in _fields(json_object(json.loads(schema))):
        resolved = _resolve(names, name)
        type_ = type_from_object(described)
        if resolved is not None and type_.kind not in _UNSUPPORTED:
            found.append(Tracked(Column(resolved, type_), quoted(*name), type_))
    return tuple(found)


def _fields(struct: JsonObject, prefix: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """The fields of a struct and of the structs in it, with what their types are described by."""
    for field in map(json_object, json_list(struct["fields"])):
        path, described = (*prefix, json_text(field["name"])), field["type"]
        if isinstance(described, Mapping) and described.get("type") == "struct":
            yield from _fields(described, path)
        else:
            yield path, described


def _resolve(names: ColumnNames, logical: tuple[str, ...]) -> tuple[str, ...] | None:
    path: tuple[str, ...] = ()
    for part in logical:
        resolved = names.resolve(path, part)
        if resolved.problem:
            return None
        path = resolved.path
    return path


def tracked_set(table: OpenTable, expressions: Sequence[str], features: Sequence[str]) -> TrackedSet:
    """What is asked for: expressions, among them columns of joined tables, and features."""
    own = [text for text in expressions if not _JOINED_COLUMN.match(text)]
    joined = [text for text in expressions if _JOINED_COLUMN.match(text)]
    through = _JoinedFeatures(table) if joined else None
    columns = () if through is None else tuple(map(through.column, joined))
    return TrackedSet(tracked_expressions(table, own), tracked_features(table, features), columns)


def tracked_expressions(table: OpenTable, texts: Sequence[str]) -> tuple[Tracked, ...]:
    """Read further expressions, such as ``month(d)`` or ``attrs['courier']``, against the table."""
    found = []
    for text in texts:
        expr = _read(table, text, "expression")
        if not isinstance(expr, Call | Column) or expr.type.kind in _UNSUPPORTED:
            raise SkipstoneError(f"No statistics can be kept of {text}: its values have no order.")
        found.append(Tracked(expr, text, expr.type))
    return tuple(found)


def tracked_features(table: OpenTable, texts: Sequence[str]) -> tuple[Feature, ...]:
    """Read features, which are any boolean SQL expressions over the table's columns."""
    features = []
    frame = table.no_rows()
    joined: _JoinedFeatures | None = None
    for text in texts:
        if _JOINED.match(text):
            joined = joined or _JoinedFeatures(table)
            features.append(joined.read(text))
            continue
        try:
            kind = frame.where(f"({text})").selectExpr(f"({text}) AS feature").schema["feature"].dataType
        except PySparkException as problem:
            raise _unreadable("feature", text, problem) from problem
        if kind.simpleString() != "boolean":
            raise SkipstoneError(f"The feature {text} is a {kind.simpleString()}, not a condition.")
        features.append(Feature(normalize(_read(table, text, "feature")), text))
    return tuple(features)


class _JoinedFeatures:
    """Conditions on those rows of other tables that have a row's key; tables go by their names."""

    def __init__(self, table: OpenTable) -> None:
        self._parser = QueryParser(
            table.engine.spark, {_TABLE: TableSource(table.snapshot.schema, table.root)}
        )
        self._joined = JoinedTables(table.engine)

    def column(self, text: str) -> Expr:
        """The column of joined tables that a text means, such as ``(SELECT name FROM t WHERE id = k)``."""
        parts = _JOINED_COLUMN.match(text)
        assert parts is not None
        # By a condition that is none of the text's own, and of which no sentence speaks.
        found = self._condition(
            f"EXISTS (SELECT 1 {parts['rest']} AND ({parts['column']}) IS NULL)", f"The expression {text}"
        )
        asked = columns_asked((found.predicate,))
        if len(asked) != 1 or not about_known_column(found.predicate, asked):
            raise SkipstoneError(
                f"No statistics can be kept of {text}: it is no column of a Delta table that is joined by "
                "equal keys, without other conditions."
            )
        for why in filter(None, (self._joined.column_problem(asked[0]),)):
            raise SkipstoneError(f"No statistics can be kept of {text}: {why}.")
        return self._joined.column_bound(asked[0])

    def read(self, text: str) -> Feature:
        """The feature that a text means."""
        return self._condition(text, f"The feature {text}")

    def _condition(self, text: str, asked: str) -> Feature:
        """The condition on joined tables that a text means; ``asked`` names what the user wrote."""
        found = self._parser.parse(Query(f"SELECT * FROM {_TABLE} WHERE {text}"))  # noqa: S608 - never run
        if isinstance(found, BrokenQuery):
            raise SkipstoneError(f"{asked} does not fit this table: {found.reason}.")
        whole = [
            part
            for scan in found.scans
            for part in conjuncts(scan.filter)
            if partners_in(part) and implies(part, scan.filter)
        ]
        if not whole:
            raise SkipstoneError(
                f"{asked} cannot be kept: it is about no Delta table that is joined by equal keys."
            )
        for why in self._joined.problems(whole[:1]).values():
            raise SkipstoneError(f"{asked} cannot be kept: {why}.")
        return Feature(self._joined.bound(whole[0]), to_sql(whole[0]))


def rendered_expressions(table: OpenTable, texts: Sequence[str]) -> tuple[Tracked, ...]:
    """The same for expressions that were rendered here, all at once; what Spark does not read is left out."""
    return tuple(
        Tracked(expr, text, expr.type)
        for text, expr in zip(texts, read_back(table.no_rows(), table.snapshot.schema, texts), strict=True)
        if isinstance(expr, Call | Column) and expr.type.kind not in _UNSUPPORTED and not is_opaque(expr)
    )


def rendered_features(table: OpenTable, predicates: Sequence[Expr]) -> tuple[Feature, ...]:
    """The same for features, by what they are; those about other tables are read by these."""
    names = table.snapshot.logical_names
    joined = [predicate for predicate in predicates if partners_in(predicate)]
    own = [names.sql(predicate) for predicate in predicates if not partners_in(predicate)]
    problems = JoinedTables(table.engine).problems(joined)
    plain = (
        Feature(expr, text)
        for text, expr in zip(own, read_back(table.no_rows(), table.snapshot.schema, own), strict=True)
        if not isinstance(expr, Unreadable) and not is_opaque(expr) and columns_of(expr)
    )
    through = (Feature(expr, to_sql(expr)) for expr in joined if expr not in problems)
    return (*plain, *through)


def joined_columns_now(table: OpenTable, columns: Iterable[Expr]) -> tuple[Expr, ...]:
    """Columns of joined tables as these are now; what cannot be read is left out."""
    joined = JoinedTables(table.engine)
    wanted = dict.fromkeys(map(column_unbound, columns))
    return tuple(joined.column_bound(each) for each in wanted if not joined.column_problem(each))


def still_tracked(
    table: OpenTable,
    expressions: Iterable[str],
    features: Iterable[Feature],
    joined_columns: Iterable[Expr] = (),
) -> TrackedSet:
    """What was asked for once, except for what cannot be read any more, such as that of a dropped column."""
    tracked: list[Tracked] = []
    wanted: list[Feature] = []
    for text in dict.fromkeys(expressions):
        with _named_if_refused():
            tracked += tracked_expressions(table, (text,))
    known = tuple(features)
    for text in dict.fromkeys(feature.text for feature in known if not partners_in(feature.predicate)):
        with _named_if_refused():
            wanted += tracked_features(table, (text,))
    columns = joined_columns_now(table, joined_columns)
    return TrackedSet(tuple(tracked), (*wanted, *_joined_now(table, known)), columns)


def _joined_now(table: OpenTable, features: Iterable[Feature]) -> Iterator[Feature]:
    """Those of the features that are about other tables, about these as they are now."""
    joined = JoinedTables(table.engine)
    known = {
        unbound(feature.predicate): feature.text for feature in features if partners_in(feature.predicate)
    }
    problems = joined.problems(known)
    for predicate, text in known.items():
        with _named_if_refused():
            if predicate in problems:
                raise SkipstoneError(f"The feature {text} cannot be kept: {problems[predicate]}.")
            yield Feature(joined.bound(predicate), text)


@contextmanager
def _named_if_refused() -> Iterator[None]:
    """Say once what is not tracked any more, and go on."""
    try:
        with unlogged_errors():
            yield
    except SkipstoneError as problem:
        if str(problem) not in _reported:
            _reported.add(str(problem))
            LOG.warning("No statistics are kept any more that were asked for once. %s", problem)


def _read(table: OpenTable, text: str, what: str) -> Expr:
    spark = table.engine.spark
    try:
        plan = table.no_rows().selectExpr(f"({text}) AS tracked")._jdf.queryExecution()
        analyzed, optimized = plan.analyzed(), plan.optimizedPlan()
    except PySparkException as problem:
        raise _unreadable(what, text, problem) from problem
    names = table.snapshot.names
    # Before the optimizer has run, the clock and the session can still be seen in the expression, but so can
    # forms that only the optimizer resolves, such as BETWEEN's.
    before = expr_from_catalyst(expression_json(spark, _projected(analyzed)), names)
    _refuse(before, what, text, but="UNSUPPORTED")
    projected = _projected(optimized) if hasattr(optimized, "projectList") else _projected(analyzed)
    expr = expr_from_catalyst(expression_json(spark, projected), names)
    _refuse(expr, what, text)
    if not columns_of(expr):
        raise SkipstoneError(f"The {what} {text} reads no column.")
    return normalize(expr)


def _projected(plan: JavaObject) -> JavaObject:
    if plan.getClass().getSimpleName() != "Project":
        raise SkipstoneError("an expression was optimised away")
    return plan.projectList().head()


def _refuse(expr: Expr, what: str, text: str, but: str = "") -> None:
    culprit = next((part for part in walk(expr) if isinstance(part, Opaque) and part.code != but), None)
    if culprit is not None:
        why = _SENTENCES.get(culprit.code, f"{culprit.text} is not supported")
        raise SkipstoneError(f"The {what} {text} cannot be kept: {why} ({culprit.code}).")


def _unreadable(what: str, text: str, problem: PySparkException) -> SkipstoneError:
    first = (problem.getMessage() or str(problem)).strip().splitlines()[0].rstrip(".")
    return SkipstoneError(f"The {what} {text} does not fit this table: {first}.")
