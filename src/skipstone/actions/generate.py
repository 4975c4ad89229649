"""``generate``: a workload out of a table's own column metadata, for tables whose queries nobody knows yet.

SOP on Spark (000), section V-A: numbers and dates are known by their least and greatest value, categories by
their distinct values; queries draw columns, and constants of them, at random. Nothing of it says what people
will ask: it is for trying layouts out, and for tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from skipstone.actions.context import Context
from skipstone.arguments import checked
from skipstone.errors import SkipstoneError
from skipstone.predicate.literals import identifier
from skipstone.spark.engine.describe_columns import Described, LeftOutColumn, describe_columns
from skipstone.view import View, Viewed, count, listed
from skipstone.workload.generate import ColumnSpec, QueryForm, generate
from skipstone.workload.queries import Query, Workload

__all__ = ["Generate", "GeneratedWorkload"]


@dataclass(frozen=True, slots=True, repr=False)
class GeneratedWorkload(Viewed):
    """Queries, and what the columns that they filter on hold; ``left_out`` are columns without a filter."""

    table: str
    queries: tuple[str, ...]
    columns: tuple[ColumnSpec, ...]
    left_out: tuple[LeftOutColumn, ...] = ()

    def workload(self) -> Workload:
        """The queries as other actions take them."""
        return Workload(tuple(Query(sql, position=number) for number, sql in enumerate(self.queries, 1)))

    def sql(self) -> str:
        """The queries as the text of a query file."""
        return "".join(f"{query};\n" for query in self.queries)

    def view(self) -> View:
        """How many there are, and about what."""
        names = (("columns", listed(column.name for column in self.columns)),)
        notes = tuple(f"{each.name} is left out: {each.reason}" for each in self.left_out)
        return View(f"Generated {count(len(self.queries), 'query')} on {self.table}.", names, notes)

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "table": self.table,
            "queries": list(self.queries),
            "columns": [_column(column) for column in self.columns],
            "left_out": [{"column": each.name, "reason": each.reason} for each in self.left_out],
        }


def _column(column: ColumnSpec) -> dict[str, object]:
    low, high = (None if value is None else str(value) for value in (column.low, column.high))
    values = [str(value) for value in column.values]
    return {"name": column.name, "type": column.type, "low": low, "high": high, "values": values}


@dataclass(frozen=True, slots=True)
class Generate:
    """Draw ``queries`` queries from what the columns hold; the same seed gives the same ones.

    With ``zipf`` constants are skewed: value number k of a column is drawn with a probability proportional to
    1 / k^zipf. ``columns`` are those to filter on, by default all that can be compared with constants.
    """

    name: ClassVar[str] = "generate"

    queries: int = 100
    seed: int = 0
    zipf: float | None = None
    columns: Sequence[str] = ()

    def validate(self, context: Context) -> None:
        """Refuse numbers out of range; a column that there is not is refused before any is read."""
        checked(queries=self.queries, seed=self.seed, zipf=self.zipf)

    def run(self, context: Context) -> GeneratedWorkload:
        """Ask Spark what the columns hold, and draw."""
        with context.steps(max(len(context.snapshot), 1), {"reading columns": 9, "drawing": 1}) as steps:
            with context.engine.watch(steps.step("reading columns"), "reading columns", stages=4):
                found: Described = describe_columns(context.table, self.columns)
            if not found.columns:
                raise SkipstoneError(
                    f"No column of {context.source.location} has values that a query could be about."
                )
            steps.begin("drawing", "drawing queries")
            form = QueryForm(_quoted(context.source.called), zipf=self.zipf)
            queries = generate(found.columns, self.queries, self.seed, form)
        return GeneratedWorkload(context.source.called, queries, found.columns, found.left_out)


def _quoted(name: str) -> str:
    return ".".join(identifier(part) for part in name.split("."))
