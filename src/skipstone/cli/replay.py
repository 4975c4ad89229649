"""``skipstone replay``: queries with skipping on and off, side by side."""

from __future__ import annotations

import re

import typer
from rich.table import Table

import skipstone
from skipstone.cli.output import (
    count,
    fail,
    megabytes,
    one_line,
    page_width,
    print_json,
    print_table,
    progress,
)
from skipstone.cli.tables import AsJson, MoreTables, Source, open_table
from skipstone.cli.wishes import Column, Dialect, Format, QueryPath, named_file, warn_of_unused
from skipstone.spark.replay import ReplayedQuery, ReplayReport

__all__ = ["headline", "render", "run"]

_FIGURES = 54  # the width of all columns but the first
_SAME = {True: "yes", False: "NO", None: "varies"}


def run(
    table: Source,
    queries: QueryPath,
    dialect: Dialect = "spark",
    column: Column = None,
    format: Format = None,
    more: MoreTables = None,
    as_json: AsJson = False,
) -> None:
    """Run queries with skipping on and off, and compare results, rows, files, bytes and seconds.

    Statements that are not queries, such as INSERT and DELETE, are left out.
    """
    workload = skipstone.read_queries(queries, dialect, column, format)
    with progress() as told:
        report = open_table(table, more).replay(workload, told)
    warn_of_unused(queries, sorted((*report.broken, *report.left_out), key=lambda each: each.position))
    if as_json:
        print_json(report.to_dict())
    else:
        render(report)
    if any(query.same_result is False for query in report.queries):
        fail("Results differ with skipping on and off; please report this as a bug.")
    if not report.queries:
        fail(f"{named_file(queries)} has no query that can be replayed.")


def render(report: ReplayReport) -> None:
    """The queries as a table, and a summary."""
    if not report.queries:
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("query", no_wrap=True, overflow="ellipsis", max_width=page_width() - _FIGURES)
    for title in ("needed", "scanned", "files", "off", "on"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("same", no_wrap=True)
    for query in report.queries:
        table.add_row(*_cells(query))
    print_table(table)
    typer.echo(_summary(report))


def _cells(query: ReplayedQuery) -> tuple[str, ...]:
    return (
        headline(query.sql, page_width() - _FIGURES),
        percent(query.rows_needed, query.rows_total),
        percent(query.rows_scanned, query.rows_total),
        f"{query.files_read:,}/{query.files_total:,}",
        f"{query.seconds_off:.2f} s",
        f"{query.seconds_on:.2f} s",
        _SAME[query.same_result],
    )


def headline(sql: str, width: int = 0) -> str:
    r"""A statement in one line, without comment lines; where it does not fit, from its filter on.

    >>> headline("-- who\nSELECT *\n  FROM t WHERE a = 1", 20)
    '… WHERE a = 1'
    """
    text = one_line(re.sub(r"(?m)^\s*--.*$", "", sql))
    found = re.search(r"(?i) (where .*)", text)
    return text if found is None or not width or len(text) <= width else f"… {found[1]}"


def percent(part: int, whole: int) -> str:
    """A share for people.

    >>> percent(1, 3), percent(0, 0)
    ('33.3 %', '-')
    """
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _summary(report: ReplayReport) -> str:
    queries = report.queries
    rows = sum(query.rows_total for query in queries)
    scanned = percent(sum(query.rows_scanned for query in queries), rows)
    needed = percent(sum(query.rows_needed for query in queries), rows)
    size = megabytes(sum(query.bytes_read for query in queries))
    off, on = sum(q.seconds_off for q in queries), sum(q.seconds_on for q in queries)
    text = (
        f"{len(queries):,} {'query' if len(queries) == 1 else 'queries'}: {scanned} of the rows scanned, "
        f"{needed} needed; {size} in the files that are read; {off:.1f} s without skipping, {on:.1f} s with."
    )
    unused = ((report.broken, "could not be used"), (report.left_out, "left out"))
    return " ".join([text, *(f"{count(len(some), 'statement')} {why}." for some, why in unused if some)])
