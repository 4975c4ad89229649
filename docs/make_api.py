"""Writes docs/api.md, the Python API reference, from signatures and docstrings.

``python docs/make_api.py`` writes the page; ``--check`` only says whether it is up to date. The page has the
public names of ``skipstone``, the methods of ``Table``, and every class that these take or return.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import re
import sys
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import skipstone
from skipstone.errors import TableChangedError
from skipstone.spark.querylog.query_log import unlogged

PAGE = Path(__file__).with_name("api.md")
FUNCTIONS: tuple[Callable[..., Any], ...] = (
    skipstone.session,
    skipstone.enable,
    skipstone.disable,
    skipstone.table,
    skipstone.read_queries,
    unlogged,
)
ERRORS = (skipstone.SkipstoneError, skipstone.CancelledError, TableChangedError)
# Expressions, fitted layouts, cost coefficients and lists of files are no part of the public API.
INTERNAL = (
    "skipstone.predicate",
    "skipstone.layout",
    "skipstone.estimate.cost",
    "skipstone.spark.engine.open_table",
    "skipstone.catalog.segment",
)
WIDTH = 100
INTRODUCTION = """\
# Python API

<!-- Made by docs/make_api.py from docstrings: edit those and run make docs. -->

```python
import skipstone

spark = skipstone.session()  # or skipstone.enable(spark) on a session of your own
table = skipstone.table(spark, "orders=path/to/orders")
table.index()
print(table.explain("SELECT * FROM orders WHERE country = 'NO'"))
```

Most commands of [the command line](cli.md) are methods of `Table`: both perform the same actions. What takes
long reports its progress to a function, and ends when another thread asks for it:

```python
cancel = skipstone.Cancel()
threading.Timer(600, cancel.request).start()
table.optimize(queries, progress=lambda what, done, total: print(what, done, total), cancel=cancel)
```

An error that a user can put right is a `SkipstoneError`, whose message is one sentence. Results are immutable
objects; `to_dict()` makes plain data for JSON. Names that start with an underscore, and modules that are not
on this page, may change in any version.
[Settings](settings.md) lists the Spark settings that `session()` makes.
"""


def page() -> str:
    """The whole page as Markdown."""
    classes = list(public_classes())
    parts = [
        INTRODUCTION,
        "## Functions\n",
        *map(function_section, FUNCTIONS),
        "## Table\n",
        prose(skipstone.Table) + "\n",
        *(method_section(method) for method in methods(skipstone.Table)),
        "## Arguments and results\n",
        *map(class_section, classes),
        "## Errors\n",
        *(f"### {error.__name__}\n\n{prose(error)}\n" for error in ERRORS),
    ]
    return "\n".join(parts)


def public_classes() -> Iterator[type]:
    """Policy, and every class of skipstone that a method of Table takes or returns, fields included."""
    found: dict[type, None] = {}
    for method in (*methods(skipstone.Table), skipstone.read_queries):
        for hint in typing.get_type_hints(method).values():
            _gather(hint, found)
    yield from sorted(found, key=lambda each: each.__name__)


def _gather(hint: object, found: dict[type, None]) -> None:
    for argument in typing.get_args(hint):
        _gather(argument, found)
    if not isinstance(hint, type) or hint in found or not hint.__module__.startswith("skipstone."):
        return
    if hint.__module__.startswith(INTERNAL) or hint is skipstone.Table:
        return
    found[hint] = None
    if dataclasses.is_dataclass(hint):
        for field_hint in typing.get_type_hints(hint).values():
            _gather(field_hint, found)


def methods(owner: type) -> list[Callable[..., Any]]:
    """The public methods of a class in the order of the source, those of its bases first."""
    bases = [base for base in reversed(owner.__mro__) if base.__module__.startswith("skipstone")]
    names = dict.fromkeys(name for base in bases for name in vars(base) if not name.startswith("_"))
    return [value for name in names if inspect.isfunction(value := getattr(owner, name))]


def function_section(function: Callable[..., Any]) -> str:
    """A function with its signature and docstring."""
    name = function.__name__
    full = f"skipstone.{name}" if name in skipstone.__all__ else f"{function.__module__}.{name}"
    return f"### {full}\n\n{signature(function)}\n\n{prose(function)}\n"


def method_section(method: Callable[..., Any]) -> str:
    """A method of Table."""
    return f"### Table.{method.__name__}\n\n{signature(method)}\n\n{prose(method)}\n"


def class_section(owner: type) -> str:
    """A class with its docstring, fields, properties and methods."""
    lines = [f"### {owner.__name__}\n", prose(owner) + "\n"]
    if dataclasses.is_dataclass(owner):
        lines += ["| field | type | default |", "|---|---|---|"]
        lines += [_field_row(field) for field in dataclasses.fields(owner)]
        lines.append("")
    elif issubclass(owner, enum.Enum):
        lines += [f"- `{member.name}`" for member in owner]
        lines.append("")
    lines += [f"- `{name}`: {sentence}" for name, sentence in _members(owner)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _field_row(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        default = f"`{field.default!r}`"
    else:
        default = "empty" if field.default_factory is not dataclasses.MISSING else ""
    kind = str(field.type).replace("|", "\\|")
    return f"| `{field.name}` | `{kind}` | {default} |"


def _members(owner: type) -> Iterator[tuple[str, str]]:
    """Properties and methods that have a docstring of their own, with its first paragraph."""
    for name, value in vars(owner).items():
        if name.startswith("_"):
            continue
        if isinstance(value, property) and value.__doc__:
            yield name, _first(value)
        elif inspect.isfunction(value) and value.__doc__:
            parameters = ", ".join(list(inspect.signature(value).parameters)[1:])
            yield f"{name}({parameters})", _first(value)


def _first(documented: object) -> str:
    return " ".join(prose(documented).split("\n\n")[0].split())


def signature(function: Callable[..., Any]) -> str:
    """The call as a block of Python, one parameter per line where it is long."""
    parts = [
        _parameter(parameter)
        for name, parameter in inspect.signature(function).parameters.items()
        if name != "self"
    ]
    returns = inspect.signature(function).return_annotation
    end = ")" if returns is inspect.Signature.empty else f") -> {returns}"
    call = f"{function.__name__}({', '.join(parts)}{end}"
    if len(call) > WIDTH:
        call = f"{function.__name__}(\n" + "".join(f"    {part},\n" for part in parts) + end
    return f"```python\n{call}\n```"


def _parameter(parameter: inspect.Parameter) -> str:
    text = f"{parameter.name}: {parameter.annotation}"
    if parameter.default is inspect.Parameter.empty:
        return text
    default = "..." if callable(parameter.default) else repr(parameter.default).replace("'", '"')
    return f"{text} = {default}"


def prose(documented: object) -> str:
    """A docstring as Markdown: code in single backticks, examples as blocks."""
    text = inspect.getdoc(documented) or ""
    text = re.sub(r":\w+:`~?([^`]+)`", lambda match: f"`{match[1].rpartition('.')[2]}`", text)
    text = text.replace("``", "`")
    paragraphs = text.split("\n\n")
    return "\n\n".join(
        f"```python\n{paragraph}\n```" if paragraph.startswith(">>>") else paragraph
        for paragraph in paragraphs
    )


def main(arguments: list[str]) -> int:
    """Write the page, or with --check say whether it is up to date."""
    if arguments == ["--check"]:
        current = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
        if current != page():
            print("docs/api.md is out of date: run make docs.", file=sys.stderr)
            return 1
        return 0
    PAGE.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
