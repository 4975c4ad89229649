"""Whether a query that somebody typed may run: one SELECT over known tables that reaches no further.

The judgement is on what Spark's own parser and analyser make of the text, never on the text. The parsed plan
is judged first, because analysis itself already looks up what is named: a path as a table is listed, a
descriptor file of a function is read. Then the analysed plan is: each of its leaves must be files of a known
table or rows out of nothing, and each of its expressions one of Spark's own that touch no file, no class and
no user-defined code. What is not known to be harmless is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from skipstone.errors import SkipstoneError
from skipstone.spark.bridge.janino import new_instance
from skipstone.spark.bridge.query_text import query_frame

__all__ = ["FUNCTIONS", "Thing", "allowed_query", "named_things", "refused_analysed", "refused_named"]

Thing = tuple[str, ...]

FUNCTIONS = frozenset(
    {
        "reflect",
        "java_method",
        "try_reflect",
        "from_avro",
        "to_avro",
        "schema_of_avro",
        "from_protobuf",
        "to_protobuf",
        "from_xml",
        "schema_of_xml",
    }
)
"""Functions that call classes, or may read files: of XML, the schema that rows are validated by."""
_TABLE_FUNCTIONS = frozenset(
    {
        "range",
        "explode",
        "explode_outer",
        "posexplode",
        "posexplode_outer",
        "inline",
        "inline_outer",
        "stack",
        "json_tuple",
        "variant_explode",
        "variant_explode_outer",
    }
)
_LEAVES = frozenset({"LocalRelation", "OneRowRelation", "Range", "CTERelationRef", "EmptyRelation"})
_CATALYST = "org.apache.spark.sql.catalyst."
_EXPRESSIONS = f"{_CATALYST}expressions."
_NODES = f"{_CATALYST}plans.logical."
_NO_EXPRESSIONS = frozenset(
    {
        "CallMethodViaReflection",
        "TryReflect",
        "FromAvro",
        "ToAvro",
        "SchemaOfAvro",
        "FromProtobuf",
        "ToProtobuf",
        "XmlToStructs",
        "SchemaOfXml",
        "PythonUDF",
        "PythonUDAF",
        "PythonUDTF",
        "UnresolvedPolymorphicPythonUDTF",
        "ScalaUDF",
        "ScalaAggregator",
        "ScalaUDAF",
        "UserDefinedGenerator",
        "ApplyFunctionExpression",
        "V2Aggregator",
    }
)
_NO_NODES = frozenset({"ScriptTransformation", "PythonDataSource", "MapInPandas", "MapInArrow"})


def allowed_query(spark: SparkSession, sql: str, tables: Mapping[str, str]) -> DataFrame:
    """The query as a frame, not run; ``tables`` are the roots of those that it may read, by name."""
    guard = new_instance(spark, "QueryGuard")
    try:
        named = named_things(spark, sql)
    except PySparkException:
        named = []  # what cannot be parsed is refused below, in a sentence of Spark's
    if problem := refused_named(named, tables):
        raise SkipstoneError(f"The query cannot be used: {problem}.")
    frame = query_frame(spark, sql)
    analysed = [_thing(text) for text in guard.analysed(frame._jdf)]
    if problem := refused_analysed(analysed, frozenset(tables.values())):
        raise SkipstoneError(f"The query cannot be used: {problem}.")
    return frame


def named_things(spark: SparkSession, sql: str) -> list[Thing]:
    """The relations, functions and further names in what Spark's parser makes of a text."""
    guard = new_instance(spark, "QueryGuard")
    return [_thing(text) for text in guard.named(spark._jsparkSession, sql)]


def _thing(text: str) -> Thing:
    return tuple(text.split("\0"))


def refused_named(named: Iterable[Thing], tables: Collection[str]) -> str:
    """Why a statement that names these things is refused; nothing if it is not.

    >>> refused_named([("relation", "parquet", "/etc")], ["orders"])
    'parquet.`/etc` is not a registered table (these are: orders)'
    >>> refused_named([("function", "java_method")], [])
    'java_method is not allowed here'
    >>> refused_named([("defined", "o"), ("relation", "O"), ("relation", "Orders")], ["orders"])
    ''
    """
    things = list(named)
    known = {tuple(name.lower().split(".")) for name in tables}
    defined = {(name.lower(),) for kind, *names in things if kind == "defined" for name in names}
    for kind, *parts in things:
        name = tuple(part.lower() for part in parts)
        if kind == "identifier":
            return "names made by IDENTIFIER are not allowed here"
        if kind == "streaming":
            return "streams are not allowed here"
        if kind == "relation" and name not in known and name not in defined:
            shown = ".".join(part if part.isidentifier() else f"`{part}`" for part in parts)
            listed = ", ".join(sorted(tables)) or "none"
            return f"{shown} is not a registered table (these are: {listed})"
        if kind == "function" and name[-1] in FUNCTIONS:
            return f"{parts[-1]} is not allowed here"
        if kind == "table function" and (len(name) > 1 or name[-1] not in _TABLE_FUNCTIONS):
            return f"the table function {'.'.join(parts)} is not allowed here"
    return ""


def refused_analysed(analysed: Iterable[Thing], roots: Collection[str]) -> str:
    """Why a plan of these leaves, nodes and expressions is refused; nothing if it is not.

    >>> refused_analysed([("files", "file:/data/orders")], ["file:/data/orders"])
    ''
    >>> refused_analysed([("files", "file:/etc")], ["file:/data/orders"])
    'it reads file:/etc, which is not a registered table'
    >>> refused_analysed([("expression", "org.apache.spark.sql.catalyst.expressions.ScalaUDF")], [])
    'ScalaUDF is not allowed here'
    """
    for kind, *parts in analysed:
        short = parts[0].rpartition(".")[2].rstrip("$") if parts else ""
        match kind:
            case "streaming":
                return "streams are not allowed here"
            case "files" if outside := [path for path in parts if path not in roots]:
                return f"it reads {outside[0]}, which is not a registered table"
            case "leaf" if not parts[0].startswith(_CATALYST) or short not in _LEAVES:
                return f"{short} is not allowed here"
            case "node" if not parts[0].startswith(_NODES) or short in _NO_NODES:
                return f"{short} is not allowed here"
            case "expression" if not parts[0].startswith(_EXPRESSIONS) or short in _NO_EXPRESSIONS:
                return f"{short} is not allowed here"
    return ""
