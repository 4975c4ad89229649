"""Queries in, features out."""

from skipstone.workload.queries import (
    BrokenQuery,
    LeftOut,
    ParsedQuery,
    ParsedWorkload,
    Query,
    TableScan,
    Workload,
)
from skipstone.workload.readers import read_queries

__all__ = [
    "BrokenQuery",
    "LeftOut",
    "ParsedQuery",
    "ParsedWorkload",
    "Query",
    "TableScan",
    "Workload",
    "read_queries",
]
