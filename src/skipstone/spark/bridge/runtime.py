"""The Python half of skipping: it holds the catalogs and answers the shim's questions.

One runtime serves all sessions of a Spark application. Catalogs are read once and looked at again at most
every few seconds; an outdated catalog is still true, since its entries are keyed by immutable files.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Sequence
from itertools import count

import numpy as np
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import DataFrame, SparkSession

from skipstone.catalog import Catalog, Files, load, merge
from skipstone.catalog.joined_store import JoinedReplicas, load_joined
from skipstone.catalog.replica_store import load_replicas
from skipstone.catalog.replicas import NO_REPLICAS, Replicas
from skipstone.errors import SkipstoneError
from skipstone.pruning.blocks import Counts
from skipstone.spark.bridge.grouped_scan import AskedColumns, decide_groups
from skipstone.spark.bridge.hadoop import HadoopStore
from skipstone.spark.bridge.janino import new_instance
from skipstone.spark.bridge.join_question import group_join
from skipstone.spark.bridge.joined_question import answer_joins
from skipstone.spark.bridge.jvm import JavaObject
from skipstone.spark.bridge.loaded_table import Decided, LoadedTable, stored_names
from skipstone.spark.bridge.question import Question
from skipstone.spark.delta_settings import has_delta
from skipstone.spark.running import require_running

__all__ = ["Runtime", "runtime_of"]

LOG = logging.getLogger("skipstone")
_LOOK_AGAIN_SECONDS = 5.0
_PATIENCE_SECONDS = 3.0
_runtimes: dict[str, Runtime] = {}
_lock = threading.Lock()


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
        self._tables: dict[str, LoadedTable] = {}
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
        functions = (self._answer, self._probe, self._group, self._discover)
        self.shim.connect(*map(_Function, functions))
        self.shim.connectGroups(_Function(self._answer_groups))
        self.shim.connectJoined(_Function(self._answer_joins))

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

    def replicas(self, root: str) -> Replicas:
        """The table's replicas as last read."""
        loaded = self._tables.get(root)
        return NO_REPLICAS if loaded is None else loaded.replicas

    def joined_replicas(self, root: str) -> JoinedReplicas:
        """The joined replicas around a table, as last read."""
        loaded = self._tables.get(root)
        return JoinedReplicas() if loaded is None else loaded.joined_replicas

    def decision(self, question: Question) -> Decided:
        """Decide a question again, with its reasons."""
        return self._tables[question.root].decide(question)

    def _load(self, root: str, patience: float = 0.0, keep: bool = False) -> str:
        store = self.store(root)
        with self._guard:
            before = self._tables.get(root)
            replicas, joins = NO_REPLICAS, JoinedReplicas()
            try:
                catalog, problem = load(store, root, patience), ""
                replicas = self._load_replicas(store, root, before)
                joins = self._load_joined(store, root, before)
            # Whatever fails in skipping: the query reads everything.
            except Exception as error:  # noqa: BLE001
                if keep and before is not None and not before.problem and not before.outdated:
                    # Some file may just be about to be written, and what was read before is still true.
                    before.outdated = True
                    return ""
                catalog, problem = merge(()), str(error)
                if before is None or before.problem != problem:
                    LOG.warning("Queries on %s read everything: %s", root, problem)
            loaded = LoadedTable(next(self._versions), catalog, replicas, store, problem)
            loaded.joined_replicas = joins
            self._tables[root] = loaded
            self.shim.register(root, loaded.version, *_packed(catalog.files), self.entries(replicas))
            joined = loaded.joined
            self.shim.joined(root, _texts(joined), len(joined))
            self.shim.hasJoined(root, bool(joins.replicas))
            return problem

    def _load_replicas(self, store: HadoopStore, root: str, before: LoadedTable | None) -> Replicas:
        known = None if before is None else before.replicas
        found = load_replicas(store, root, known)
        for problem in found.problems:
            if known is None or problem not in known.problems:
                LOG.warning("A replica is not used: %s", problem)
        return found

    def _load_joined(self, store: HadoopStore, root: str, before: LoadedTable | None) -> JoinedReplicas:
        found = load_joined(store, root)
        for problem in found.problems:
            if before is None or problem not in before.joined_replicas.problems:
                LOG.warning("A joined replica is not used: %s", problem)
        return found

    def entries(self, replicas: Replicas) -> JavaObject:
        """The replicas as the shim knows them; None if there are none."""
        if not len(replicas):
            return None
        entries = new_instance(self._spark, "ReplicaEntries")
        covered, own = replicas.covered, replicas.catalog.files
        entries.cover(*_packed(covered), _texts(covered.vectors), _longs(replicas.covered_by))
        entries.hold(*_packed(own), _texts(replicas.partition_values), _longs(replicas.part_of))
        entries.name(_texts([part.replica for part in replicas.parts]), len(replicas))
        grouped = np.array([bool(part.groups) for part in replicas.parts], np.bool_)
        entries.group(np.packbits(grouped, bitorder="little").tobytes())
        entries.damage(np.packbits(replicas.damaged, bitorder="little").tobytes())
        return entries

    def _discover(self, root: str) -> None:
        try:
            if stored_names(self.store(root)):
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
            answer = loaded.decide(question).packed()
            self._look_again(question.root, loaded)
            return answer
        except Exception as error:
            LOG.warning("A query reads everything: %s", error, exc_info=True)
            return f"{type(error).__name__}: {error}"

    def _answer_groups(self, text: str) -> str:
        """What a scan reads of column groups, as JSON; or why nothing is known about that."""
        try:
            asked = AskedColumns.read(text)
            loaded = self._tables[asked.question.root]
            if loaded.problem or loaded.version != asked.question.version:
                return loaded.problem or "the catalog was read anew while the query was planned"
            return decide_groups(loaded, asked).text()
        except Exception as error:
            LOG.warning("A query reads no column groups: %s", error, exc_info=True)
            return f"{type(error).__name__}: {error}"

    def _answer_joins(self, text: str) -> str:
        """Which joined replica answers the joins of some tables, as JSON; or why none does."""
        try:
            return answer_joins(text, self._joined_around)
        except Exception as error:
            LOG.warning("A query reads no joined replica: %s", error, exc_info=True)
            return json.dumps({"code": "FAILED", "sentence": f"{type(error).__name__}: {error}"})

    def _joined_around(self, root: str) -> JoinedReplicas:
        loaded = self._tables[root]
        self._look_again(root, loaded)
        return self._tables[root].joined_replicas

    def _probe(self, text: str) -> str:
        """How large a share of a table's files has keys like those of one file; or why that is not known."""
        try:
            question = Question.read(text)
            loaded = self._tables[question.root]
            if loaded.problem or loaded.version != question.version:
                return loaded.problem or "the catalog was read anew while the query was planned"
            return loaded.key_share(question)
        except Exception as error:
            LOG.warning("A join skips nothing: %s", error, exc_info=True)
            return f"{type(error).__name__}: {error}"

    def _group(self, text: str) -> str:
        """Which blocks of two tables are joined in one task; or why Spark should shuffle them."""
        try:
            return group_join(text, self._tables.__getitem__)
        except Exception as error:
            LOG.warning("A join is left to Spark: %s", error, exc_info=True)
            return json.dumps({"code": "FAILED", "sentence": f"{type(error).__name__}: {error}"})

    def _look_again(self, root: str, loaded: LoadedTable) -> None:
        if time.monotonic() - loaded.looked_at > _LOOK_AGAIN_SECONDS:
            loaded.looked_at = time.monotonic()
            # What was wrong may have passed without a trace in the names.
            if loaded.problem or stored_names(loaded.store) != loaded.names:
                self._load(root, keep=True)


def _packed(files: Files) -> tuple[bytes, bytes, bytes]:
    return _texts(files.paths), _longs(files.sizes), _longs(files.times)


def _texts(texts: Sequence[str]) -> bytes:
    return "\0".join(texts).encode()


def _longs(numbers: Counts) -> bytes:
    return numbers.astype(">i8").tobytes()


def runtime_of(spark: SparkSession) -> Runtime:
    """The runtime of a session's application, made when first asked for."""
    require_running(spark)
    with _lock:
        application = spark.sparkContext.applicationId
        if application not in _runtimes:
            _runtimes[application] = Runtime(spark)
        return _runtimes[application]
