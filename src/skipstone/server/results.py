"""Results of actions as the command line prints them with ``--json``, and their first line."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass

from skipstone.actions.import_log import ImportedLog
from skipstone.server.runner import Outcome
from skipstone.view import Viewed, count
from skipstone.workload.queries import BrokenQuery, broken_and_left_out

__all__ = ["json_text", "outcome_of", "plain", "result_dict", "unused_of"]


def result_dict(result: object) -> object:
    """The result as plain data."""
    if isinstance(result, ImportedLog):
        unused = broken_and_left_out(result.unusable)
        return {"added": result.added, "unusable": len(result.unusable), **unused}
    if isinstance(result, int):
        return {"deleted": result}
    if (to_dict := getattr(result, "to_dict", None)) is not None:
        return to_dict()
    if is_dataclass(result) and not isinstance(result, type):
        return asdict(result)
    return result


def outcome_of(result: object) -> Outcome:
    """What a job tells of its result."""
    return Outcome(json_text(result_dict(result)), _headline(result))


def _headline(result: object) -> str:
    if isinstance(result, ImportedLog):
        return f"Added {count(result.added, 'scan')} to the query log."
    if isinstance(result, int):
        return f"Deleted {count(result, 'scan')} from the query log."
    return result.view().headline if isinstance(result, Viewed) else ""


def unused_of(result: object) -> Sequence[BrokenQuery]:
    """The statements of a workload that an action could not use."""
    found: list[BrokenQuery] = []
    for name in ("unusable", "broken", "left_out"):
        some = getattr(result, name, ())
        found += [each for each in some if isinstance(each, BrokenQuery)] if isinstance(some, tuple) else []
    return found


def json_text(value: object) -> str:
    """JSON that every reader understands: it has no NaN and no infinities."""
    try:
        return json.dumps(value, allow_nan=False)
    except ValueError:
        return json.dumps(plain(value), allow_nan=False)


def plain(value: object) -> object:
    """The value with null for what JSON does not have."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value
