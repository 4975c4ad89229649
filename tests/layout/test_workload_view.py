from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.predicate.samples import PREDICATES, ROWS

from skipstone.layout.sample import Formula
from skipstone.layout.workload_view import workload_view
from skipstone.predicate.evaluate import NotEvaluable, evaluate
from skipstone.predicate.expr import And, Column, Comparison, Expr, Literal, Not, Opaque, Or, Value
from skipstone.predicate.types import BOOLEAN, INT

X, Y, Z = (Comparison("=", Column((name,), INT), Literal(1, INT)) for name in "xyz")
UDF = Opaque("f(x)", "UDF")
TRUE, FALSE = Literal(True, BOOLEAN), Literal(False, BOOLEAN)


@pytest.mark.parametrize(
    ("filter_", "formula"),
    [
        (X, 0),
        (And((X, Or((Y, Z)))), ("and", (0, ("or", (1, 2))))),
        (And((X, UDF)), 0),
        (Or((X, UDF)), True),
        (UDF, True),
        (And((X, Or((UDF, Y)))), 0),
        (TRUE, True),
        (FALSE, False),
        (And((X, FALSE)), False),
        (And((X, Literal(None, BOOLEAN))), False),
        (Not(Or((X, UDF))), 0),
    ],
)
def test_a_filter_becomes_a_formula_over_its_atoms(filter_: Expr, formula: Formula) -> None:
    assert workload_view([filter_]).formulas == (formula,)


def test_atoms_are_shared_and_equal_queries_merged() -> None:
    view = workload_view([And((X, Y)), Y, And((Y, X))], [2.0, 5.0, 3.0])
    assert len(view.atoms) == 2
    assert len(view.filters) == 2
    assert view.weights.tolist() == [5.0, 5.0]


def test_no_queries_give_an_empty_view() -> None:
    view = workload_view([])
    assert (view.atoms, view.formulas, len(view.weights)) == ((), (), 0)


def holds(formula: Formula, bits: list[bool]) -> bool:
    if isinstance(formula, bool):
        return formula
    if isinstance(formula, int):
        return bits[formula]
    kind, parts = formula
    return (all if kind == "and" else any)(holds(part, bits) for part in parts)


@given(PREDICATES, st.lists(ROWS, min_size=1, max_size=5))
def test_a_row_that_the_filter_keeps_satisfies_the_formula(
    predicate: Expr, rows: list[dict[Column, Value]]
) -> None:
    view = workload_view([predicate])
    for row in rows:
        try:
            if evaluate(predicate, dict(row)) is True:
                bits = [evaluate(atom, dict(row)) is True for atom in view.atoms]
                assert holds(view.formulas[0], bits)
        except NotEvaluable:
            continue
