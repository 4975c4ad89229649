"""The Python API: a table, by path or by name, with a method for each action."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar

from skipstone.actions.action import Action, perform
from skipstone.actions.advise import Advise
from skipstone.actions.analyze import Analyze, WorkloadAnalysis
from skipstone.actions.append import Append
from skipstone.actions.auto import Auto
from skipstone.actions.auto_status import AutoStatus, ShowAutoStatus
from skipstone.actions.explain import Explain
from skipstone.actions.import_log import ImportedLog, ImportLog
from skipstone.actions.index import Index, IndexReport
from skipstone.actions.log import ClearLog, ShowLog
from skipstone.actions.optimize import Optimize, OptimizeReport
from skipstone.actions.optimize_new import OptimizeNew
from skipstone.actions.replay import Replay, ReplayReport
from skipstone.actions.status import Status, TableStatus
from skipstone.actions.watch import Watch, watch_table
from skipstone.cancel import Cancel
from skipstone.catalog.decisions import Decision
from skipstone.estimate.advice import Advice
from skipstone.estimate.cost import CostModel
from skipstone.estimate.policy import Policy
from skipstone.layout.options import LayoutOptions
from skipstone.progress import Progress
from skipstone.pruning.report import Explanation
from skipstone.source import split_source
from skipstone.spark import DataFrame, SparkSession
from skipstone.spark.bridge.enable import enable
from skipstone.spark.engine.engine import Engine
from skipstone.spark.engine.executors import bounded_wait
from skipstone.spark.engine.source import Source
from skipstone.spark.failures import some_sentence_of
from skipstone.spark.running import require_running
from skipstone.view import View
from skipstone.workload.logged_scans import LoggedScan
from skipstone.workload.queries import Workload

__all__ = ["Table", "table"]

Result = TypeVar("Result")
