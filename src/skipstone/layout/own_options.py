"""Options that only one kind of layout has: declared as a dataclass, given by users as texts.

>>> @dataclass(frozen=True)
... class Options:
...     columns: tuple[str, ...] = option((), names)
>>> parse_options(Options, {"columns": "a, b"})
Options(columns=('a', 'b'))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, TypeVar

from skipstone.errors import SkipstoneError

__all__ = ["NoOptions", "names", "number", "option", "option_names", "parse_options", "whole_number"]

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")
Options = TypeVar("Options", bound="DataclassInstance")
_READ = "read"


@dataclass(frozen=True, slots=True)
class NoOptions:
    """For layouts that leave nothing to choose."""


def option(default: T, read: Callable[[str], T]) -> T:
    """A field of a dataclass of options; ``read`` turns a user's text into its value, or says why not."""
    # To type checkers field() is the value that it declares, as dataclasses want it.
    made: T = field(default=default, metadata={_READ: read})
    return made


def option_names(options: type[DataclassInstance]) -> tuple[str, ...]:
    """What users may set."""
    return tuple(each.name for each in fields(options) if _READ in each.metadata)


def parse_options(options: type[Options], given: Mapping[str, str]) -> Options:
    """The options that texts stand for; all names must be among :func:`option_names`."""
    readers = {each.name: each.metadata[_READ] for each in fields(options) if _READ in each.metadata}
    return options(**{name: readers[name](text) for name, text in given.items()})


def names(text: str) -> tuple[str, ...]:
    """A list with commas."""
    found = tuple(part.strip() for part in text.split(","))
    if not all(found):
        raise SkipstoneError(f"Names are separated by single commas, as in a,b, and there is {text!r}.")
    return found


def whole_number(text: str) -> int:
    """A number in decimal digits."""
    try:
        return int(text)
    except ValueError:
        raise SkipstoneError(f"A whole number is wanted, and there is {text!r}.") from None


def number(text: str) -> float:
    """A number, with a point where it is not whole."""
    try:
        return float(text)
    except ValueError:
        raise SkipstoneError(f"A number is wanted, and there is {text!r}.") from None
