"""Partial denormalisation: which columns occur in join queries (GSOP, VLDB 2016, section 3.3).

Queries that read several tables are answered sooner from a table that holds their join. It needs only those
columns of each table that some such query reads; the others stay in the tables. Tables that are joined by
way of others belong to one denormalisation, as those of a snowflake do.

A query that reads a table twice is left out: in a join of the tables each row has one partner of a kind.
What queries read of a table by itself says nothing here, and neither does how the tables are joined. Cost:
linear in the size of the log.

>>> from skipstone.predicate.expr import Literal
>>> from skipstone.predicate.types import BOOLEAN
>>> from skipstone.workload.queries import ParsedQuery, Query, TableScan
>>> true = Literal(True, BOOLEAN)
>>> scans = (TableScan("sales", true, ("store", "price")), TableScan("stores", true, ("id", "city")))
>>> (found,) = denormalisations(ParsedWorkload((ParsedQuery(Query("..."), scans),)))
>>> found.columns
{'sales': ('store', 'price'), 'stores': ('id', 'city')}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from skipstone.workload.queries import ParsedQuery, ParsedWorkload

__all__ = ["Denormalisation", "denormalisations"]


@dataclass(frozen=True, slots=True)
class Denormalisation:
    """Tables that queries join, and the columns of each that such queries read, as they come in the log.

    ``weight`` is how many runs of queries it is for, ``self_joins`` how many were left out. A table of which
    no column is read is only counted or joined by what others have, and has an empty list.
    """

    columns: Mapping[str, tuple[str, ...]]
    weight: float
    self_joins: float = 0.0

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables, in the order in which the log first joins them."""
        return tuple(self.columns)


def denormalisations(parsed: ParsedWorkload) -> tuple[Denormalisation, ...]:
    """What could be denormalised for the join queries of a log, for the most queries first."""
    joins = [query for query in parsed.queries if len({scan.table for scan in query.scans}) > 1]
    found = [_of(tables, joins) for tables in _connected([query for query in joins if not _twice(query)])]
    return tuple(sorted(found, key=lambda each: -each.weight))


def _connected(joins: list[ParsedQuery]) -> list[list[str]]:
    """Tables that are joined with each other, directly or by way of others."""
    groups: list[list[str]] = []
    for query in joins:
        tables = list(dict.fromkeys(scan.table for scan in query.scans))
        touched = [group for group in groups if set(group) & set(tables)]
        merged = dict.fromkeys(table for group in (*touched, tables) for table in group)
        groups = [*(group for group in groups if group not in touched), list(merged)]
    return groups


def _of(tables: list[str], joins: list[ParsedQuery]) -> Denormalisation:
    columns: dict[str, dict[str, None]] = {table: {} for table in tables}
    weight = self_joins = 0.0
    for query in joins:
        if not {scan.table for scan in query.scans} <= columns.keys():
            continue
        if _twice(query):
            self_joins += query.query.count
            continue
        weight += query.query.count
        for scan in query.scans:
            columns[scan.table].update(dict.fromkeys(scan.columns))
    return Denormalisation({table: tuple(read) for table, read in columns.items()}, weight, self_joins)


def _twice(query: ParsedQuery) -> bool:
    tables = [scan.table for scan in query.scans]
    return len(set(tables)) < len(tables)
