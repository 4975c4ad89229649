from __future__ import annotations

import re
from random import Random

import pytest

from benchmarks.gsop.queries import GSOP_TEMPLATES, gsop_workloads
from benchmarks.tpch.queries import Draw

COLUMN = re.compile(r"\b(?:l|o|c|cn|cr|p|ps|s|sn|sr)_[a-z]+\b")


def test_there_are_a_hundred_queries_of_each_template_to_fit_and_ten_others_to_test() -> None:
    training, test = gsop_workloads()
    assert (len(training.queries), len(test.queries)) == (1_000, 100)
    assert list(map(str, sorted(GSOP_TEMPLATES, key=lambda name: int(name[1:])))) == [
        f"q{number}" for number in (3, 5, 6, 11, 12, 16, 19, 20, 21, 22)
    ]
    assert len({query.sql for query in training.queries}) > 500
    assert training.queries == gsop_workloads()[0].queries


@pytest.mark.parametrize(
    ("template", "columns"),
    [
        ("q3", 7),
        ("q6", 4),
        ("q11", 4),
        ("q12", 5),
        ("q16", 4),
        ("q19", 8),
        ("q20", 3),
        ("q21", 5),
        ("q22", 2),
    ],
)
def test_a_template_reads_as_many_columns_as_in_the_paper(template: str, columns: int) -> None:
    text = GSOP_TEMPLATES[template](Draw(Random(1)))
    assert len(set(COLUMN.findall(text))) == columns
