"""Which stored column a name in a plan means.

Statistics are kept under physical names: with Delta's column mapping a column keeps its physical name
when it is renamed, and a new column of the old name is another column. Delta hides that mapping from the
plan, so the table's own schema (the Delta log's, or the relation's for plain Parquet) is asked.

>>> field = {"name": "a", "type": "long", "metadata": {"delta.columnMapping.physicalName": "c1"}}
>>> names = ColumnNames.from_schema({"type": "struct", "fields": [field]})
>>> names.resolve((), "a").path
('c1',)
>>> names.display[("c1",)]
'a'
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from skipstone.catalog.types_json import PHYSICAL_NAME, type_from_object
from skipstone.json_types import JsonObject, json_list, json_object, json_text
from skipstone.predicate.types import Type

__all__ = ["ColumnNames", "ResolvedName", "paths_between", "quoted"]

Path = tuple[str, ...]
_ZONED = "skipstone.zoned"
"""By this the JVM marks a timestamp that is read from a partition's path, in the session's time zone."""


def quoted(*path: str) -> str:
    """A column or, by further names, a field of it, as SQL.

    >>> quoted("a.b", "it`s")
    '`a.b`.`it``s`'
    """
    return ".".join(f"`{part.replace('`', '``')}`" for part in path)


@dataclass(frozen=True, slots=True)
class ResolvedName:
    """A column's physical path; ``problem`` is a reason code when its statistics must not be used."""

    path: Path
    type: Type | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ColumnNames:
    """The fields of a table by parent and logical name; empty when no schema is known."""

    fields: Mapping[Path, Mapping[str, ResolvedName]] = field(default_factory=dict)
    display: Mapping[Path, str] = field(default_factory=dict)

    @classmethod
    def from_schema(cls, schema: str | JsonObject) -> ColumnNames:
        """Read a struct's JSON, as ``StructType.json()`` or Delta's ``schemaString`` gives it."""
        found = _Found()
        found.add(json.loads(schema) if isinstance(schema, str) else schema, ())
        return cls(found.fields, found.display)

    def resolve(self, parent: Path, name: str, metadata: str = "{}") -> ResolvedName:
        """The field ``name`` of the struct ``parent``; ``()`` is the table. ``metadata`` is the plan's."""
        attached = json.loads(metadata)
        problem = _problem(attached)
        if not self.fields:
            return ResolvedName((*parent, attached.get(PHYSICAL_NAME, name)), None, problem)
        siblings = self.fields.get(parent, {})
        known = siblings.get(name) or _in_another_case(siblings, name)
        if known is None:
            return ResolvedName((*parent, name), None, problem or "UNKNOWN_COLUMN")
        return ResolvedName(known.path, known.type, problem or known.problem)


def paths_between(here: ColumnNames, there: ColumnNames) -> dict[Path, Path]:
    """From the physical paths of one table to those of another whose columns have the same logical names.

    >>> field = {"name": "a", "type": "long", "metadata": {"delta.columnMapping.physicalName": "c1"}}
    >>> plain = {"name": "a", "type": "long"}
    >>> paths_between(*(ColumnNames.from_schema({"fields": [each]}) for each in (field, plain)))
    {('c1',): ('a',)}
    """
    paths: dict[Path, Path] = {(): ()}
    for parent, fields in here.fields.items():  # a struct comes before its fields
        others = there.fields.get(paths[parent], {}) if parent in paths else {}
        paths.update({known.path: others[name].path for name, known in fields.items() if name in others})
    del paths[()]
    return paths


def _in_another_case(siblings: Mapping[str, ResolvedName], name: str) -> ResolvedName | None:
    """The one field that is spelled so but for case: a plan keeps the spelling of the query."""
    found = [field for other, field in siblings.items() if other.lower() == name.lower()]
    return found[0] if len(found) == 1 else None


@dataclass(frozen=True, slots=True)
class _Found:
    """The fields that were read so far, and how each is called in full."""

    fields: dict[Path, dict[str, ResolvedName]] = field(default_factory=dict)
    display: dict[Path, str] = field(default_factory=dict)

    def add(self, struct: JsonObject, parent: Path, inherited: str = "") -> None:
        """Add the fields of a struct; what is wrong with it is wrong with all that is inside."""
        prefix = f"{self.display[parent]}." if parent else ""
        for item in map(json_object, json_list(struct["fields"])):
            metadata = json_object(item.get("metadata") or {})
            name, type_ = json_text(item["name"]), item["type"]
            path = (*parent, json_text(metadata.get(PHYSICAL_NAME, name)))
            problem = inherited or _problem(metadata) or _by_number(metadata)
            self.fields.setdefault(parent, {})[name] = ResolvedName(path, type_from_object(type_), problem)
            self.display[path] = prefix + name
            if isinstance(type_, Mapping) and type_.get("type") == "struct":
                self.add(type_, path, problem)


def _by_number(metadata: JsonObject) -> str:
    """A reader may ask for columns by number, whatever their names."""
    return "FIELD_ID" if "parquet.field.id" in metadata else ""


def _problem(metadata: JsonObject) -> str:
    if any(key.startswith("__") and key.endswith("metadata_col") for key in metadata):
        return "METADATA_COLUMN"
    if _ZONED in metadata:
        return "ZONED_PARTITION"
    if "__COLLATIONS" in metadata:
        return "COLLATION"  # in JSON the type is a plain string, and the collation is only here
    # A file without this column reads as the default value, whatever was known about the file.
    return "COLUMN_DEFAULT" if "EXISTS_DEFAULT" in metadata else ""
