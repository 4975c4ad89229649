"""Plants mutants in the pruning core, one at a time, and tells which of them the tests kill.

    make mutants                        # all of them, in two processes
    make mutants ONLY=exclude           # those whose id or file has this in it

Each mutant is an entry of ``planted.toml``: a piece of source, what to put in its place, and what
that breaks. The sources are copied to a temporary directory, one piece is replaced, and the pure tests of
``tests/predicate`` and ``tests/pruning`` (and ``tests/catalog/test_decide.py``) run on the copy: first the
files that are about the changed module, then all. A mutant that survives is a missing test.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.planted import MUTANTS, Mutant

ROOT = Path(__file__).parents[2]
EVERYTHING = ("tests/predicate", "tests/pruning", "tests/catalog/test_decide.py")
FIRST = {
    "predicate/allowed.py": ("tests/predicate/test_allowed.py", "tests/predicate/test_allows.py"),
    "predicate/allows.py": ("tests/predicate/test_allows.py", "tests/pruning/test_prune_traps.py"),
    "predicate/value_ranges.py": ("tests/predicate/test_value_ranges.py", "tests/predicate/test_allowed.py"),
    "predicate/text_shape.py": ("tests/predicate/test_text_shape.py",),
    "predicate/compiled.py": ("tests/predicate/test_implies.py",),
    "predicate/implies.py": ("tests/predicate/test_implies.py",),
    "predicate/nullness.py": ("tests/predicate/test_implies.py",),
    "predicate/normalize.py": ("tests/predicate/test_normalize.py",),
    "predicate/truncate.py": ("tests/predicate/test_truncate.py",),
    "pruning/bounds.py": ("tests/pruning/test_bounds.py", "tests/pruning/test_prune_statistics.py"),
    "pruning/bound_arrays.py": ("tests/pruning/test_bound_arrays.py", "tests/pruning/test_prune_traps.py"),
    "pruning/exclude.py": ("tests/pruning/test_exclude.py", "tests/pruning/test_prune_rules.py"),
    "pruning/prune.py": (
        "tests/pruning/test_prune_rules.py",
        "tests/pruning/test_prune_features.py",
        "tests/pruning/test_prune_joined.py",
        "tests/pruning/test_budget.py",
    ),
    "pruning/partitions.py": ("tests/pruning/test_partitions.py",),
    "pruning/arithmetic.py": ("tests/pruning/test_monotone.py",),
    "pruning/monotone.py": ("tests/pruning/test_monotone.py", "tests/pruning/test_prune_traps.py"),
    "pruning/widening.py": ("tests/pruning/test_monotone.py", "tests/pruning/test_prune_traps.py"),
    "pruning/value_sets.py": (
        "tests/pruning/test_value_sets.py",
        "tests/pruning/test_prune_features.py",
        "tests/pruning/test_prune_joined.py",
    ),
    "pruning/blocks.py": ("tests/pruning/test_prune_features.py", "tests/pruning/test_prune_joined.py"),
    "pruning/budget.py": (
        "tests/pruning/test_budget.py::test_a_budget_counts_what_is_taken_and_refuses_what_is_more_than_is_left",
    ),
    "catalog/decide.py": ("tests/catalog/test_decide.py",),
}
_QUICK = (
    "tests/pruning/test_prune_traps.py",
    "tests/pruning/test_prune_statistics.py",
    "tests/pruning/test_prune_rules.py",
    "tests/pruning/test_prune_features.py",
    "tests/pruning/test_prune_null_tests.py",
)
_RANDOM = ("tests/pruning/test_prune_property.py",)
_MOST_SECONDS = 600
_FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a mutant; ``killer`` is the first test that failed, empty if none did."""

    mutant: Mutant
    killer: str
    seconds: float


def judge(mutant: Mutant) -> Verdict:
    """Plant one mutant in a copy of the sources and run the tests on it."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        copy = Path(folder) / "src"
        shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__"))
        plant(mutant, copy / "skipstone")
        killer = ""
        for tests in (FIRST.get(mutant.file, _QUICK), _RANDOM, EVERYTHING):
            killer = killer or _first_failure(copy, Path(folder), tests)
    return Verdict(mutant, killer, time.monotonic() - started)


def plant(mutant: Mutant, package: Path) -> None:
    """Replace the mutant's piece of source, which must be there exactly once."""
    path = package / mutant.file
    source = path.read_text(encoding="utf-8")
    if source.count(mutant.old) != 1:
        raise ValueError(f"{mutant.id}: {source.count(mutant.old)} places in {mutant.file} have the text")
    path.write_text(source.replace(mutant.old, mutant.new), encoding="utf-8")


def _first_failure(source: Path, scratch: Path, tests: Iterable[str]) -> str:
    """The first test that fails with these sources; empty if all pass."""
    paths = f"{source} {ROOT}"
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--tb=no"]
    environment = {
        **os.environ,
        "PYTHONPATH": paths.replace(" ", os.pathsep),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HYPOTHESIS_STORAGE_DIRECTORY": str(scratch / "hypothesis"),
    }
    try:
        ran = subprocess.run(
            [*command, "-o", f"pythonpath={paths}", *tests],
            cwd=ROOT, env=environment, capture_output=True, text=True, timeout=_MOST_SECONDS, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "no end"
    if ran.returncode == 0:
        return ""
    found = _FAILED.search(ran.stdout)
    if found is None:
        raise RuntimeError(ran.stdout + ran.stderr)
    return found[1]


def main() -> int:
    """Judge the mutants and print a table; fails if any survives."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("only", nargs="*", default=[""], help="judge those with this in their id or file")
    parser.add_argument("--processes", type=int, default=2)
    chosen = parser.parse_args()
    mutants = [each for each in MUTANTS if any(part in f"{each.id} {each.file}" for part in chosen.only)]
    if not mutants:
        parser.error(f"no mutant has {' or '.join(chosen.only)} in its id or file")
    survivors = 0
    print("| mutant | file | what it breaks | killed by |\n|---|---|---|---|")
    with ThreadPoolExecutor(chosen.processes) as pool:
        for verdict in pool.map(judge, mutants):
            mutant, killer = verdict.mutant, verdict.killer or "**survived**"
            survivors += not verdict.killer
            print(f"| {mutant.id} | {mutant.file} | {mutant.breaks} | {killer} |", flush=True)
    print(f"\n{len(mutants) - survivors} of {len(mutants)} mutants are killed.")
    return 1 if survivors else 0


if __name__ == "__main__":
    raise SystemExit(main())
