"""Paths that clients name, confined to the directories that the server was given.

A path is judged as the file system sees it: made absolute, with ``..`` and symbolic links followed, so that
nothing that leads out of a root passes as being in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from skipstone.errors import SkipstoneError
from skipstone.path_listing import split_source

__all__ = ["confined_path", "confined_source"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*){0,2}", re.ASCII)
_LONGEST = 4_096


def confined_path(text: str, roots: Sequence[Path]) -> Path:
    """The real path of what a client named; raises if it is not in any root.

    >>> confined_path("/data/../etc/passwd", [Path("/data")])
    Traceback (most recent call last):
        ...
    skipstone.errors.SkipstoneError: /data/../etc/passwd is outside of what this server may touch: /data.
    """
    local = text.removeprefix("file://") if text.startswith("file:///") else text.removeprefix("file:")
    if not local or len(local) > _LONGEST or "\0" in local or not local.isprintable():
        raise SkipstoneError("This is no path.")
    if _SCHEME.match(local):
        raise SkipstoneError(f"{local} is not on this machine's own disks; give a path.")
    if not local.startswith("/"):
        raise SkipstoneError(f"{local} is not an absolute path.")
    try:
        real = Path(local).resolve()
    except (OSError, RuntimeError) as problem:  # such as links that lead in a circle
        raise SkipstoneError(f"{local} cannot be looked up.") from problem
    if any(real.is_relative_to(root.resolve()) for root in roots):
        return real
    known = ", ".join(map(str, roots)) or "nothing, for it was started without --root"
    raise SkipstoneError(f"{local} is outside of what this server may touch: {known}.")


def confined_source(source: str, roots: Sequence[Path]) -> tuple[str, str]:
    """The name and the location of a table that a client named by ``PATH`` or ``name=PATH``.

    A path has the name of its directory if none is given.
    """
    name, location = split_source(source.strip())
    real = confined_path(location, roots)
    called = name or (real.name if real.name.isidentifier() else "")
    if not _NAME.fullmatch(called):
        raise SkipstoneError(
            f"Queries need a name for the table, and {called or real.name} is none; give name=PATH, with "
            "letters, digits and _."
        )
    return called, str(real)
