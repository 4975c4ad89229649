"""Whether a negative decision still holds, so that nothing needs to be estimated again.

A loop that looks after every commit would otherwise estimate the same all day. After a negative decision it
re-estimates once the new data or the log has grown by a quarter, the queries are about other things, policy
or costs have changed, or a tenth of the policy's window has passed, for constants in queries change too.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from skipstone.catalog.decisions import Decision
from skipstone.estimate.drift import distance
from skipstone.estimate.table_state import TableFigures, TableState
from skipstone.estimate.verdict import VerdictCode
from skipstone.json_types import JsonObject, json_number, json_object

__all__ = ["LAID_OUT", "LOOKED_BACK", "decision_that_holds"]

LAID_OUT = "LAID_OUT"
"""The code of an append by a layout, which answers nothing."""
LOOKED_BACK = 8
"""Decisions to look at; the ones before are older than anything that could hold."""
_GROWTH = 1.25
_LASTING = 0.1
_ESTIMATED = frozenset(code.value for code in VerdictCode if code.estimated_negative)


def decision_that_holds(
    decisions: Sequence[Decision], state: TableState, terms: JsonObject, now: datetime
) -> Decision | None:
    """The last of the decisions, if it was an estimated negative one and nothing speaks against it by now.

    ``terms`` are policy and costs as decisions are stored with them.
    """
    last = next((each for each in reversed(decisions) if each.code != LAID_OUT), None)
    if last is None or not _was_estimated(last, state):
        return None
    if any(last.numbers.get(name) != value for name, value in terms.items()):
        return None
    lasting = timedelta(days=_LASTING * state.policy.window_days)
    if now - datetime.fromisoformat(last.time) > lasting:
        return None
    try:
        changed = _grown(last.numbers, state.figures) or _moved(last.numbers, state)
    except (TypeError, ValueError, AttributeError):  # numbers that nobody wrote are no answer
        return None
    return None if changed else last


def _was_estimated(last: Decision, state: TableState) -> bool:
    """Whether an estimate spoke against a rewrite, or against a replica while new data is awaited."""
    waits = not state.enough_new_data and not state.old_data_drifted
    return last.code in _ESTIMATED or (
        last.code == VerdictCode.WAITING.value and "replicas" in last.numbers and waits
    )


def _grown(before: JsonObject, now: TableFigures) -> bool:
    """Whether there is much more new data, or there are many more logged queries."""
    figures = {"unclustered_bytes": now.unclustered_bytes, "logged_scans": now.logged_scans}
    return any(value > _GROWTH * json_number(before.get(name, 0)) for name, value in figures.items())


def _moved(before: JsonObject, state: TableState) -> bool:
    """Whether the queries are about other things."""
    asked = {form: json_number(share) for form, share in json_object(before.get("asked", {})).items()}
    return distance(asked, state.figures.asked) >= state.policy.drift
