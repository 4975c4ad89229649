"""What a server is started with: where it listens, what it may touch, and how much of everything."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from skipstone.errors import SkipstoneError
from skipstone.server.roots import Root

__all__ = ["Limits", "Settings", "is_loopback"]

_MIB = 1 << 20
_MOST_PORTS = 65_535


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a client may ask for."""

    upload_bytes: int = 64 * _MIB
    body_bytes: int = _MIB
    workloads: int = 200
    tables: int = 500
    query_rows: int = 1_000
    query_bytes: int = 8 * _MIB
    query_seconds: float = 120.0
    queries_at_once: int = 2
    jobs_at_once: int = 4
    queued_jobs: int = 100
    listeners: int = 100
    history: int = 20_000


@dataclass(frozen=True, slots=True)
class Settings:
    """Where the server listens and what it may touch.

    ``state`` is the directory of its job history and uploads. ``roots`` are the directories that tables must
    lie in; without any, no path can be registered. The token is made anew for each server and never stored.
    """

    state: Path
    roots: tuple[Root, ...] = ()
    host: str = "127.0.0.1"
    port: int = 8765
    allow_remote: bool = False
    limits: Limits = field(default_factory=Limits)
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    def __post_init__(self) -> None:
        """Refuse an address beyond this machine unless that is asked for."""
        if not is_loopback(self.host) and not self.allow_remote:
            raise SkipstoneError(
                f"{self.host} can be reached from other machines, and whoever has the token can rewrite "
                "tables; say --allow-remote if that is meant."
            )
        if not 0 <= self.port <= _MOST_PORTS:
            raise SkipstoneError(
                f"The port must be a number from 0 to {_MOST_PORTS:,}, and it is {self.port}."
            )


def is_loopback(host: str) -> bool:
    """Whether an address is that of this machine only.

    >>> [is_loopback(host) for host in ("localhost", "127.0.0.1", "::1", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
