"""Paths that clients name, confined to the directories that the server was given.

A path on this machine is judged as its file system sees it: made absolute, with ``..`` and symbolic links
followed, so that nothing that leads out of a root passes as being in it. A path on another file system of
Hadoop's, such as ``s3a://bucket/lake``, is judged by its text: the scheme and the authority must be those of
a root, and what has ``..`` or any part that file systems read differently is refused. Links are not followed
there: object stores have none, and HDFS does not follow them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from skipstone.errors import SkipstoneError
from skipstone.path_listing import split_source

__all__ = ["Root", "as_root", "confined_path", "confined_source"]

Root = Path | str
"""A directory of this machine, or the URI of one elsewhere."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_REMOTE = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([A-Za-z0-9._@:-]*)((?:/[^/]+)*)/*")
_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*){0,2}", re.ASCII)
_LONGEST = 4_096
_ODD = frozenset("%?#\\*[]{}")
"""Characters that mean something else to some file systems, or stand for other names."""


def as_root(text: str) -> Root:
    """A root as it was given at the command line.

    >>> as_root("s3a://bucket/lake/"), as_root("file:///data")
    ('s3a://bucket/lake', PosixPath('/data'))
    """
    local = _local(text)
    if not _SCHEME.match(local):
        return Path(local).resolve()
    return _remote(local)


def confined_path(text: str, roots: Sequence[Root]) -> str:
    """The real path of what a client named; raises if it is not in any root.

    >>> confined_path("/data/../etc/passwd", [Path("/data")])
    Traceback (most recent call last):
        ...
    skipstone.errors.SkipstoneError: /data/../etc/passwd is outside of what this server may touch: /data.
    >>> confined_path("s3a://bucket/lake/orders", ["s3a://bucket/lake"])
    's3a://bucket/lake/orders'
    """
    local = _local(text)
    if not local or len(local) > _LONGEST or "\0" in local or not local.isprintable():
        raise SkipstoneError("This is no path.")
    if _SCHEME.match(local):
        real = _remote(local)
        inside = any(isinstance(root, str) and _below(real, root) for root in roots)
    else:
        resolved = _resolved(local)
        real = str(resolved)
        inside = any(isinstance(root, Path) and resolved.is_relative_to(root.resolve()) for root in roots)
    if inside:
        return real
    known = ", ".join(map(str, roots)) or "nothing, for it was started without --root"
    raise SkipstoneError(f"{local} is outside of what this server may touch: {known}.")


def _local(text: str) -> str:
    """The text without the scheme of this machine's own files."""
    return text.removeprefix("file://") if text.startswith("file:///") else text.removeprefix("file:")


def _resolved(local: str) -> Path:
    if not local.startswith("/"):
        raise SkipstoneError(f"{local} is not an absolute path.")
    try:
        return Path(local).resolve()
    except (OSError, RuntimeError) as problem:  # such as links that lead in a circle
        raise SkipstoneError(f"{local} cannot be looked up.") from problem


def _remote(text: str) -> str:
    """The URI in one form; raises if it could mean another place than it seems to."""
    found = _REMOTE.fullmatch(text)
    if found is None or found[1].lower() == "file":
        raise SkipstoneError(f"{text} is no path of a file system; give scheme://authority/path.")
    parts = found[3].split("/")[1:]
    if any(part in (".", "..") or part != part.strip() or _ODD & set(part) for part in parts):
        raise SkipstoneError(f"{text} has parts such as .. or %, which file systems read differently.")
    return f"{found[1].lower()}://{found[2]}{found[3]}"


def _below(path: str, root: str) -> bool:
    return path == root or path.startswith(f"{root}/")


def confined_source(source: str, roots: Sequence[Root]) -> tuple[str, str]:
    """The name and the location of a table that a client named by ``PATH`` or ``name=PATH``.

    A path has the name of its directory if none is given.
    """
    name, location = split_source(source.strip())
    real = confined_path(location, roots)
    last = real.rpartition("/")[2]
    called = name or (last if last.isidentifier() else "")
    if not _NAME.fullmatch(called):
        raise SkipstoneError(
            f"Queries need a name for the table, and {called or last} is none; give name=PATH, with "
            "letters, digits and _."
        )
    return called, real
