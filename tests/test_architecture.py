"""The rules of the tree that no reader should have to check: who imports whom, and how large files get."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "skipstone"
FILES = sorted(SOURCE.rglob("*.py"))
MAXIMUM_LINES = 400

# cli | server | api → actions → estimate | spark → layout → catalog | workload → pruning → predicate
MAY_IMPORT: dict[str, set[str]] = {
    "predicate": set(),
    "pruning": {"predicate"},
    "workload": {"predicate", "pruning"},
    "catalog": {"predicate", "pruning"},
    "layout": {"predicate", "pruning", "workload", "catalog"},
    "estimate": {"predicate", "pruning", "workload", "catalog", "layout"},
    "spark": {"predicate", "pruning", "workload", "catalog", "layout"},
    "actions": {"predicate", "pruning", "workload", "catalog", "layout", "estimate", "spark"},
}
CORE = {*MAY_IMPORT}
SHELLS = {"cli", "server"}
# Modules beside the packages: these few are for everybody, the others are the public face, for shells only.
FOR_EVERYBODY = {"arguments", "errors", "progress", "source", "text_table", "view"}
JVM_LIBRARIES = {"pyspark", "py4j", "delta"}


def imported_modules(tree: ast.AST, package: tuple[str, ...]) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*base, *([node.module] if node.module else [])))
            yield module
            # "from skipstone import spark" names a package only in its list of names.
            yield from (f"{module}.{alias.name}" for alias in node.names if module == "skipstone")


def violations(source: str, parts: tuple[str, ...]) -> list[str]:
    """What a module at ``parts`` (its path below ``skipstone``) imports against the rules."""
    owner = parts[0] if len(parts) > 1 else ""
    found = []
    for module in imported_modules(ast.parse(source), ("skipstone", *parts[:-1])):
        head, *rest = module.split(".")
        if head in JVM_LIBRARIES and owner != "spark":
            found.append(f"{head} outside spark/")
        target = rest[0] if head == "skipstone" and rest else None
        if target is not None and not allowed(owner, target):
            found.append(f"{owner or 'top level'} imports {target}")
    return found


def allowed(owner: str, target: str) -> bool:
    if target == owner or target in FOR_EVERYBODY:
        return True
    if owner in SHELLS:
        return target not in SHELLS
    if owner == "":
        return target not in SHELLS
    return target in MAY_IMPORT[owner]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_module_imports_only_what_lies_below_it(path: Path) -> None:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    assert violations(path.read_text(encoding="utf-8"), parts) == []


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("import pyspark.sql", ("predicate", "expr")),
        ("def f():\n    from py4j.java_gateway import JavaGateway", ("cli", "main")),
        ("from skipstone.spark.session import session", ("catalog", "block")),
        ("from ..workload import feature", ("predicate", "expr")),
        ("from skipstone import spark", ("layout", "sop")),
        ("import skipstone.cli.main", ("estimate", "advice")),
        ("from skipstone.server import app", ("cli", "main")),
    ],
)
def test_a_forbidden_import_is_noticed(source: str, parts: tuple[str, ...]) -> None:
    assert violations(source, parts) != []


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("from pyspark.sql import SparkSession", ("spark", "session")),
        ("from .types import Type", ("predicate", "expr")),
        ("from skipstone.errors import SkipstoneError", ("predicate", "expr")),
        ("from skipstone.predicate import expr", ("pruning", "prune")),
        ("import numpy", ("predicate", "masks")),
    ],
)
def test_a_permitted_import_is_accepted(source: str, parts: tuple[str, ...]) -> None:
    assert violations(source, parts) == []


def test_every_package_has_its_place_in_the_order() -> None:
    packages = {path.relative_to(SOURCE).parts[0] for path in FILES if path.parent != SOURCE}
    assert packages
    assert packages <= CORE | SHELLS


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_file_stays_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= MAXIMUM_LINES


@pytest.mark.parametrize(
    "path", [path for path in FILES if path.name == "__init__.py"], ids=lambda path: path.parent.name
)
def test_an_init_file_only_re_exports(path: Path) -> None:
    body = ast.parse(path.read_text(encoding="utf-8")).body
    assert [ast.unparse(node) for node in body if not is_re_export(node)] == []


def is_re_export(node: ast.stmt) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return node.value is not None and is_literal(node.value)
    if isinstance(node, ast.If):  # if TYPE_CHECKING:
        return all(is_re_export(inner) for inner in node.body)
    # Re-exporting on first use keeps "import skipstone" fast.
    return isinstance(node, ast.FunctionDef) and node.name in {"__getattr__", "__dir__"}


def is_literal(value: ast.expr) -> bool:
    try:
        ast.literal_eval(value)
    except ValueError:
        return False
    return True
