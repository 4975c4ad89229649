"""Deciding an adaptation: a sample, the window's queries and prices in, the files to cut anew out.

Which leaf of the tree a file belongs to is not stored. It follows from the sampled rows: each knows its
file, and the tree knows its leaf. So files of appended rows, of earlier adaptations and of other writers
need no special care; a file of which no row was sampled is left alone. Were a file judged wrongly, its
rows would still be placed by the tree, and nothing but a little skipping lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from skipstone.estimate.advice import features_of_rewrite
from skipstone.estimate.benefit import Volume, load_of, scanned_blocks, volume
from skipstone.estimate.cost import Extent
from skipstone.estimate.cost_inputs import CostInputs, drawn_files
from skipstone.estimate.prepared import Prepared
from skipstone.layout.adapt_tree import Adaptation, AdaptLimits, LaidOut, Prices, adapt_tree
from skipstone.layout.assignment import Node, Split, Tree
from skipstone.layout.contract import ColumnGroup, Design
from skipstone.layout.long_text_cuts import long_text_cuts
from skipstone.layout.numbers import block_numbers
from skipstone.layout.one_tree import one_tree
from skipstone.layout.qdtree import cut_features
from skipstone.layout.stored_layout import StoredLayout
from skipstone.predicate.expr import Expr
from skipstone.pruning.blocks import Counts

__all__ = ["SCANNED_FIRST", "AdaptTerms", "Decided", "decide_adaptation"]

SCANNED_FIRST = "scanned_by_ranges_at_first"
"""The parameter of an adapted layout that says what ranges of columns scanned before any adaptation."""


@dataclass(frozen=True, slots=True)
class AdaptTerms:
    """What an adaptation may give up and rewrite, as shares, and when it pays.

    ``runs`` is how many runs of the window's queries count as savings, ``margin`` how many times its cost a
    rewrite must save.
    """

    most_given_up: float = 0.5
    most_rewritten: float = 0.5
    runs: float = 1.0
    margin: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Decided:
    """What to do: the files that are cut anew, by which design, and what is kept for later rows.

    ``before`` and ``after`` are what one run of the window's queries reads, simulated on the sample.
    """

    adaptation: Adaptation
    file_indices: Counts
    rows: float
    writing: Design
    stored: Design
    before: Volume
    after: Volume
    rewrite_seconds: float
    terms: AdaptTerms

    @property
    def seconds_saved(self) -> float:
        """What the runs of the window's queries that count save."""
        return self.terms.runs * (self.before.seconds - self.after.seconds)

    @property
    def pays(self) -> bool:
        """Whether that is more than the rewrite costs, by the margin."""
        enough = self.terms.margin * self.rewrite_seconds
        return bool(len(self.file_indices)) and self.seconds_saved > enough


def decide_adaptation(
    prepared: Prepared, stored: StoredLayout, inputs: CostInputs, terms: AdaptTerms
) -> Decided:
    """The adaptation of a layout that is a tree, by the files that were prepared."""
    group = stored.design.group
    tree = one_tree(group.assignment)
    assert tree is not None
    sample, queries = prepared.view.sample, prepared.workload.queries
    prices = _prices(prepared, group, inputs)
    limits = AdaptLimits(
        block_rows=prepared.view.block_rows,
        most_given_up=terms.most_given_up,
        most_rewritten=terms.most_rewritten,
        scanned_first=_scanned_first(prepared, stored),
    )
    file_of = prepared.drawn.file_of
    counted = replace(prices, scan=prices.scan * terms.runs / terms.margin)
    found = adapt_tree(LaidOut(tree, file_of, sample.partition_by), sample, queries, counted, limits)
    none = [np.zeros(0, np.int64)]
    touched = np.concatenate([*none, *(change.units for change in found.changes)])
    inside = np.isin(file_of, touched)
    numbers = np.where(
        inside, len(prepared.drawn.file_paths) + block_numbers(found.writing, sample, queries.atoms), file_of
    )
    writing, kept = (_design(prepared, group, each) for each in (found.writing, found.tree))
    before, after = (_volume(prepared, each.astype(np.int32), writing, inputs) for each in (file_of, numbers))
    rows = float(np.count_nonzero(inside)) * sample.scale
    indices = drawn_files(prepared)[touched]
    return Decided(
        adaptation=found,
        file_indices=np.sort(indices[indices >= 0]),
        rows=rows,
        writing=writing,
        stored=kept,
        before=before,
        after=after,
        rewrite_seconds=prices.fixed + prices.rewrite * rows,
        terms=terms,
    )


def _scanned_first(prepared: Prepared, stored: StoredLayout) -> dict[Expr, float]:
    """What ranges of each column scanned before the first adaptation; nothing if there was none."""
    known, names = stored.record.parameters.get(SCANNED_FIRST), prepared.snapshot.logical_names
    if not isinstance(known, Mapping):
        return {}
    texts = {expr: names.sql(expr) for expr in prepared.view.sample.columns}
    return {expr: float(known[text]) for expr, text in texts.items() if text in known}


def _prices(prepared: Prepared, group: ColumnGroup, inputs: CostInputs) -> Prices:
    costs = inputs.model.coefficients
    load = load_of(prepared.workload.queries, prepared.entries, inputs.sizes)
    scan = np.array(
        [
            costs.read_seconds(Extent(row_bytes, 1.0, row_values), 0.0)
            for row_bytes, row_values in zip(load.row_bytes, load.row_values, strict=True)
        ]
    )
    features = features_of_rewrite(prepared, Design((group,)), inputs.sizes)
    whole = costs.rewrite_seconds(features) - costs.rewrite_fixed
    return Prices(scan * load.weights, whole / max(prepared.total_rows, 1), costs.rewrite_fixed)


def _volume(prepared: Prepared, numbers: npt.NDArray[np.int32], design: Design, inputs: CostInputs) -> Volume:
    sample, queries = prepared.view.sample, prepared.workload.queries
    scanned = scanned_blocks(numbers, sample, queries, prepared.judging_features(design))
    load = load_of(queries, prepared.entries, inputs.sizes)
    return volume(scanned, load, prepared.total_rows, inputs.model.coefficients)


def _design(prepared: Prepared, group: ColumnGroup, tree: Tree) -> Design:
    """The group with another tree, and bits for those of its cuts that bounds do not show."""
    sample, queries = prepared.view.sample, prepared.workload.queries
    features = (*cut_features(sample, queries, _cuts(tree.root)), *long_text_cuts(tree))
    return Design((ColumnGroup(tree, group.sort, tuple(dict.fromkeys(features)), group.expressions),))


def _cuts(root: Node) -> list[Expr]:
    found: list[Expr] = []
    stack = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, Split):
            found.append(node.cut)
            stack += [node.no, node.yes]
    return found
