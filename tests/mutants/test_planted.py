"""The mutants still fit the sources; ``make mutants`` tells whether the tests kill them."""

from __future__ import annotations

from pathlib import Path

from tests.mutants.planted import MUTANTS

PACKAGE = Path(__file__).parents[2] / "src" / "skipstone"


def test_every_mutant_changes_exactly_one_place_of_its_file() -> None:
    sources = {each.file: (PACKAGE / each.file).read_text(encoding="utf-8") for each in MUTANTS}
    assert [
        each.id for each in MUTANTS if sources[each.file].count(each.old) != 1 or each.old == each.new
    ] == []


def test_there_are_enough_mutants_and_each_has_a_name_of_its_own() -> None:
    assert len(MUTANTS) >= 50
    assert len({each.id for each in MUTANTS}) == len(MUTANTS)
