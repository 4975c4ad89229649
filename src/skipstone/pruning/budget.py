"""How much work one decision may do beyond what is linear in the size of its filter.

Judging every conjunct, and every branch of every OR, by itself takes time that is linear in the filter, and
is always done. Judging the branches of ORs together with the other conjuncts, and with the branches of other
ORs, grows with the product of their numbers. That work is counted in steps and stops when they are spent.
What is left undone only means that fewer blocks are skipped. Steps are counted, not timed, so the same filter
over the same blocks gets the same answer on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["STEPS", "Budget"]

STEPS = 2_000
"""A step is one conjunct in one context, or one predicate compared with one feature: some 10 microseconds."""


@dataclass(slots=True)
class Budget:
    """The steps that are left, and whether any work was refused."""

    left: int = STEPS
    refused: bool = False

    def take(self, steps: int) -> bool:
        """Whether so much work may be done; it counts as done then."""
        if steps > self.left:
            self.refused = True
            return False
        self.left -= steps
        return True
