"""Which joined replica answers inner joins, as the shim asks for it and carries it out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TypedDict

from skipstone.catalog.joined_replicas import JoinedRead, JoinRefusal, match_join
from skipstone.catalog.joined_store import JoinedReplicas

__all__ = ["answer_joins"]


class _ReadJson(TypedDict):
    root: str
    state: str
    columns: list[str]


class _QuestionJson(TypedDict):
    """Inner joins as ``JoinedReplicas.java`` writes them; ``root`` is the table in the middle."""

    root: str
    reads: list[_ReadJson]
    equal: list[tuple[int, str, int, str]]
    settings: dict[str, str]


def answer_joins(text: str, replicas_around: Callable[[str], JoinedReplicas]) -> str:
    """The newest replica that answers the joins, and where their columns are; or why none does."""
    asked: _QuestionJson = json.loads(text)
    reads = tuple(JoinedRead(read["root"], read["state"], tuple(read["columns"])) for read in asked["reads"])
    equal = tuple((a, one, b, other) for a, one, b, other in asked["equal"])
    refusal = JoinRefusal("OTHER_TABLES", f"{asked['root']} has no joined replica any more")
    for replica in replicas_around(asked["root"]).replicas:
        found = match_join(replica, reads, equal)
        if replica.settings != asked["settings"]:
            found = JoinRefusal("OTHER_SETTINGS", "the tables were read under other settings of the reader")
        if isinstance(found, JoinRefusal):
            refusal = JoinRefusal(found.code, f"{found.sentence} (replica {replica.id})")
            continue
        return json.dumps(
            {
                "code": "JOINED",
                "sentence": f"replica {replica.id} holds the joined rows of just these versions",
                "root": replica.root,
                "state": replica.state,
                "columns": [dict(columns) for columns in found.columns],
                "present": found.present,
            }
        )
    return json.dumps({"code": refusal.code, "sentence": refusal.sentence})
