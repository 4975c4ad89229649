"""What pruning answers: which blocks are skipped, why, and which predicates were of no use.

Every reason is a code for programs and a sentence for people.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from skipstone.predicate.expr import And, Comparison, Expr, IsNull, Literal
from skipstone.predicate.readable import plain_constants, readable
from skipstone.predicate.types import BOOLEAN

__all__ = ["MIGHT_MATCH", "Answer", "Code", "PruneResult", "Reason", "Unused", "UnusedCode", "reason"]


class Answer(Enum):
    """What is known about the rows of one block."""

    ROWS_MIGHT_MATCH = "rows might match"
    ROWS_CANNOT_MATCH = "rows cannot match"


class Code(Enum):
    """What ruled a block out; ROWS_MIGHT_MATCH where nothing did."""

    ROWS_MIGHT_MATCH = "rows might match"
    NO_ROWS = "no rows"
    CONTRADICTION = "contradiction"
    NULL_COUNT = "null count"
    MIN_MAX = "min/max"
    VALUE_SET = "value set"
    FEATURE = "feature"
    PARTNER = "partner"
    COMBINED = "combined"


class UnusedCode(Enum):
    """Why a predicate could not be used for any block."""

    OPAQUE = "opaque"
    NO_STATISTICS = "no statistics"
    TYPE_MISMATCH = "type mismatch"
    UNSUPPORTED_TYPE = "unsupported type"
    NOT_MONOTONE = "not monotone"
    NO_BOUNDS = "no bounds"
    TOO_COMPLEX = "too complex"
    BUDGET = "budget"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why blocks are skipped, and the predicate that did it."""

    code: Code
    sentence: str
    predicate: Expr


@dataclass(frozen=True, slots=True)
class Unused:
    """A predicate that no block could be judged by.

    ``detail`` is the code of an opaque part; ``subject`` the expression that statistics are missing of.
    """

    predicate: Expr
    code: UnusedCode
    sentence: str
    detail: str = ""
    subject: Expr | None = None


MIGHT_MATCH = Reason(Code.ROWS_MIGHT_MATCH, "rows might match", Literal(True, BOOLEAN))


@dataclass(frozen=True, slots=True, eq=False)
class PruneResult:
    """``reason`` holds, per block, an index in ``reasons``; 0 means that the block must be read."""

    skip: npt.NDArray[np.bool_]
    reason: npt.NDArray[np.int16]
    reasons: tuple[Reason, ...]
    unused: tuple[Unused, ...]

    def answer(self, block: int) -> Answer:
        """Whether rows of this block might match."""
        return Answer.ROWS_CANNOT_MATCH if self.skip[block] else Answer.ROWS_MIGHT_MATCH

    def why(self, block: int) -> Reason:
        """The reason for this block."""
        return self.reasons[int(self.reason[block])]


def reason(code: Code, subject: Expr | None, predicate: Expr, text: str = "") -> Reason:
    """The reason with its sentence; ``subject`` is what the statistics are about."""
    condition = readable(predicate)
    name = readable(subject) if subject is not None else ""
    match code:
        case Code.NO_ROWS:
            sentence = "the block has no rows"
        case Code.CONTRADICTION:
            sentence = f"{condition} is never true"
        case Code.NULL_COUNT if isinstance(predicate, IsNull) or _asks_for_null(predicate):
            sentence = f"{name} is never NULL"
        case Code.NULL_COUNT:
            sentence = f"{name} is always NULL, so {condition} is never true"
        case Code.MIN_MAX if subject is None and isinstance(predicate, Comparison):
            sides = f"{readable(predicate.left)} and {readable(predicate.right)}"
            sentence = f"min/max of {sides} cannot satisfy {condition}"
        case Code.MIN_MAX:
            sentence = f"min/max of {name or condition} cannot satisfy {condition}"
        case Code.VALUE_SET:
            sentence = f"no value of {name} satisfies {condition}"
        case Code.FEATURE | Code.PARTNER:
            what = "a partner as in" if code is Code.PARTNER else "the feature"
            sentence = f"no row has {what} {plain_constants(text) or condition}"
        case Code.COMBINED if isinstance(predicate, And):
            sentence = f"min/max of {name} cannot satisfy {condition} together"
        case _:
            sentence = f"no alternative of {condition} can hold"
    return Reason(code, sentence, predicate)


def _asks_for_null(predicate: Expr) -> bool:
    match predicate:
        case Comparison(op="<=>", right=Literal(value=None)):
            return True
    return False
