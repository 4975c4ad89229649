"""What became of each replica in one scan, for people and programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from skipstone.catalog.choose_copies import Choice, Verdict
from skipstone.catalog.replicas import Replicas
from skipstone.pruning.report import CopyReport

__all__ = ["copy_reports"]


def copy_reports(
    replicas: Replicas, choice: Choice | None, by_columns: Mapping[int, str] | None = None
) -> tuple[CopyReport, ...]:
    """A report for each replica and verdict; ``by_columns`` has those that the scan's columns decided."""
    if choice is None:
        return ()
    totals = Counter(part.replica for part in replicas.parts)
    numbers: dict[tuple[str, Verdict], list[int]] = {}
    for number, (part, first) in enumerate(zip(replicas.parts, choice.verdicts, strict=True)):
        verdict = Verdict[by_columns[number]] if by_columns and number in by_columns else first
        numbers.setdefault((part.replica, verdict), []).append(number)
    return tuple(
        CopyReport(
            replica=replica,
            code=verdict.name,
            sentence=verdict.value,
            partitions=len(mine),
            partitions_total=totals[replica],
            base_files=int(choice.base_files[mine].sum()),
            base_bytes=int(choice.base_bytes[mine].sum()),
            files=int(choice.own_files[mine].sum()),
            bytes=int(choice.own_bytes[mine].sum()),
        )
        for (replica, verdict), mine in numbers.items()
    )
