"""Why files are read, with the command that would change it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

import numpy as np

from skipstone.predicate.expr import Expr, Literal, walk
from skipstone.predicate.readable import readable
from skipstone.predicate.render import to_sql
from skipstone.pruning.blocks import BlockSet, Counts
from skipstone.pruning.masks import Flags
from skipstone.pruning.reasons import PruneResult
from skipstone.pruning.report import ReadReason
from skipstone.pruning.why_read import WhyRead, why_read

__all__ = ["ReadFiles", "read_reasons"]

_SPECIAL_IN_QUOTES = frozenset('"$`\\!\n')
_MUCH = 0.5
"""Statistics that leave more than this share of the files are called too wide, and a layout is proposed."""


@dataclass(frozen=True, slots=True, eq=False)
class ReadFiles:
    """The indexed files of a table that a query reads, out of ``of`` that it was offered.

    ``sizes`` are the bytes of all indexed files.
    """

    filter: Expr
    root: str
    files: Flags
    of: int
    sizes: Counts
    partitions: frozenset[tuple[str, ...]] = frozenset()


def read_reasons(read: ReadFiles, blocks: BlockSet, result: PruneResult) -> tuple[ReadReason, ...]:
    """For every condition the files that it could not rule out, most files first for each."""
    found = []
    for why in why_read(read.filter, blocks, result, read.files, read.partitions):
        indices = np.flatnonzero(why.blocks)
        found.append(
            ReadReason(
                predicate=to_sql(why.predicate),
                code=why.code,
                sentence=why.sentence,
                files=len(indices),
                rows=int(np.maximum(blocks.rows[indices], 0).sum()),
                bytes=int(read.sizes[indices].sum()),
                remedy=_remedy(why, read),
            )
        )
    return tuple(found)


def _remedy(why: WhyRead, read: ReadFiles) -> str:
    table = _argument(read.root.removeprefix("file:"))
    if why.expression is not None:
        return f"skipstone index {table} --expression {_argument(_sql(why.expression))}"
    if why.feature is not None:
        return f"skipstone index {table} --feature {_argument(_sql(why.feature))}"
    if why.narrow and np.count_nonzero(why.blocks) > _MUCH * read.of:
        # The copy itself answers nothing any more once somebody else has written to it.
        table, _, copy = table.partition("/_skipstone/joined/")
        verb = "denormalise" if copy else "optimize"
        return f"skipstone {verb} {table} --queries FILE, with this query among those of FILE"
    return ""


def _sql(expr: Expr) -> str:
    """As people write it, where Spark reads the same from it: the digits of a fraction give its type."""
    text = readable(expr)
    whole = all(isinstance(node.value, int | str) for node in walk(expr) if isinstance(node, Literal))
    return text if whole and "…" not in text else to_sql(expr)


def _argument(text: str) -> str:
    """The text as one argument of a shell command."""
    if shlex.quote(text) == text:
        return text
    return f'"{text}"' if _SPECIAL_IN_QUOTES.isdisjoint(text) else shlex.quote(text)
