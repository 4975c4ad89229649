"""What joins decide about the files of a scan when the query runs, for people and programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from skipstone.view import count

__all__ = ["JoinJson", "JoinReport", "JoinRun", "RunJson"]

_USED = ("BROADCAST", "COLLECTED")
_WHEN = {"GROUPED": "without a shuffle", "JOINED": "from a joined replica"}


class RunJson(TypedDict):
    """A run as the shim writes it."""

    keys: int
    files: int
    files_read: int
    bytes: int
    bytes_read: int
    failure: str


class JoinJson(TypedDict):
    """A decision as the shim writes it."""

    key: str
    join: str
    other: str
    code: str
    sentence: str
    share: float | None
    last: RunJson | None


@dataclass(frozen=True, slots=True)
class JoinRun:
    """What came out when the query last ran: the keys that were found, and the files that were left.

    ``failure`` is the sentence that says why nothing was skipped.
    """

    keys: int
    files: int
    files_read: int
    bytes: int
    bytes_read: int
    failure: str

    def line(self) -> str:
        """The run as text."""
        read = f"{self.files_read:,} of {count(self.files, 'file')} read"
        keys = "1 key" if self.keys == 1 else f"{self.keys:,} keys"
        return f"last run: {keys}, {self.failure or read}"


@dataclass(frozen=True, slots=True)
class JoinReport:
    """What will be decided at run time by one key of a join, or why nothing is.

    ``share`` is the share of the files with keys like those of one file, as far as that is known. ``other``
    names the tables and filters of the join's other side.
    """

    key: str
    join: str
    other: str
    code: str
    sentence: str
    share: float | None = None
    last: JoinRun | None = None

    @classmethod
    def read(cls, found: JoinJson) -> JoinReport:
        """Read the shim's JSON."""
        last = None if found["last"] is None else JoinRun(**found["last"])
        texts = (found["key"], found["join"], found["other"], found["code"], found["sentence"])
        return cls(*texts, found["share"], last)

    @property
    def used(self) -> bool:
        """Whether files will be skipped by this key."""
        return self.code in _USED

    def line(self) -> str:
        """The report as text."""
        share = "" if self.share is None else f", the keys of a file are in {self.share:.0%} of the files"
        last = "" if self.last is None else f"; {self.last.line()}"
        when = "at run time" if self.used else _WHEN.get(self.code, "not used")
        head = f"{self.join} join by {self.key} with {self.other}"
        return f"{head}: {when}: {self.sentence}{share} [{self.code}]{last}"
