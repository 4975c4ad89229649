"""What ``skipstone analyze`` shows of feature selection, as a dictionary and as text."""

from __future__ import annotations

from collections.abc import Sequence

from skipstone.predicate.readable import readable
from skipstone.predicate.render import to_sql
from skipstone.text_table import MOST_ROWS, text_table
from skipstone.workload.candidates import NotChosen
from skipstone.workload.selection import Selection

__all__ = ["selection_dict", "selection_text"]


def selection_dict(selection: Selection) -> dict[str, object]:
    """Everything, ready for JSON."""
    limits = selection.thresholds
    return {
        "theta": limits.theta,
        "gamma": limits.gamma,
        "epsilon": limits.epsilon,
        "phi": limits.phi,
        "z": [
            {"sql": to_sql(each.expr), "frequency": each.frequency, "comparison_points": each.points}
            for each in selection.z
        ],
        "sop": [{"sql": to_sql(each.predicate), "frequency": each.frequency} for each in selection.sop],
        "additional": [_not_chosen(each) for each in selection.additional],
        "dropped": [_not_chosen(each) for each in selection.dropped],
    }


def _not_chosen(each: NotChosen) -> dict[str, object]:
    points = {"comparison_points": each.points} if each.kind == "z" else {}
    return {
        "sql": to_sql(each.expr),
        "kind": each.kind,
        "frequency": each.frequency,
        **points,
        "code": each.code,
        "reason": each.sentence,
    }


def selection_text(selection: Selection) -> str:
    """Tables for a terminal."""
    z = [(f"{each.frequency:g}", f"{each.points:,}", readable(each.expr)) for each in selection.z]
    sop = [(f"{each.frequency:g}", readable(each.predicate)) for each in selection.sop]
    theta = selection.thresholds.theta
    return "\n\n".join(
        (
            text_table(
                f"Z features: compared with at least {theta} constants",
                ("queries", "constants", "expression"),
                z,
            ),
            text_table(
                f"SOP features: predicates in at least {selection.thresholds.gamma or 0:g} queries",
                ("queries", "predicate"),
                sop[:MOST_ROWS],
                len(sop) - MOST_ROWS,
            ),
            _reasons("Additional: kept in statistics only", selection.additional),
            _reasons("Neither", selection.dropped),
        )
    )


def _reasons(title: str, listed: Sequence[NotChosen]) -> str:
    rows = [(f"{each.frequency:g}", each.code, readable(each.expr)) for each in listed[:MOST_ROWS]]
    return text_table(title, ("queries", "reason", "candidate"), rows, len(listed) - len(rows))
