"""The Python half of skipping: it holds the catalogs and answers the shim's questions.

One runtime serves all sessions of a Spark application. Catalogs are read once and looked at again at most
every few seconds; an outdated catalog is still true, since its entries are keyed by immutable files.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from typing import TypedDict

import numpy as np
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import DataFrame, SparkSession

from skipstone.catalog import Catalog, load, merge, stamp
from skipstone.catalog.column_names import ColumnNames
from skipstone.catalog.decide import decide
from skipstone.errors import SkipstoneError
from skipstone.predicate.expr import And, Expr, Literal, Opaque
from skipstone.predicate.types import BOOLEAN
from skipstone.pruning.reasons import PruneResult
from skipstone.spark.bridge.catalyst import TreeJson, expr_from_catalyst
from skipstone.spark.bridge.hadoop import HadoopStore
from skipstone.spark.bridge.janino import new_instance
from skipstone.spark.bridge.jvm import JavaObject
from skipstone.spark.delta_settings import has_delta
from skipstone.spark.running import require_running

__all__ = ["Question", "QuestionJson", "Runtime", "runtime_of"]

LOG = logging.getLogger("skipstone")
_LOOK_AGAIN_SECONDS = 5.0
_PATIENCE_SECONDS = 3.0
_runtimes: dict[str, Runtime] = {}
_lock = threading.Lock()


class QuestionJson(TypedDict):
    """A question as the shim writes it; ``unusable`` has the code and the text of each such conjunct."""

    root: str
    version: int
    schema: str
    conjuncts: list[TreeJson]
    unusable: list[tuple[str, str]]
    settings: dict[str, str]


@dataclass(frozen=True, slots=True)
class Question:
    """A scan of a registered table under a filter, as the shim describes it."""

    root: str
    version: int
    filter: Expr
    settings: Mapping[str, str]
    names: ColumnNames

    @classmethod
    def read(cls, text: str | QuestionJson) -> Question:
        """Read the shim's JSON."""
        asked: QuestionJson = json.loads(text) if isinstance(text, str) else text
        names = _names_of(asked["schema"])
        parts = [expr_from_catalyst(tree, names) for tree in asked["conjuncts"]]
        parts += [Opaque(text, code) for code, text in asked["unusable"]]
        filter_ = parts[0] if len(parts) == 1 else And(tuple(parts)) if parts else Literal(True, BOOLEAN)
        return cls(asked["root"], asked["version"], filter_, asked["settings"], names)


@lru_cache(maxsize=256)
def _names_of(schema: str) -> ColumnNames:
    return ColumnNames.from_schema(schema)


@dataclass(slots=True, eq=False)
class _Loaded:
    """A registered table: its catalog as last read, or the sentence that says why there is none.

    ``outdated`` is one that could not be read anew when it was last looked at.
    """

    version: int
    catalog: Catalog
    store: HadoopStore
    problem: str = ""
    outdated: bool = False
    looked_at: float = field(default_factory=time.monotonic)


class _Function:
    """A ``java.util.function.Function`` that calls Python."""

    def __init__(self, call: Callable[[str], object]) -> None:
        self._call = call

    def apply(self, argument: str) -> object:
        """Answer the JVM."""
        return self._call(argument)

    class Java:
        """Read by py4j."""

        implements = ("java.util.function.Function",)


