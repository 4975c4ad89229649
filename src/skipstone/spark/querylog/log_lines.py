"""The lines of the query log's listener: one scan each, as JSON, until a table's log takes them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from skipstone.catalog.column_names import ColumnNames
from skipstone.predicate.normalize import normalize_filter
from skipstone.spark.bridge.question import Question
from skipstone.workload.logged_scans import LoggedScan

__all__ = ["root_of", "scan_of"]

_EXPRESSION_ID = re.compile(r"#\d+L?")


def root_of(line: bytes) -> str:
    """The root of the table that a line is about."""
    return str(json.loads(line)["question"]["root"])


def scan_of(line: bytes) -> LoggedScan:
    """The scan that a line describes."""
    found = json.loads(line)
    asked = found["question"]
    # Numbers that Spark gives to columns anew in each query would make every filter look different.
    asked["unusable"] = [(code, _EXPRESSION_ID.sub("", text)) for code, text in asked["unusable"]]
    question = Question.read(asked, logged=True)
    return LoggedScan(
        time=datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=found["started"]),
        filter=normalize_filter(question.filter),
        columns=_physical(question.names, found["columns"]),
        files_total=found["files_total"],
        files_read=found["files_read"],
        bytes_read=found["bytes_read"],
        rows_read=found["rows_read"],
        rows_needed=found["rows_needed"],
        seconds=found["seconds"],
        user=found["user"],
        application=found["application"],
        replicas=tuple(found.get("replicas", ())),  # lines of earlier versions have none
    )


def _physical(names: ColumnNames, columns: Sequence[str]) -> tuple[str, ...]:
    """The stored columns among those that a scan returns."""
    resolved = [names.resolve((), column) for column in columns]
    return tuple(column.path[0] for column in resolved if column.problem != "UNKNOWN_COLUMN")
