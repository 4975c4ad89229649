"""``skipstone demo``: the whole story on generated data."""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import skipstone
from skipstone.cli import demo_data, replay
from skipstone.cli.banner import quiet_session
from skipstone.cli.output import print_json
from skipstone.cli.progress_bar import progress
from skipstone.cli.tables import AsJson
from skipstone.errors import SkipstoneError
from skipstone.view import count

if TYPE_CHECKING:
    from skipstone.actions.replay import ReplayReport

__all__ = ["run"]

_EXPLAINED = 6  # the index of the query with an OR of two different kinds


def run(
    directory: Annotated[
        Path | None,
        typer.Option("--dir", metavar="DIR", help="Where to put the table; a new one by default."),
    ] = None,
    rows: Annotated[int, typer.Option(min=64, help="How many orders to generate.")] = 2_000_000,
    serve: Annotated[
        bool, typer.Option("--serve", help="Write the data only, and open the page on it (skipstone serve).")
    ] = False,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port of --serve; 0 for any.")] = 8765,
    as_json: AsJson = False,
) -> None:
    """Generate a table, index it, rearrange it for its queries, and show what each step lets Spark skip."""
    where = _prepare(directory)
    if serve:
        _serve(where, rows, port, as_json)
        return
    orders, queries = where / "orders", where / "queries.sql"
    narrate = _Narrator(silent=as_json)
    narrate(f"1. Starting Spark and writing {count(rows, 'order')} of a web shop to {orders}")
    spark = quiet_session()
    demo_data.write_orders(orders, rows)
    queries.write_text(demo_data.QUERIES, encoding="utf-8")
    narrate(f"\n2. skipstone index {orders} {_flags()}")
    table = skipstone.table(spark, f"orders={orders}")
    with progress() as report:
        indexed = table.index(demo_data.EXPRESSIONS, demo_data.FEATURES, progress=report)
    if not as_json:
        typer.echo(str(indexed))
    narrate(f"\n3. skipstone replay {orders} --queries {queries}")
    log = skipstone.read_queries(queries)
    with progress() as report:
        replayed = table.replay(log, report)
    alone = [_files_of_delta_alone(table, query.sql) for query in replayed.queries]
    explained = replayed.queries[_EXPLAINED].sql
    explanation = table.explain(explained)
    if not as_json:
        replay.render(replayed)
        _render_alone(replayed, alone)
    narrate(f'\n4. skipstone explain {orders} "{replay.headline(explained)}"')
    narrate(str(explanation))
    block_rows = max(1, rows // demo_data.FILES)
    narrate(f"\n5. skipstone optimize {orders} --queries {queries} --block-rows {block_rows}")
    with progress() as report:
        optimized = table.optimize(log, block_rows=block_rows, progress=report)
    if not as_json:
        typer.echo(str(optimized))
    narrate(f"\n6. skipstone replay {orders} --queries {queries}")
    with progress() as report:
        after = table.replay(log, report)
    if as_json:
        story = replayed.to_dict() | {"index": asdict(indexed), "explained": explanation.to_dict()}
        story |= {"optimize": optimized.to_dict(), "after": after.to_dict()}
        print_json(story | {"files_read_by_delta_alone": alone, "directory": str(where)})
        return
    replay.render(after)
    narrate(f"The same queries before the rewrite: {_scanned(replayed)}; now {_scanned(after)}.")
    narrate(_next_steps(where))


def _serve(where: Path, rows: int, port: int, as_json: bool) -> None:
    """Write the orders and their queries, index them, and serve the page on them until stopped."""
    from skipstone.cli.serve import ServeOptions, serve_tables

    orders, queries = where / "orders", where / "queries.sql"
    _Narrator(silent=as_json)(f"Starting Spark and writing {count(rows, 'order')} of a web shop to {orders}")
    spark = quiet_session()
    demo_data.write_orders(orders, rows)
    queries.write_text(demo_data.QUERIES, encoding="utf-8")
    table = skipstone.table(spark, f"orders={orders}")
    with progress() as report:
        table.index(demo_data.EXPRESSIONS, demo_data.FEATURES, progress=report)
        table.import_log(skipstone.read_queries(queries), report)
    _Narrator(silent=as_json)(f"Its queries are in its query log, and in {queries} to upload.")
    serve_tables(ServeOptions([str(where)], port=port, state=where / "state"), [f"orders={orders}"], as_json)


class _Narrator:
    """Prints the steps as they are made, except with ``--json``."""

    def __init__(self, silent: bool) -> None:
        self._silent = silent

    def __call__(self, text: str) -> None:
        if not self._silent:
            typer.echo(text)


def _prepare(directory: Path | None) -> Path:
    where = directory or Path(tempfile.mkdtemp(prefix="skipstone-demo-"))
    if (where / "orders").exists():
        raise SkipstoneError(f"{where / 'orders'} exists already; give another --dir, or delete it.")
    where.mkdir(parents=True, exist_ok=True)
    return where.resolve()


def _flags() -> str:
    return " ".join(
        [f'--expression "{text}"' for text in demo_data.EXPRESSIONS]
        + [f'--feature "{text}"' for text in demo_data.FEATURES]
    )


def _files_of_delta_alone(table: skipstone.Table, sql: str) -> int:
    return sum(scan.files_total - scan.files_pruned for scan in table.explain(sql).scans)


def _render_alone(replayed: ReplayReport, alone: list[int]) -> None:
    skipped = sum(query.files_read for query in replayed.queries)
    total = sum(query.files_total for query in replayed.queries)
    typer.echo(f"Files read: {skipped:,} of {total:,}; with Delta's own skipping alone {sum(alone):,}.")


def _scanned(report: ReplayReport) -> str:
    total = report.summary()
    return f"{total['percent_scanned']:.1f} % of the rows scanned"


def _next_steps(where: Path) -> str:
    return f"""
The table stays in {where}; delete it when you like. What to try next:
  skipstone status {where}/orders
  skipstone explain {where}/orders "SELECT * FROM orders WHERE country = 'IS' AND month(ordered_on) = 7"
  skipstone advise {where}/orders --queries {where}/queries.sql
  skipstone index YOUR_TABLE          your own Delta table or Parquet directory; nothing in it is changed
In Python, skipstone.enable(spark) lets the queries of your own session skip."""
