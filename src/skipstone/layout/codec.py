"""Assignments as JSON, and back: a stored layout routes the rows that are inserted later."""

from __future__ import annotations

from typing import Any

import numpy as np

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
from skipstone.predicate.codec import from_json, to_json
from skipstone.predicate.expr import Expr, Literal, Value, type_of

__all__ = ["assignment_from_json", "assignment_to_json"]


def assignment_to_json(assignment: Assignment) -> dict[str, Any]:
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
                "values": [_value(value, by) for value in values],
                "parts": [assignment_to_json(part) for part in parts],
            }


def assignment_from_json(data: dict[str, Any]) -> Assignment:
    """The assignment that :func:`assignment_to_json` wrote."""
    match data["kind"]:
        case "tree":
            return Tree(_read_node(data["root"]), data["blocks"])
        case "grid":
            dimensions = tuple(_read_axis(dimension) for dimension in data["dimensions"])
            return Grid(dimensions, np.array(data["block_of"], np.int32), data["blocks"])
        case "vectors":
            features = tuple(from_json(feature) for feature in data["features"])
            words = (len(features) + 63) // 64
            return VectorMap(
                features=features,
                vectors=np.array(data["vectors"], np.uint64).reshape(-1, words),
                first=np.array(data["first"], np.int32),
                ways=np.array(data["ways"], np.int32),
                otherwise=data["otherwise"],
                blocks=data["blocks"],
                spread=None if data["spread"] is None else _read_dimension(data["spread"]),
            )
        case "partitioned":
            by = from_json(data["by"])
            values = tuple(_read_value(value, by) for value in data["values"])
            return Partitioned(by, values, tuple(_read_part(part) for part in data["parts"]))
        case kind:
            raise ValueError(f"an assignment of unknown kind {kind}")


def _read_part(data: dict[str, Any]) -> Part:
    found = assignment_from_json(data)
    if not isinstance(found, Partitioned):
        return found
    raise ValueError("horizontal partitions are not nested")


def _node(node: Node) -> Any:
    if isinstance(node, int):
        return node
    return [to_json(node.cut), _node(node.yes), _node(node.no)]


def _read_node(data: Any) -> Node:
    if isinstance(data, int):
        return data
    cut, yes, no = data
    return Split(from_json(cut), _read_node(yes), _read_node(no))


def _axis(axis: Dimension | Clusters) -> dict[str, Any]:
    if isinstance(axis, Dimension):
        return _dimension(axis)
    return {
        "features": [to_json(feature) for feature in axis.features],
        "vectors": axis.vectors.tolist(),
        "bucket_of": axis.bucket_of.tolist(),
        "otherwise": axis.otherwise,
        "buckets": axis.buckets,
    }


def _read_axis(data: dict[str, Any]) -> Dimension | Clusters:
    if "expr" in data:
        return _read_dimension(data)
    features = tuple(from_json(feature) for feature in data["features"])
    return Clusters(
        features=features,
        vectors=np.array(data["vectors"], np.uint64).reshape(-1, (len(features) + 63) // 64),
        bucket_of=np.array(data["bucket_of"], np.int32),
        otherwise=data["otherwise"],
        buckets=data["buckets"],
    )


def _dimension(dimension: Dimension) -> dict[str, Any]:
    return {
        "expr": to_json(dimension.expr),
        "bounds": [_value(bound, dimension.expr) for bound in dimension.bounds],
    }


def _read_dimension(data: dict[str, Any]) -> Dimension:
    expr = from_json(data["expr"])
    return Dimension(expr, tuple(_read_value(bound, expr) for bound in data["bounds"]))


def _value(value: Value, of: Expr) -> Any:
    encoded: Any = to_json(Literal(value, type_of(of)))
    return encoded[1]


def _read_value(encoded: Any, of: Expr) -> Value:
    literal = from_json(["literal", encoded, type_of(of).text])
    assert isinstance(literal, Literal)
    return literal.value
