"""Splitting SQL text at the semicolons that end a statement."""

from __future__ import annotations

import pytest

from skipstone.workload.statements import split_statements


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select 1; select 2;", ["select 1", "select 2"]),
        ("select 1", ["select 1"]),
        (" ;; \n -- nothing\n ; /* nor here; */ ;", []),
        ("select ';' ; select 2", ["select ';'", "select 2"]),
        ('select ";" ; select 2', ['select ";"', "select 2"]),
        (r"select 'it\';s' ; select 2", [r"select 'it\';s'", "select 2"]),
        ("select 'it'';s' ; select 2", ["select 'it'';s'", "select 2"]),
        (r"select r'\' ; select 2", [r"select r'\'", "select 2"]),
        ("select `a;``b` ; select 2", ["select `a;``b`", "select 2"]),
        ("select 1 -- not; here\n; select 2", ["select 1 -- not; here", "select 2"]),
        ("select 1 -- it's\n; select 2", ["select 1 -- it's", "select 2"]),
        ("select /* a; /* b; */ c; */ 1; select 2", ["select /* a; /* b; */ c; */ 1", "select 2"]),
        ("select /*+ broadcast(t) */ 1;", ["select /*+ broadcast(t) */ 1"]),
        ("select 7/2-1;select 2", ["select 7/2-1", "select 2"]),
    ],
)
def test_text_is_split_where_a_statement_ends(text: str, expected: list[str]) -> None:
    found = split_statements(text)
    assert [statement.sql for statement in found] == expected
    assert not any(statement.problem for statement in found)


def test_statement_knows_its_line() -> None:
    found = split_statements("-- head\nselect 1;\n\n  select\n2;\nselect 3")
    assert [statement.line for statement in found] == [1, 4, 6]


@pytest.mark.parametrize(
    "broken", ["select 'abc", 'select "abc', "select `abc", "select /* abc", "select 'a' || 'it's'"]
)
def test_unclosed_quote_costs_only_its_own_statement(broken: str) -> None:
    found = split_statements(f"select 'one';\n{broken};\nselect 'three';\nselect 'four'\n")
    assert [statement.sql for statement in found if not statement.problem] == [
        "select 'one'",
        "select 'three'",
        "select 'four'",
    ]
    (bad,) = [statement for statement in found if statement.problem]
    assert bad.sql == broken
    assert "on line 2 is never closed" in bad.problem


def test_string_with_a_semicolon_at_a_line_end_is_fine_when_all_quotes_close() -> None:
    assert len(split_statements("select 'a;\nb'; select 2")) == 2


def test_backslash_escapes_nothing_in_other_dialects() -> None:
    assert len(split_statements(r"select 'a\'; select 2", backslash=False)) == 2
