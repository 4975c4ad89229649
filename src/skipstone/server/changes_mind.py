"""What would lead the self-organising loop to another decision."""

from __future__ import annotations

from skipstone.catalog.decisions import Decision
from skipstone.view import megabytes

__all__ = ["changes_mind"]

_BY_CODE = {
    "NO_LOG": "Queries that are logged, or a query log that is imported.",
    "NOTHING_TO_GAIN": "Queries that need a smaller share of the table, or data that lies less well.",
    "CANNOT_FIT": "Queries with filters that a layout can be fitted for.",
    "REFUSED": "What its sentence names: the table cannot be rewritten as it is.",
    "LOST_RACE": "Another round, while nobody else commits to the table.",
    "FAILED": "What its sentence names, once it is put right.",
    "PAYS": "Fewer such queries, or higher costs of a rewrite: it would no longer pay.",
    "LAID_OUT": "Queries that the newest layout does not suit.",
    "ADAPTS": "Queries on other columns, or a full rewrite that gains more than changing some blocks.",
    "REPLICA_PAYS": "Fewer such queries, a smaller budget for replicas, or a table that suits them itself.",
    "REFRESH_PAYS": "Fewer queries that read the replica, or a smaller budget for replicas.",
    "DROP_OVER_BUDGET": "A larger budget for replicas.",
    "DROP_UNUSED": "Queries that read the replica.",
    "DROP_OUTBID": "More queries that read the replica than the one that took its place.",
}


def changes_mind(decision: Decision) -> str:
    """A sentence by the decision's code and numbers.

    >>> changes_mind(Decision("2026-01-01T00:00:00+00:00", False, "NO_LOG", "nobody asked"))
    'Queries that are logged, or a query log that is imported.'
    """
    numbers = decision.numbers
    match decision.code:
        case "WAITING":
            found, awaited = (numbers.get(name) for name in ("unclustered_bytes", "awaited_bytes"))
            if isinstance(found, int | float) and isinstance(awaited, int | float):
                return f"{megabytes(max(awaited - found, 0))} more of new data, or a drift of the queries."
            return "More new data, or a drift of the queries."
        case "READ_TOO_LITTLE" | "DOES_NOT_PAY":
            runs = numbers.get("break_even_runs")
            if isinstance(runs, int | float):
                return f"{runs:,.1f} times as many such queries, or a longer horizon (horizon_days)."
            return "More such queries, a longer horizon (horizon_days), or cheaper rewrites."
    return _BY_CODE.get(decision.code, "Other queries, other data or another policy.")
