"""What ``skipstone analyze`` shows: the same values as a dictionary and as text."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from skipstone.actions.selection_report import selection_dict, selection_text
from skipstone.predicate.expr import And, Expr
from skipstone.predicate.readable import readable
from skipstone.predicate.render import to_sql
from skipstone.text_table import MOST_ROWS, text_table
from skipstone.view import Grid, Share, View, Viewed
from skipstone.workload.analysis import Analysis
from skipstone.workload.curves import Curves
from skipstone.workload.selection import Selection

__all__ = ["AnalysisReport"]

_POINTS = (1, 5, 10, 20, 30, 50, 75, 100)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AnalysisReport(Viewed):
    """An analysis of one table's queries, with the curves of the log and the features of ``selforg``.

    ``selection`` is None where no rows could be sampled.
    """

    table: str
    analysis: Analysis
    curves: Curves
    selection: Selection | None = None

    def to_dict(self) -> dict[str, object]:
        """Everything, ready for JSON."""
        found = self.analysis
        return {
            "table": self.table,
            "queries": found.weight,
            "queries_without_filter": found.unfiltered,
            "queries_never_true": found.never_true,
            "threshold": found.threshold,
            "num_features": found.num_features,
            "chosen_by": found.validation.sentence if found.validation else "given",
            "validation": _validation(found),
            "frequent_sets": found.frequent_sets,
            "complete_from": found.complete_from,
            "predicates": [
                {"sql": to_sql(use.predicate), "used": use.used, "support": use.support}
                for use in found.predicates
            ],
            "features": [
                {
                    "sql": to_sql(feature.predicate),
                    "predicates": [to_sql(predicate) for predicate in feature.predicates],
                    "support": feature.support,
                    "weight": feature.weight,
                    "gain": feature.gain,
                }
                for feature in found.features
            ],
            "dropped": [
                {
                    "sql": to_sql(_conjunction(each.predicates)),
                    "support": each.support,
                    "gain": each.gain,
                    "code": each.code,
                    "reason": each.sentence,
                }
                for each in found.dropped
            ],
            "dropped_count": found.dropped_count,
            "selection": None if self.selection is None else selection_dict(self.selection),
            "commonality": _points(self.curves.commonality.x, self.curves.commonality.y),
            "stability": _points(self.curves.stability.x, self.curves.stability.y),
        }

    def __str__(self) -> str:
        """Tables for a terminal."""
        chosen = () if self.selection is None else (selection_text(self.selection),)
        return "\n\n".join(
            (self._heading(), self._predicates(), self._features(), self._dropped(), *chosen, self._curves())
        )

    def view(self) -> View:
        """The predicates and features with the queries that they matter to."""
        found, most = self.analysis, self.analysis.weight
        uses = tuple(
            (Share(use.used, most, f"{use.used:g}"), f"{use.support:g}", readable(use.predicate))
            for use in found.predicates[:MOST_ROWS]
        )
        features = tuple(
            (
                Share(feature.weight, most, f"{feature.weight:g}"),
                f"{feature.gain:g}",
                readable(feature.predicate),
            )
            for feature in found.features
        )
        dropped = tuple(
            (f"{each.support:g}", each.code, readable(_conjunction(each.predicates)))
            for each in found.dropped[:MOST_ROWS]
        )
        headline, *notes = self._heading().splitlines()
        left, unseen = len(found.predicates) - len(uses), found.dropped_count - len(dropped)
        return View(
            headline,
            notes=tuple(notes),
            grids=(
                Grid("Predicates", ("used", "subsumes", "predicate"), uses, left),
                Grid("Features", ("weight", "I(F)", "predicate"), features),
                Grid("Not chosen", ("subsumes", "reason", "predicate"), dropped, unseen),
            ),
        )

    def _heading(self) -> str:
        found = self.analysis
        asked = [f"{found.weight:g} queries on {self.table}"]
        if found.unfiltered:
            asked.append(f"{found.unfiltered:g} without a usable filter")
        if found.never_true:
            asked.append(f"{found.never_true:g} never true")
        how = found.validation.sentence if found.validation else "as given"
        lines = [
            ", ".join(asked),
            f"threshold T = {found.threshold:g}, {len(found.features)} features ({how})",
        ]
        if found.complete_from > found.threshold:
            lines.append(f"too many frequent sets: complete from a support of {found.complete_from:g} on")
        return "\n".join(lines)

    def _predicates(self) -> str:
        uses = self.analysis.predicates
        rows = [(f"{use.used:g}", f"{use.support:g}", readable(use.predicate)) for use in uses[:MOST_ROWS]]
        return text_table("Predicates", ("used", "subsumes", "predicate"), rows, len(uses) - len(rows))

    def _features(self) -> str:
        rows = [
            (f"F{index}", f"{feature.weight:g}", f"{feature.gain:g}", readable(feature.predicate))
            for index, feature in enumerate(self.analysis.features, 1)
        ]
        return text_table("Features", ("", "weight", "I(F)", "predicate"), rows)

    def _dropped(self) -> str:
        listed = self.analysis.dropped[:MOST_ROWS]
        rows = [(f"{each.support:g}", each.code, readable(_conjunction(each.predicates))) for each in listed]
        more = self.analysis.dropped_count - len(rows)
        return text_table("Not chosen", ("subsumes", "reason", "predicate"), rows, more)

    def _curves(self) -> str:
        heights = ((self.curves.commonality, "Commonality"), (self.curves.stability, "Stability"))
        rows = [(name, *(f"{curve.at(x):.0f} %" for x in _POINTS)) for curve, name in heights]
        return text_table(
            "Queries that use the most frequent x % of predicates, and those of the first x % of queries",
            ("x", *(f"{x} %" for x in _POINTS)),
            rows,
        )


def _validation(analysis: Analysis) -> list[dict[str, float]]:
    compared = analysis.validation.compared if analysis.validation else ()
    return [
        {"threshold": choice.threshold, "num_features": choice.num_features, "score": choice.score}
        for choice in compared
        if math.isfinite(choice.score)
    ]


def _conjunction(predicates: tuple[Expr, ...]) -> Expr:
    return And(predicates) if len(predicates) > 1 else predicates[0]


def _points(x: Iterable[float], y: Iterable[float]) -> dict[str, list[float]]:
    return {"x": [round(float(value), 3) for value in x], "y": [round(float(value), 3) for value in y]}
