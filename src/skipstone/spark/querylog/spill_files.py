"""The spill files of the query log: what was recorded and is not in a table's log yet, on local disk.

``OWNER.NUMBER[.tried][.by-TAKER].jsonl``. An application writes files of its own and takes over those of
applications that have ended. A file's name is the name of its batch, so it is marked as tried before it is
first offered: from then on its lines can only be offered under that name, for they may be in a table's log
already. Lines that were never offered may be put together in a few files, ``OWNER.wNUMBER``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from skipstone.spark.failures import some_sentence_of

__all__ = ["SpillFile", "SpillFolder"]

_NAME = re.compile(
    r"(?P<batch>(?P<owner>[^.]+)\.(?P<number>w?\d+))(?P<tried>\.tried)?(?:\.by-(?P<taker>[^.]+))?\.jsonl"
)
_WAITING_FILES = 8


@dataclass(frozen=True, slots=True)
class SpillFile:
    """A closed file of lines; ``batch`` is its name whoever has it now.

    What is in a ``tried`` file may be in a table's log already.
    """

    path: Path
    batch: str
    tried: bool
    size: int
    modified: int

    def read(self) -> tuple[list[bytes], bool]:
        """The lines, and whether the last one was cut off and left out."""
        *lines, cut = self.path.read_bytes().split(b"\n")
        return lines, bool(cut)

    def marked(self) -> SpillFile:
        """The same file, marked as tried."""
        name = self.path.name.replace(self.batch, f"{self.batch}.tried", 1)
        return replace(self, path=self.path.rename(self.path.with_name(name)), tried=True)

    def keep(self, lines: Sequence[bytes]) -> None:
        """Let the file have these lines and no others; without any it is deleted."""
        if not lines:
            self.path.unlink()
            return
        scratch = self.path.with_suffix(".new")
        try:
            with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.writelines(line + b"\n" for line in lines)
            scratch.replace(self.path)
        except BaseException:
            scratch.unlink(missing_ok=True)
            raise


class SpillFolder:
    """The files in one folder as the application ``owner`` sees them, which may hold ``most_bytes``."""

    def __init__(
        self,
        path: Path,
        owner: str,
        most_bytes: int,
        runs: Callable[[str], bool],
        report: Callable[[str], None],
    ) -> None:
        """``runs`` says whether an application may still run, ``report`` receives failures."""
        self.path = path
        self.owner = owner
        self._most_bytes = most_bytes
        self._runs = runs
        self._report = report
        self._waiting = 0

    def closed(self, current: int) -> list[SpillFile]:
        """The files of this application before the current one, and those of ended applications.

        First what was tried, then the oldest.
        """
        found = []
        for path, match in self._matches():
            try:
                file = self._closed(path, match, current)
            except FileNotFoundError:  # another session was faster
                continue
            except OSError as problem:
                self._report(some_sentence_of(problem))
                continue
            found += [] if file is None else [file]
        return sorted(found, key=lambda file: (not file.tried, file.modified, file.path.name))

    def abandoned(self) -> bool:
        """Whether there is a file of an application that has ended."""
        holders = {match["taker"] or match["owner"] for _, match in self._matches()}
        return any(not self._may_run(holder) for holder in holders)

    def stays(self, file: SpillFile) -> bool:
        """Whether a file that only waits is left as it is: what was tried, and what was put together here."""
        return file.tried or file.batch.startswith(f"{self.owner}.w")

    def wait(self, lines: Sequence[bytes]) -> None:
        """Put lines that were never offered to a file of such lines, up to a part of what may wait."""
        if not lines:
            return
        data = b"".join(line + b"\n" for line in lines)
        path = self._waiting_path()
        size = path.stat().st_size if path.exists() else self._most_bytes
        if size + len(data) > self._most_bytes / _WAITING_FILES:
            # A file that was offered has another name now, and its number is never used again.
            self._waiting += 1
            path = self._waiting_path()
        _add(path, data)

    def _waiting_path(self) -> Path:
        return self.path / f"{self.owner}.w{self._waiting}.jsonl"

    def _matches(self) -> list[tuple[Path, re.Match[str]]]:
        paths = sorted(self.path.glob("*.jsonl"))
        return [(path, match) for path in paths if (match := _NAME.fullmatch(path.name))]

    def _closed(self, path: Path, match: re.Match[str], current: int) -> SpillFile | None:
        """The file, taken over if its holder has ended; None if somebody may still write it."""
        holder = match["taker"] or match["owner"]
        if holder != self.owner:
            if self._may_run(holder):
                return None
            taken = f"{match['batch']}{match['tried'] or ''}.by-{self.owner}.jsonl"
            path = path.rename(path.with_name(taken))
        elif match["owner"] == self.owner and match["number"].isdigit() and int(match["number"]) >= current:
            return None
        state = path.stat()
        return SpillFile(path, match["batch"], bool(match["tried"]), state.st_size, state.st_mtime_ns)

    def _may_run(self, holder: str) -> bool:
        try:
            return self._runs(holder)
        except Exception as problem:  # noqa: BLE001 - a name that nobody understands is not ours
            self._report(f"it is unknown whether {holder} still runs ({some_sentence_of(problem)})")
            return True


def _add(path: Path, data: bytes) -> None:
    """Append to a file that only its owner can read, all or nothing."""
    before = path.stat().st_size if path.exists() else 0
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as file:
            file.write(data)
    except OSError:
        with suppress(FileNotFoundError):  # on a full disk it may not even have been made
            os.truncate(path, before)
        raise
