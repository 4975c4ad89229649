"""Which blocks a filter needs, given all that a catalog knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from skipstone.catalog.merge import Catalog
from skipstone.predicate.expr import Expr
from skipstone.predicate.limits import within_limits
from skipstone.predicate.normalize import normalize_filter
from skipstone.pruning.prune import prune
from skipstone.pruning.reasons import PruneResult

__all__ = ["decide"]


def decide(filter: Expr, catalog: Catalog, settings: Mapping[str, str]) -> PruneResult:
    """Prune the catalog's blocks; those indexed under other reader settings are never skipped."""
    result = prune(normalize_filter(within_limits(filter)), catalog.blocks)
    foreign = catalog.foreign(dict(settings))
    if not foreign.any():
        return result
    reason = result.reason.copy()
    reason[foreign] = 0
    return replace(result, skip=result.skip & ~foreign, reason=reason)
