"""Assignments as JSON, and back: a stored layout routes the rows that are inserted later."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from skipstone.json_types import JsonObject, json_int, json_list, json_object
from skipstone.layout.assignment import (
    Assignment,
    Clusters,
    Dimension,
    Grid,
    Node,
    Part,
    Partitioned,
    Split,
    Tree,
    VectorMap,
)
from skipstone.predicate.codec import from_json, to_json, value_from_json, value_to_json
from skipstone.predicate.expr import type_of
from skipstone.pruning.blocks import Words

__all__ = ["assignment_from_json", "assignment_to_json"]


def assignment_to_json(assignment: Assignment) -> dict[str, object]:
    """The assignment as lists, objects, strings and numbers."""
    match assignment:
        case Tree(root, blocks):
            return {"kind": "tree", "root": _node(root), "blocks": blocks}
        case Grid():
            return {
                "kind": "grid",
                "dimensions": [_axis(dimension) for dimension in assignment.dimensions],
                "block_of": assignment.block_of.tolist(),
                "blocks": assignment.blocks,
            }
        case VectorMap():
            return {
                "kind": "vectors",
                "features": [to_json(feature) for feature in assignment.features],
                "vectors": assignment.vectors.tolist(),
                "first": assignment.first.tolist(),
                "ways": assignment.ways.tolist(),
                "otherwise": assignment.otherwise,
                "blocks": assignment.blocks,
                "spread": None if assignment.spread is None else _dimension(assignment.spread),
            }
        case Partitioned(by, values, parts):
            return {
                "kind": "partitioned",
                "by": to_json(by),
                "values": [value_to_json(value, type_of(by)) for value in values],
                "parts": [assignment_to_json(part) for part in parts],
            }


def assignment_from_json(data: JsonObject) -> Assignment:
    """The assignment that :func:`assignment_to_json` wrote."""
    match data["kind"]:
        case "tree":
            return Tree(_read_node(data["root"]), json_int(data["blocks"]))
        case "grid":
            dimensions = tuple(_read_axis(json_object(each)) for each in json_list(data["dimensions"]))
            return Grid(dimensions, _numbers(data, "block_of"), json_int(data["blocks"]))
        case "vectors":
            features = tuple(from_json(feature) for feature in json_list(data["features"]))
            return VectorMap(
                features=features,
                vectors=_vectors(data, len(features)),
                first=_numbers(data, "first"),
                ways=_numbers(data, "ways"),
                otherwise=json_int(data["otherwise"]),
                blocks=json_int(data["blocks"]),
                spread=None if data["spread"] is None else _read_dimension(json_object(data["spread"])),
            )
        case "partitioned":
            by = from_json(data["by"])
            values = tuple(value_from_json(value, type_of(by)) for value in json_list(data["values"]))
            return Partitioned(
                by, values, tuple(_read_part(json_object(part)) for part in json_list(data["parts"]))
            )
        case kind:
            raise ValueError(f"an assignment of unknown kind {kind}")


def _read_part(data: JsonObject) -> Part:
    found = assignment_from_json(data)
    if not isinstance(found, Partitioned):
        return found
    raise ValueError("horizontal partitions are not nested")


def _node(node: Node) -> object:
    if isinstance(node, int):
        return node
    return [to_json(node.cut), _node(node.yes), _node(node.no)]


def _read_node(data: object) -> Node:
    if isinstance(data, int):
        return data
    cut, yes, no = json_list(data)
    return Split(from_json(cut), _read_node(yes), _read_node(no))


def _axis(axis: Dimension | Clusters) -> dict[str, object]:
    if isinstance(axis, Dimension):
        return _dimension(axis)
    return {
        "features": [to_json(feature) for feature in axis.features],
        "vectors": axis.vectors.tolist(),
        "bucket_of": axis.bucket_of.tolist(),
        "otherwise": axis.otherwise,
        "buckets": axis.buckets,
    }


def _read_axis(data: JsonObject) -> Dimension | Clusters:
    if "expr" in data:
        return _read_dimension(data)
    features = tuple(from_json(feature) for feature in json_list(data["features"]))
    return Clusters(
        features=features,
        vectors=_vectors(data, len(features)),
        bucket_of=_numbers(data, "bucket_of"),
        otherwise=json_int(data["otherwise"]),
        buckets=json_int(data["buckets"]),
    )


def _vectors(data: JsonObject, features: int) -> Words:
    return np.array(json_list(data["vectors"]), np.uint64).reshape(-1, (features + 63) // 64)


def _numbers(data: JsonObject, key: str) -> npt.NDArray[np.int32]:
    return np.array(json_list(data[key]), np.int32)


def _dimension(dimension: Dimension) -> dict[str, object]:
    return {
        "expr": to_json(dimension.expr),
        "bounds": [value_to_json(bound, type_of(dimension.expr)) for bound in dimension.bounds],
    }


def _read_dimension(data: JsonObject) -> Dimension:
    expr = from_json(data["expr"])
    return Dimension(
        expr, tuple(value_from_json(bound, type_of(expr)) for bound in json_list(data["bounds"]))
    )
