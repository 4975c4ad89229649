"""What a scan of a registered table reads of column groups, as the shim asks for it and carries it out.

The shim asks at planning, when the columns are known that a scan has to give. The rest of the question is the
one that was asked about the scan before.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from skipstone.catalog.choose_copies import NO_COPIES, Skips, Verdict
from skipstone.catalog.choose_groups import GroupChoice, GroupQuestion, choose_groups
from skipstone.catalog.decide import decide
from skipstone.catalog.group_reads import GroupRead, ReplicaRead, group_reads
from skipstone.catalog.replicas import Flags, holds_columns
from skipstone.catalog.types_json import PHYSICAL_NAME
from skipstone.pruning.blocks import Counts
from skipstone.spark.bridge.loaded_table import LoadedTable
from skipstone.spark.bridge.question import Question, QuestionJson

__all__ = ["AskedColumns", "DecidedGroups", "decide_groups"]


class _AskedJson(TypedDict):
    question: QuestionJson
    columns: list[str]
    tasks: int
    mode: str


@dataclass(frozen=True, slots=True)
class AskedColumns:
    """A scan, the columns that it has to give, by the names that queries use, and how many tasks can run.

    ``mode`` is the setting that says whether groups are read: ``auto``, ``always`` or ``never``.
    """

    question: Question
    columns: tuple[str, ...]
    tasks: int
    mode: str = "auto"

    @classmethod
    def read(cls, text: str) -> AskedColumns:
        """Read the shim's JSON."""
        asked: _AskedJson = json.loads(text)
        columns = tuple(asked["columns"])
        return cls(Question.read(asked["question"]), columns, asked["tasks"], asked["mode"])

    @property
    def stored(self) -> tuple[str, ...]:
        """The columns by their stored names."""
        return tuple(self.question.names.resolve((), name).path[0] for name in self.columns)


@dataclass(frozen=True, slots=True, eq=False)
class DecidedGroups:
    """Which partitions are read by groups, in place of which copies of whole rows, and what of them."""

    choice: GroupChoice
    reads: tuple[ReplicaRead, ...]
    columns: tuple[str, ...]

    def text(self) -> str:
        """As the shim reads it."""
        number = {column: index for index, column in enumerate(self.columns)}
        return json.dumps(
            {
                "chosen": np.flatnonzero(self.choice.chosen).tolist(),
                "replaced": np.flatnonzero(self.choice.replaced).tolist(),
                "reads": [
                    {
                        "replica": read.replica,
                        "partitions": read.partitions,
                        "partitions_total": read.partitions_total,
                        "groups": [_group_json(group, number) for group in read.groups],
                    }
                    for read in self.reads
                ],
                "verdicts": {str(part): verdict.name for part, verdict in self.choice.verdicts.items()},
            }
        )


def _group_json(group: GroupRead, number: Mapping[str, int]) -> dict[str, object]:
    return {
        "columns": [number[column] for column in group.columns],
        "stored": group.columns,
        "paths": group.files.paths,
        "sizes": group.files.sizes.tolist(),
        "times": group.files.times.tolist(),
        "tasks": group.tasks,
        "rows": group.rows,
        "most_rows": group.most_rows,
        "blocks": group.blocks,
        "blocks_total": group.blocks_total,
        "bytes": group.bytes,
    }


def decide_groups(table: LoadedTable, asked: AskedColumns) -> DecidedGroups:
    """Choose for one scan."""
    question, replicas = asked.question, table.replicas
    decided = table.decide(question)
    assert decided.own is not None
    assert decided.choice is not None
    columns = asked.stored
    skips = Skips(decided.base.skip, table.base_entry, decided.own.skip)
    wanted = GroupQuestion(
        columns=columns,
        usable=_usable(table, question, columns, decided.choice.verdicts) & (asked.mode != "never"),
        skip=decide(question.filter, replicas.grouped.catalog, question.settings).skip,
        rows_choice=decided.choice,
        skips=skips,
        base_rows=_base_rows(table),
        state=question.copies or NO_COPIES,
        always=asked.mode == "always",
    )
    choice = choose_groups(replicas, wanted)
    for part in np.flatnonzero(_has_groups(table) & ~wanted.usable).tolist():
        verdict = decided.choice.verdicts[part]
        why = Verdict.TURNED_OFF if asked.mode == "never" else Verdict.OTHER_COLUMNS
        choice.verdicts[part] = why if verdict is Verdict.BY_COLUMNS else verdict
    choice.verdicts.update(dict.fromkeys(np.flatnonzero(choice.replaced).tolist(), Verdict.COVERED))
    return DecidedGroups(choice, group_reads(replicas, wanted, choice, asked.tasks), columns)


def _has_groups(table: LoadedTable) -> Flags:
    return np.array([bool(part.groups) for part in table.replicas.parts], np.bool_)


def _usable(
    table: LoadedTable, question: Question, columns: Sequence[str], verdicts: Sequence[Verdict]
) -> Flags:
    """Partitions by groups that have all columns, of the types that they are asked for as."""
    schema = _schema_of(question.schema, columns)
    return np.array(
        [
            verdict is Verdict.BY_COLUMNS
            and set(columns) <= set(part.columns)
            and holds_columns(part.schema, schema)
            for part, verdict in zip(table.replicas.parts, verdicts, strict=True)
        ],
        np.bool_,
    )


def _schema_of(schema: str, columns: Sequence[str]) -> str:
    found = json.loads(schema)
    some = [
        field
        for field in found["fields"]
        if field.get("metadata", {}).get(PHYSICAL_NAME, field["name"]) in columns
    ]
    return json.dumps({**found, "fields": some})


def _base_rows(table: LoadedTable) -> Counts:
    """The rows of the covered base files: as they are known, or by their share of a partition's bytes."""
    replicas, rows = table.replicas, np.append(table.catalog.blocks.rows, -1)[table.base_entry]
    by, sizes = replicas.covered_by, replicas.covered.sizes
    total = np.bincount(by, weights=sizes, minlength=len(replicas))
    held = np.array([part.rows for part in replicas.parts], np.float64)
    return np.asarray(np.where(rows >= 0, rows, held[by] * sizes / np.maximum(total[by], 1)), np.int64)
