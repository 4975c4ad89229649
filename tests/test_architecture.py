"""The rules of the tree that no reader should have to check: who imports whom, and how large things get."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "skipstone"
TREES = {
    path.relative_to(SOURCE): ast.parse(path.read_text("utf-8")) for path in sorted(SOURCE.rglob("*.py"))
}

# cli | server | api → actions → estimate | spark → layout → catalog | workload | joining →
# pruning → predicate
MAY_IMPORT: dict[str, set[str]] = {
    "predicate": set(),
    "pruning": {"predicate"},
    "workload": {"predicate", "pruning"},
    "joining": {"predicate", "pruning"},
    "catalog": {"predicate", "pruning"},
    "layout": {"predicate", "pruning", "workload", "catalog"},
    "estimate": {"predicate", "pruning", "workload", "catalog", "layout"},
    "spark": {"predicate", "pruning", "workload", "joining", "catalog", "layout"},
    "actions": {"predicate", "pruning", "workload", "catalog", "layout", "estimate", "spark"},
}
SHELLS = {"cli", "server"}
# The command that starts the server is the one place where a shell knows another.
STARTS_SERVER = ("cli", "serve")
# Modules beside the packages: these few are for everybody, the others are the public face, for shells only.
FOR_EVERYBODY = {
    "arguments",
    "cancel",
    "errors",
    "json_types",
    "path_listing",
    "progress",
    "text_table",
    "view",
}
JVM_LIBRARIES = {"pyspark", "py4j", "delta"}
# What holds an object of the JVM, whose methods no type checker knows.
JVM_HANDLE = re.compile(r"jvm_\w+|_jdf|_jvm|_jc|_jsc|_jsparkSession|_gateway|shim")

MOST_LINES = 400
MOST_PARAMETERS = 5
# The public face: each thing that a user may give is a parameter, and becomes part of an object at once.
MANY_PARAMETERS = {"api.py": {"adapt", "advise", "auto", "optimize", "replicate"}}


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


def allowed(owner: str, target: str) -> bool:
    if target == owner or target in FOR_EVERYBODY:
        return True
    if owner in SHELLS or owner == "":
        return target not in SHELLS
    return target in MAY_IMPORT[owner]


def wrong_imports(tree: ast.AST, parts: tuple[str, ...]) -> Iterator[str]:
    """What a module at ``parts`` (its path below ``skipstone``) imports or touches against the rules."""
    owner = parts[0] if len(parts) > 1 else ""
    for module in imported_modules(tree, ("skipstone", *parts[:-1])):
        head, *rest = module.split(".")
        if head in JVM_LIBRARIES and owner != "spark":
            yield f"{head} outside spark/"
        if head == "skipstone" and rest[:1] == ["server"] and parts == STARTS_SERVER:
            continue
        if head == "skipstone" and rest and not allowed(owner, rest[0]):
            yield f"{owner or 'top level'} imports {rest[0]}"
    if owner != "spark":
        handles = (node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute))
        yield from (f"{handle} outside spark/" for handle in handles if JVM_HANDLE.fullmatch(handle))


def long_signatures(tree: ast.AST, few: set[str]) -> Iterator[str]:
    """The functions with too many parameters; ``self`` and ``cls`` do not count."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name not in few:
            given = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
            names = [argument.arg for argument in given if argument.arg not in ("self", "cls")]
            if len(names) > MOST_PARAMETERS:
                yield f"{node.name} has {len(names)} parameters"


def too_much(path: Path, tree: ast.Module) -> Iterator[str]:
    """What a file has more of than it may."""
    lines = len((SOURCE / path).read_text("utf-8").splitlines())
    if lines > MOST_LINES:
        yield f"{lines} lines"
    yield from long_signatures(tree, MANY_PARAMETERS.get(str(path), set()))
    if path.name == "__init__.py":
        yield from (f"does {ast.unparse(node)}" for node in tree.body if not is_re_export(node))


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


def test_modules_import_only_what_lies_below_them_and_leave_the_jvm_to_spark() -> None:
    found = {
        str(path): wrong
        for path, tree in TREES.items()
        if (wrong := sorted(set(wrong_imports(tree, path.with_suffix("").parts))))
    }
    assert len(TREES) > 100
    assert found == {}


def test_files_and_signatures_stay_short_and_init_files_only_re_export() -> None:
    found = {str(path): wrong for path, tree in TREES.items() if (wrong := list(too_much(path, tree)))}
    assert found == {}


def test_every_package_is_in_the_order() -> None:
    packages = {path.parts[0] for path in TREES if len(path.parts) > 1}
    assert MAY_IMPORT.keys() <= packages <= MAY_IMPORT.keys() | SHELLS


def test_every_exception_is_still_needed() -> None:
    for path, names in MANY_PARAMETERS.items():
        found = {line.partition(" ")[0] for line in long_signatures(TREES[Path(path)], set())}
        assert names <= found, path


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
        ("frame._jdf.queryExecution()", ("actions", "replay")),
        ("table.jvm_files.version()", ("api",)),
        ("runtime.shim.install()", ("cli", "main")),
    ],
)
def test_a_forbidden_import_or_handle_is_noticed(source: str, parts: tuple[str, ...]) -> None:
    assert list(wrong_imports(ast.parse(source), parts)) != []


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("from pyspark.sql import SparkSession", ("spark", "session")),
        ("from .types import Type", ("predicate", "expr")),
        ("from skipstone.errors import SkipstoneError", ("predicate", "expr")),
        ("from skipstone.predicate import expr", ("pruning", "prune")),
        ("import numpy", ("predicate", "masks")),
        ("from skipstone.server.run import serve", ("cli", "serve")),
        ("frame._jdf.queryExecution()", ("spark", "bridge", "scans")),
    ],
)
def test_a_permitted_import_or_handle_is_accepted(source: str, parts: tuple[str, ...]) -> None:
    assert list(wrong_imports(ast.parse(source), parts)) == []


def test_a_long_signature_is_noticed_whatever_kind_its_parameters_are() -> None:
    tree = ast.parse("class A:\n    def f(self, a, /, b, c, *, d, e): ...\ndef g(a, b, c, d, *, e, f): ...")
    assert list(long_signatures(tree, set())) == ["g has 6 parameters"]
