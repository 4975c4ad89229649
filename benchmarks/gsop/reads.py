"""Queries run on real files, and what making them takes: figures 7b, 8b and 10 of GSOP (VLDB 2016).

Every contestant is a replica of the denormalised TPC-H table, each beside a copy of its own of the same base
files, made for the training queries. Test queries run in turns; the least processor time and the least
seconds of some rounds count. ``GSOP`` has the groups that the paper's cost leads to, and ``GSOP, always``
reads them even where the base is estimated to cost less. ``same blocks`` has whole rows in the blocks of that
group of GSOP which alone answers most test queries.
"""

from __future__ import annotations

import os
import shutil
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np

import skipstone
from benchmarks.context import context_of
from benchmarks.cpu import cpu_seconds
from benchmarks.gsop.queries import GSOP_TEMPLATES, gsop_workloads
from benchmarks.jvm import file_scans, peak_task_bytes
from benchmarks.pieces import Piece
from benchmarks.session_settings import SWITCH, session_settings
from benchmarks.tpch.queries import TABLE
from benchmarks.tpch.simulator import parsed
from skipstone.actions.choose_layout import AUTO, LayoutChoice, choose_layout
from skipstone.actions.make_partitions import partition_count, rows_plan
from skipstone.actions.prepare import FitRequest
from skipstone.actions.replicate import copy_rows, make_replica
from skipstone.api import Table
from skipstone.catalog.column_groups import TUPLE_ID
from skipstone.catalog.layout_records import load_layout
from skipstone.layout.options import LayoutOptions
from skipstone.workload.predicates import LoggedFilter

__all__ = ["ALWAYS", "GROUPED", "LAYOUTS", "PLAIN_TABLE", "SAME_BLOCKS", "WAYS", "Reads"]

PLAIN_TABLE, GROUPED, ALWAYS, SAME_BLOCKS = "plain Parquet", "GSOP", "GSOP, always", "same blocks"
LAYOUTS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "SOP": ("sop", {}),
    "qd-tree": ("qdtree", {}),
    GROUPED: ("gsop", {"reconstruction": "sort-merge"}),
}
WAYS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    PLAIN_TABLE: (GROUPED, {SWITCH: "false"}),
    **{name: (name, {}) for name in LAYOUTS},
    ALWAYS: (GROUPED, {"spark.skipstone.groups": "always"}),
    SAME_BLOCKS: (SAME_BLOCKS, {}),
}
"""The table of each contestant, and the settings that its queries run with."""
_FEATURES, _FIT_ROWS, _ROUNDS = 100, 300_000, 3


