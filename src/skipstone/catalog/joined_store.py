"""Where joined replicas are kept: ``TABLE/_skipstone/joined/``, below the table in the middle of the star.

The rows lie in ``ID/COPY/``, a Delta table with a catalog of its own. The record ``ID-DIGEST.json`` is
written last, and without it nothing in the folder counts. A refresh writes another copy, then another record,
and only then deletes the old one. ``damaged-ID.json`` says that rows are not what they were. Folders that no
record speaks of are deleted once they are a day old: a query that was planned before may still read them.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass

from skipstone.catalog.joined_replicas import CoveredTable, JoinedReplica
from skipstone.catalog.replica_store import FolderStore
from skipstone.catalog.store import FOLDER, FileStore, digest_of
from skipstone.errors import SkipstoneError
from skipstone.json_types import JsonObject, json_int, json_list, json_object, json_text

__all__ = [
    "JOINED",
    "JoinedReplicas",
    "copy_folder",
    "delete_joined",
    "joined_stamp",
    "load_joined",
    "mark_joined_damaged",
    "save_joined",
    "sweep_joined",
]

JOINED = f"{FOLDER}/joined"
_FORMAT = 1
_DAY_MILLIS = 24 * 3_600_000
_ID = re.compile(r"[0-9a-z]+")
_NAME = re.compile(r"(?P<id>[0-9a-z]+)-(?P<digest>[0-9a-f]{12})\.json")
_DAMAGED = re.compile(r"damaged-(?P<id>[0-9a-z]+)\.json")


@dataclass(frozen=True, slots=True)
class JoinedReplicas:
    """The joined replicas of a table, the newest first; ``problems`` says why others cannot be used."""

    replicas: tuple[JoinedReplica, ...] = ()
    names: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()

    def find(self, id_: str) -> JoinedReplica | None:
        """The replica of an id."""
        return next((replica for replica in self.replicas if replica.id == id_), None)


def copy_folder(replica: str, copy: str) -> str:
    """Where the rows of a joined replica lie, below the table's root."""
    return f"{JOINED}/{replica}/{copy}"


def joined_stamp(store: FileStore) -> tuple[str, ...]:
    """A text that changes with the stored records; empty when there are none."""
    return tuple(name for name in store.names(JOINED) if _NAME.fullmatch(name) or _DAMAGED.fullmatch(name))


def save_joined(store: FileStore, replica: JoinedReplica) -> None:
    """Let a joined replica count whose rows are written; earlier records of it go."""
    stored = {"format": _FORMAT, **asdict(replica), "row_hash": str(replica.row_hash)}
    del stored["damaged"]
    data = json.dumps(stored).encode()
    name = f"{replica.id}-{digest_of(data)}.json"
    before = _records(store, replica.id)
    store.write(f"{JOINED}/{name}", data)
    for each in before:
        if each != name:
            store.delete(f"{JOINED}/{each}")


def mark_joined_damaged(store: FileStore, replica: str) -> None:
    """Remember that the rows of a replica are not what they were, so that nobody reads them."""
    store.write(f"{JOINED}/damaged-{replica}.json", b"{}")


def delete_joined(store: FolderStore, replica: str, now: bool = False) -> None:
    """Let a joined replica count no more; its files go a day later, or now, whatever is reading them."""
    for each in _records(store, replica):
        store.delete(f"{JOINED}/{each}")
    if now:
        store.delete_folder(f"{JOINED}/{replica}")


def sweep_joined(store: FolderStore) -> None:
    """Delete copies that no record speaks of and that have not changed for a day."""
    used = {replica.folder for replica in load_joined(store, "").replicas}
    for replica in store.names(JOINED):
        if not _ID.fullmatch(replica):
            continue
        if any(name.startswith(f"{replica}-") for name in joined_stamp(store)) and not any(
            folder.startswith(f"{JOINED}/{replica}/") for folder in used
        ):
            continue  # its record cannot be read
        for copy in store.names(f"{JOINED}/{replica}"):
            if copy_folder(replica, copy) not in used:
                store.delete_folder(copy_folder(replica, copy), _DAY_MILLIS)
        if not store.names(f"{JOINED}/{replica}"):
            store.delete_folder(f"{JOINED}/{replica}", _DAY_MILLIS)


def load_joined(store: FileStore, root: str) -> JoinedReplicas:
    """Read all records; one that is damaged or newer is left out, and the problem is reported."""
    names = joined_stamp(store)
    damaged = {found["id"] for name in names if (found := _DAMAGED.fullmatch(name))}
    replicas: dict[str, JoinedReplica] = {}
    problems: list[str] = []
    for name in names:
        if _DAMAGED.fullmatch(name):
            continue
        try:
            replica = _replica(store, name, damaged)
        # One bad copy is no reason not to use the others.
        except Exception as problem:  # noqa: BLE001
            reason = " ".join(str(problem).split()).rstrip(".") or type(problem).__name__
            problems.append(f"{root}/{JOINED}/{name} cannot be used ({reason}).")
            continue
        # While a replica is refreshed, it has two records.
        known = replicas.get(replica.id)
        if known is None or known.created < replica.created:
            replicas[replica.id] = replica
    newest = sorted(replicas.values(), key=lambda each: each.created, reverse=True)
    return JoinedReplicas(tuple(newest), names, tuple(problems))


def _records(store: FileStore, replica: str) -> list[str]:
    return [
        name
        for name in joined_stamp(store)
        if name.startswith(f"{replica}-") or name == f"damaged-{replica}.json"
    ]


def _replica(store: FileStore, name: str, damaged: set[str]) -> JoinedReplica:
    data = store.read(f"{JOINED}/{name}")
    if not name.endswith(f"-{digest_of(data)}.json"):
        raise SkipstoneError("its bytes do not fit its name")
    stored = json_object(json.loads(data))
    version = json_int(stored["format"])
    if version > _FORMAT:
        raise SkipstoneError(f"it was written by a newer skipstone, in format {version}")
    id_, folder = json_text(stored["id"]), json_text(stored["folder"])
    if not name.startswith(f"{id_}-") or not folder.startswith(f"{JOINED}/{id_}/"):
        raise SkipstoneError(f"it describes {id_}")
    return JoinedReplica(
        id=id_,
        created=json_text(stored["created"]),
        layout=json_text(stored["layout"]),
        folder=folder,
        state=json_text(stored["state"]),
        tables=tuple(_table(json_object(each)) for each in json_list(stored["tables"])),
        rows=json_int(stored["rows"]),
        row_hash=int(json_text(stored["row_hash"])),
        files=json_int(stored["files"]),
        bytes=json_int(stored["bytes"]),
        settings={key: json_text(value) for key, value in json_object(stored["settings"]).items()},
        queries=json_text(stored["queries"]),
        block_rows=None if stored["block_rows"] is None else json_int(stored["block_rows"]),
        damaged=id_ in damaged,
    )


def _table(stored: JsonObject) -> CoveredTable:
    columns = json_object(stored["columns"])
    pairs = [tuple(map(json_text, json_list(each))) for each in json_list(stored["keys"])]
    return CoveredTable(
        root=json_text(stored["root"]),
        state=json_text(stored["state"]),
        columns={name: json_text(copy) for name, copy in columns.items()},
        parent=json_text(stored["parent"]),
        keys=tuple((parent, own) for parent, own in pairs),
        present=json_text(stored["present"]),
        always=stored["always"] is True,
    )
