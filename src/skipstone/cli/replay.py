"""``skipstone replay``: queries with skipping on and off, side by side."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import typer

from skipstone.cli.output import (
    fail,
    page_width,
    print_json,
    print_table,
)
from skipstone.cli.output import (
    table as new_table,
)
from skipstone.cli.progress_bar import progress
from skipstone.cli.query_options import QueryFile, named_file, warn_of_unused
from skipstone.cli.tables import SharedOptions, Source
from skipstone.view import one_line, percent

if TYPE_CHECKING:
    from skipstone.actions.replay import ReplayedQuery, ReplayReport

__all__ = ["headline", "render", "run"]

_FIGURES = 54  # the width of all columns but the first
_SAME = {True: "yes", False: "NO", None: "varies"}


def run(
    table: Source,
    log: QueryFile,
    shared: SharedOptions,
) -> None:
    """Run queries with skipping on and off, and compare results, rows, files, bytes and seconds.

    Statements that are not queries, such as INSERT and DELETE, are left out.
    """
    with progress() as report:
        workload = log.read()
        replayed = shared.open(table).replay(workload, report)
    warn_of_unused(
        log.queries, sorted((*replayed.broken, *replayed.left_out), key=lambda each: each.position)
    )
    if not shared.as_json:
        render(replayed)
    found = replayed.to_dict()
    if any(query.same_result is False for query in replayed.queries):
        fail("Results differ with skipping on and off; please report this as a bug.", report=found)
    if not replayed.queries:
        fail(f"{named_file(log.queries)} has no query that can be replayed.", report=found)
    if shared.as_json:
        print_json(found)


def render(replayed: ReplayReport) -> None:
    """The queries as a table, and a summary."""
    if not replayed.queries:
        return
    table = new_table()
    table.add_column("query", no_wrap=True, overflow="ellipsis", max_width=page_width() - _FIGURES)
    for title in ("needed", "scanned", "files", "off", "on"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("same", no_wrap=True)
    for query in replayed.queries:
        table.add_row(*_cells(query))
    print_table(table)
    typer.echo(str(replayed))


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