@dataclass(frozen=True, slots=True, eq=False)
class Reads:
    """Makes and reads copies of the table at ``base`` below ``home``, in about ``blocks`` blocks."""

    spark: skipstone.spark.SparkSession
    base: Path
    home: Path
    blocks: int
    per_template: int = 2
    _training: list[LoggedFilter] = field(default_factory=list)

    def load(self) -> Piece:
        """What it takes to write the rows of the table as plain Parquet; the second time counts."""
        rows, target = self.spark.read.parquet(str(self.base)), self.home / "load"
        taken = [_timed(partial(self._written, rows, target)) for _ in range(2)][-1]
        size = sum(path.stat().st_size for path in target.glob("*.parquet"))
        shutil.rmtree(target)
        return {"plain": taken, "bytes": size}

    def _written(self, rows: skipstone.spark.DataFrame, target: Path) -> None:
        rows.write.mode("overwrite").parquet(str(target))

    def choice(self) -> Piece:
        """What ``replicate`` would choose of these layouts by itself, and what it expects of each."""
        choice, taken = self._chosen(self._opened(self.base), AUTO, {})
        rows = {row.layout: row for row in choice.advice.layouts}
        return {
            "layout": choice.layout,
            "note": "" if choice.design is None else choice.design.note,
            "fit": taken,
            "layouts": {
                name: {"percent": row.percent_scanned, "seconds": row.scan_seconds, "note": row.note}
                for name, row in rows.items()
            },
        }

    def built(self, name: str) -> Piece:
        """One contestant's replica, made."""
        layout, options = LAYOUTS[name]
        opened = self._opened(self._copy(name))
        choice, fit = self._chosen(opened, layout, options)
        return {"fit": fit, **self._made(opened, choice)}

    def built_as_rows(self) -> Piece:
        """Whole rows in the blocks of the group that alone answers most test queries."""
        grouped = context_of(self._opened(self._place(GROUPED)), TABLE)
        parts = grouped.table.stored_replicas().parts
        record = load_layout(grouped.store, parts[0].replica, grouped.snapshot.root)
        assert record is not None
        columns = [group.columns for group in parts[0].groups]
        alone = self._answered_alone(columns)
        most = int(np.argmax(alone))
        group = replace(record.groups[most], columns=None)
        context = context_of(self._opened(self._copy(SAME_BLOCKS)), TABLE)
        same = replace(record, id=uuid.uuid4().hex[:12], strategy="sop", groups=(group,))
        plan = rows_plan(context.table, same, same.created)
        rows = sum(part.rows for part in parts)
        taken = _timed(lambda: copy_rows(context, plan, same, rows))
        return {"copy": taken, "answers_alone": alone, "columns": list(columns[most])}

    def _answered_alone(self, groups: Sequence[Sequence[str]]) -> list[int]:
        """How many test queries each of some groups has all columns of."""
        opened = self._opened(self.base)
        entries = parsed(opened, gsop_workloads()[1])
        return [sum(set(entry.columns or ()) <= set(group) for entry in entries) for group in groups]

    def timed(self, ways: Sequence[str]) -> Piece:
        """Every query by each contestant, in turns; the first round warms up."""
        tables = {way: self._named(way) for way in ways}
        found: Piece = {}
        for template, sql in self._queries():
            one = found[template] = {"sql": sql, "ways": {}}
            answers = set()
            for turn in range(_ROUNDS):
                for way in ways:
                    best = one["ways"].setdefault(way, {"cpu": np.inf, "seconds": np.inf})
                    with session_settings(self.spark, WAYS[way][1]):
                        mine = sql.replace(f"FROM {TABLE}", f"FROM {tables[way]}")
                        if not turn:
                            answers.add(self._measured(mine, best))
                            continue
                        taken = _timed(partial(self._run, mine))
                        best |= {key: min(best[key], taken[key]) for key in ("cpu", "seconds")}
            one["answers"] = len(answers)
            for way in (GROUPED, ALWAYS):
                one["ways"][way]["groups_read"] = self._groups_read(sql, way)
        return found

    def all_rows(self) -> Piece:
        """The most memory that putting tuples together takes a task: of all rows, none skipped."""
        table = self._named(ALWAYS)
        sql = f"SELECT max(l_extendedprice), max(s_name), max(l_shipmode) FROM {table} WHERE l_quantity > 0"
        found: Piece = {"sql": sql}
        for way, most in (("hash", "100000000000"), ("sort-merge", "0")):
            wanted = {**WAYS[ALWAYS][1], "spark.skipstone.groups.hashBytes": most}
            with session_settings(self.spark, wanted):
                frame = self.spark.sql(sql)
                found[way] = {"bytes": peak_task_bytes(self.spark, frame.collect), **_cells(frame)}
        return found

    def _run(self, sql: str) -> object:
        return self.spark.sql(sql).collect()

    def _groups_read(self, sql: str, way: str) -> int:
        """How many groups the query reads; none if it reads the base."""
        with session_settings(self.spark, WAYS[way][1]):
            scans = self._opened(self._place(WAYS[way][0])).explain(sql).scans
        return max((len(report.groups) for scan in scans for report in scan.groups), default=0)

    def _measured(self, sql: str, best: Piece) -> str:
        frame, rows = self.spark.sql(sql), []
        best["task_bytes"] = peak_task_bytes(self.spark, lambda: rows.extend(frame.collect()))
        best |= _cells(frame)
        return "\n".join(sorted(map(repr, rows)))

    def _queries(self) -> list[tuple[str, str]]:
        _, test = gsop_workloads()
        each = len(test.queries) // len(GSOP_TEMPLATES)
        return [
            (f"{template}-{number}", test.queries[index * each + number].sql)
            for index, template in enumerate(GSOP_TEMPLATES)
            for number in range(self.per_template)
        ]

    def _chosen(
        self, opened: Table, layout: str, own: Mapping[str, str]
    ) -> tuple[LayoutChoice, dict[str, float]]:
        context = context_of(opened, TABLE)
        if not self._training:
            self._training.extend(parsed(opened, gsop_workloads()[0]))
        rows = self.spark.read.parquet(str(self.base)).count()
        # Each horizontal partition has all blocks of a design.
        parts = partition_count(rows, layout == "gsop")
        options = LayoutOptions(
            max(1, rows * parts // self.blocks),
            num_features=_FEATURES,
            threshold=5.0,
            sample_rows=_FIT_ROWS,
            own=own,
        )
        request = FitRequest(
            context.table.file_indices,
            tuple(self._training),
            options=options,
            wanted=("sop", "qdtree", "gsop"),
            replica=True,
        )
        found: list[LayoutChoice] = []
        taken = _timed(lambda: found.append(choose_layout(context, layout, request)))
        return found[0], taken

    def _made(self, opened: Table, choice: LayoutChoice) -> Piece:
        context, rows = context_of(opened, TABLE), choice.prepared.total_rows
        assert choice.design is not None
        several = len(choice.design.groups) > 1
        part_rows = rows / partition_count(rows, several)
        taken = _timed(lambda: make_replica(context, choice, part_rows, max(1, rows // self.blocks)))
        parts = context.table.stored_replicas().parts
        groups = [group for part in parts for group in part.groups]
        of = {name: sum(group.column_bytes.get(name, 0) for group in groups) for name in (TUPLE_ID,)}
        grouped_rows = sum(int(group.blocks.blocks.rows.sum()) for group in groups)
        return {
            "copy": taken,
            "rows": rows,
            "note": choice.design.note,
            "groups": [list(group.columns or ()) for group in choice.design.groups],
            "partitions": len(parts),
            "blocks": sum(map(len, groups)) or sum(len(part.files) for part in parts),
            "bytes": sum(part.files.bytes for part in parts),
            "tuple_id_bits": 8 * of[TUPLE_ID] / grouped_rows if grouped_rows else 0.0,
        }

    def _opened(self, path: Path) -> Table:
        return skipstone.table(self.spark, f"{TABLE}={path}")

    def _named(self, way: str) -> str:
        place = self._place(WAYS[way][0])
        name = f"gsop_{place.name}"
        skipstone.table(self.spark, f"{name}={place}")
        return name

    def _place(self, name: str) -> Path:
        return self.home / name.lower().replace("-", "").replace(" ", "_")

    def _copy(self, name: str) -> Path:
        """The base once more; files that nobody changes can be shared."""
        target = self._fresh(self._place(name).name)
        shutil.copytree(self.base, target, copy_function=os.link)
        return target

    def _fresh(self, name: str) -> Path:
        shutil.rmtree(self.home / name, ignore_errors=True)
        return self.home / name


def _timed(work: Callable[[], object]) -> dict[str, float]:
    started, before = time.perf_counter(), cpu_seconds()
    work()
    return {"cpu": cpu_seconds() - before, "seconds": time.perf_counter() - started}


def _cells(frame: skipstone.spark.DataFrame) -> Piece:
    """Data cells and tuple ids that a query has read."""
    scans = file_scans(frame)
    wide = [sum(name != TUPLE_ID for name in scan.columns) for scan in scans]
    return {
        "cells": sum(scan.rows * width for scan, width in zip(scans, wide, strict=True)),
        "columns": sorted({name for scan in scans for name in scan.columns} - {TUPLE_ID}),
        "tuple_ids": sum(scan.rows for scan in scans if TUPLE_ID in scan.columns),
    }
