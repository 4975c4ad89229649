"""Which statements of a log may be analysed for somebody else, by the names in them. No Spark."""

from __future__ import annotations

import pytest

from skipstone.spark.bridge.allowed_log import _WORDS, refused_in_log
from skipstone.spark.bridge.allowed_query import FUNCTIONS


def in_the_lake(path: str) -> bool:
    return path.startswith("/lake/")


@pytest.mark.parametrize(
    ("named", "why"),
    [
        (("relation", "orders"), ""),
        (("relation", "main", "orders"), ""),
        (("relation", "a", "b", "c"), ""),
        (("relation", "delta", "/lake/orders"), ""),
        (("relation", "delta", "/etc"), "delta.`/etc` is outside of what may be looked at"),
        (("relation", "CSV", "secret"), "CSV.`secret` is outside"),
        (("relation", "org.apache.spark.sql.json", "x"), "is outside"),
        (("relation", "deltaSharing", "http://evil/x"), "is outside"),
        (("relation", "excel", "/etc/x"), "is outside"),
        (("function", "count"), ""),
        (("function", "system", "builtin", "Reflect"), "Reflect is not allowed here"),
        (("function", "from_xml"), "from_xml is not allowed here"),
        (("identifier",), "names made by IDENTIFIER are not allowed here"),
        (("defined", "reflect"), ""),
        (("table function", "range"), ""),
    ],
)
def test_what_reaches_classes_or_other_paths_is_refused(named: tuple[str, ...], why: str) -> None:
    found = refused_in_log([("relation", "t"), named], in_the_lake)
    assert why in found
    assert bool(found) == bool(why)


def test_a_statement_is_parsed_if_it_has_a_word_that_a_refusal_takes() -> None:
    assert set(FUNCTIONS) | {"identifier", "`", "delta", "parquet", "text"} <= set(_WORDS)
