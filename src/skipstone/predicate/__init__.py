"""The pure core: expressions, their normal form, implication and evaluation. No Spark."""

from skipstone.predicate.codec import fingerprint, from_json, to_json
from skipstone.predicate.evaluate import NotEvaluable, evaluate
from skipstone.predicate.implies import disjoint, implies, never_true
from skipstone.predicate.normalize import conjuncts, normalize, normalize_filter
from skipstone.predicate.render import to_sql

__all__ = [
    "NotEvaluable",
    "conjuncts",
    "disjoint",
    "evaluate",
    "fingerprint",
    "from_json",
    "implies",
    "never_true",
    "normalize",
    "normalize_filter",
    "to_json",
    "to_sql",
]