class Runtime:
    """The registered tables of a Spark application."""

    def __init__(self, spark: SparkSession) -> None:
        """Compile the shim and connect it to this process."""
        ensure_callback_server_started(spark.sparkContext._gateway)  # type: ignore[no-untyped-call]
        self._spark = spark
        self._tables: dict[str, _Loaded] = {}
        self._versions = count(1)
        self._guard = threading.RLock()
        self.names: dict[tuple[str, ...], str] = {}
        """The views of tables that are called by names of several parts, in lower case."""
        self.shim = new_instance(spark, "Skipstone")
        self._hadoop_files = new_instance(spark, "HadoopFiles")
        self.early: JavaObject = None
        if has_delta(spark):
            self.shim.addAdapter(new_instance(spark, "SkipstoneDelta"))
            self.early = new_instance(spark, "SkipstoneEarly")
            self.early.connect(self.shim)
        self.shim.connect(_Function(self._answer), _Function(self._discover))

    def bind(self, name: str, frame: DataFrame) -> None:
        """Let queries call a table by a name; ``names`` knows those of several parts, which no view has."""
        parts = name.split(".")
        view = "_".join(parts)
        frame.createOrReplaceTempView(view)
        if len(parts) > 1:
            self.names[tuple(part.lower() for part in parts)] = view

    def store(self, root: str) -> HadoopStore:
        """The file store below a table's root."""
        return HadoopStore(self._spark, self._hadoop_files, root)

    def settings(self, spark: SparkSession) -> dict[str, str]:
        """The session's settings that change what is read from the same bytes."""
        found: dict[str, str] = json.loads(self.shim.settingsOf(spark._jsparkSession))
        return found

    def catalog(self, root: str) -> Catalog:
        """The table's catalog as last read; empty when there is none."""
        loaded = self._tables.get(root)
        return merge(()) if loaded is None else loaded.catalog

    def refresh(self, root: str) -> None:
        """Read a table's catalog now and use it from the next query on; raises when it is unreadable."""
        problem = self._load(root, patience=_PATIENCE_SECONDS)
        if problem:
            raise SkipstoneError(problem)

    def decision(self, question: Question) -> PruneResult:
        """Decide a question again, with its reasons."""
        return decide(question.filter, self._tables[question.root].catalog, question.settings)

    def _load(self, root: str, patience: float = 0.0, keep: bool = False) -> str:
        store = self.store(root)
        with self._guard:
            before = self._tables.get(root)
            try:
                catalog, problem = load(store, root, patience), ""
            # Whatever fails in skipping: the query reads everything.
            except Exception as error:  # noqa: BLE001
                if keep and before is not None and not before.problem and not before.outdated:
                    # Some file may just be about to be written, and what was read before is still true.
                    before.outdated = True
                    return ""
                catalog, problem = merge(()), str(error)
                if before is None or before.problem != problem:
                    LOG.warning("Queries on %s read everything: %s", root, problem)
            loaded = _Loaded(next(self._versions), catalog, store, problem)
            self._tables[root] = loaded
            files = catalog.files
            self.shim.register(
                root,
                loaded.version,
                "\0".join(files.paths).encode(),
                files.sizes.astype(">i8").tobytes(),
                files.times.astype(">i8").tobytes(),
            )
            return problem

    def _discover(self, root: str) -> None:
        try:
            if stamp(self.store(root)):
                self._load(root)
        except Exception as error:  # noqa: BLE001 - as in _load
            LOG.warning("Queries on %s read everything: %s", root, error)

    def _answer(self, text: str) -> bytes | str:
        try:
            question = Question.read(text)
            loaded = self._tables[question.root]
            if loaded.problem:
                self._look_again(question.root, loaded)
                return loaded.problem
            if loaded.version != question.version:
                return "the catalog was read anew while the query was planned"
            skip = decide(question.filter, loaded.catalog, question.settings).skip
            self._look_again(question.root, loaded)
            return np.packbits(skip, bitorder="little").tobytes()
        except Exception as error:
            LOG.warning("A query reads everything: %s", error, exc_info=True)
            return f"{type(error).__name__}: {error}"

    def _look_again(self, root: str, loaded: _Loaded) -> None:
        if time.monotonic() - loaded.looked_at > _LOOK_AGAIN_SECONDS:
            loaded.looked_at = time.monotonic()
            # What was wrong may have passed without a trace in the names.
            if loaded.problem or stamp(loaded.store) != loaded.catalog.names:
                self._load(root, keep=True)


def runtime_of(spark: SparkSession) -> Runtime:
    """The runtime of a session's application, made when first asked for."""
    require_running(spark)
    with _lock:
        application = spark.sparkContext.applicationId
        if application not in _runtimes:
            _runtimes[application] = Runtime(spark)
        return _runtimes[application]
