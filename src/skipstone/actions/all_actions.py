"""The list of actions that every shell offers: Python, the command line, and whatever comes."""

from __future__ import annotations

from skipstone.actions.action import Action
from skipstone.actions.adapt import Adapt
from skipstone.actions.advise import Advise
from skipstone.actions.analyze import Analyze
from skipstone.actions.append import Append
from skipstone.actions.auto import Auto
from skipstone.actions.auto_status import ShowAutoStatus
from skipstone.actions.calibrate import Calibrate
from skipstone.actions.denormalise import Denormalise
from skipstone.actions.drop import Drop
from skipstone.actions.engine_action import EngineAction
from skipstone.actions.explain import Explain
from skipstone.actions.generate import Generate
from skipstone.actions.import_log import ImportLog
from skipstone.actions.index import Index
from skipstone.actions.log import ClearLog, ShowLog
from skipstone.actions.optimize import Optimize
from skipstone.actions.optimize_new import OptimizeNew
from skipstone.actions.refresh import Refresh
from skipstone.actions.repair import Repair
from skipstone.actions.replay import Replay
from skipstone.actions.replicas import ShowReplicas
from skipstone.actions.replicate import Replicate
from skipstone.actions.status import Status

__all__ = ["ACTIONS", "ENGINE_ACTIONS"]

ACTIONS: tuple[type[Action[object]], ...] = (
    Index,
    Explain,
    Status,
    Replay,
    ShowLog,
    ImportLog,
    ClearLog,
    Generate,
    Analyze,
    Advise,
    Optimize,
    OptimizeNew,
    Adapt,
    Replicate,
    Denormalise,
    ShowReplicas,
    Refresh,
    Drop,
    Repair,
    Auto,
    ShowAutoStatus,
    Append,
)
"""What can be asked of a table."""

ENGINE_ACTIONS: tuple[type[EngineAction[object]], ...] = (Calibrate,)
"""What can be asked of Spark itself, without a table."""
