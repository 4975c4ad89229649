"""Wide tables with diverse queries, generated for column grouping alone: bits, and no data.

Columns have topics, and so have templates of queries: most of the columns that a template reads, and all
attributes that it filters on, are of its topic. Attributes follow a few hidden factors, so that some filters
agree and others conflict. A query reads the columns of its template and, now and then, another one; its
filters are drawn with Zipf's law from ever stricter ones. A feature subsumes it if it asks for no less of the
same attribute.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skipstone.layout.column_access import ColumnAccess

__all__ = ["Shape", "wide_access"]

_SELECTIVITIES = (0.2, 0.1, 0.03, 0.01)
_FACTORS = 8
_ELSEWHERE = 0.5
_OTHER_COLUMN = 0.3


@dataclass(frozen=True, slots=True)
class Shape:
    """How many columns and queries there are, of how many templates, and how many rows are sampled."""

    columns: int
    queries: int
    templates: int
    topics: int = 8
    attributes: int = 24
    rows: int = 20_000
    blocks: int = 500


def wide_access(shape: Shape, seed: int = 0) -> ColumnAccess:
    """What the queries read of the rows."""
    random = np.random.default_rng(seed)
    vectors, counts = np.unique(_rows(shape, random), axis=0, return_counts=True)
    columns, features = _queries(shape, random)
    return ColumnAccess(
        vectors=vectors,
        counts=counts.astype(np.float64),
        columns=columns,
        features=features,
        weights=np.ones(shape.queries),
        block_rows=shape.rows / shape.blocks,
    )


def _rows(shape: Shape, random: np.random.Generator) -> np.ndarray:
    factors = random.random((shape.rows, _FACTORS))
    follows = random.integers(_FACTORS, size=shape.attributes)
    noise = random.random((shape.rows, shape.attributes))
    strength = random.random(shape.attributes) ** 2
    mixed = strength * factors[:, follows] + (1 - strength) * noise
    cuts = np.quantile(mixed, _SELECTIVITIES, axis=0)
    return np.concatenate([mixed <= cut for cut in cuts], axis=1)


def _queries(shape: Shape, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    columns = np.zeros((shape.queries, shape.columns), np.bool_)
    features = np.zeros((shape.queries, shape.attributes * len(_SELECTIVITIES)), np.bool_)
    topic_of_column = random.integers(shape.topics, size=shape.columns)
    topic_of_attribute = np.arange(shape.attributes) % shape.topics
    read, filtered = [], []
    for _ in range(shape.templates):
        topic = random.integers(shape.topics)
        own = np.where(topic_of_column == topic, 1.0, _ELSEWHERE / shape.topics)
        read.append(random.choice(shape.columns, random.integers(2, 12), replace=False, p=own / own.sum()))
        asked = np.flatnonzero(topic_of_attribute == topic)
        filtered.append(random.choice(asked, random.integers(1, len(asked) + 1), replace=False))
    for query in range(shape.queries):
        template = random.integers(shape.templates)
        columns[query, read[template]] = True
        if random.random() < _OTHER_COLUMN:
            columns[query, random.integers(shape.columns)] = True
        for attribute in filtered[template]:
            level = min(int(random.zipf(1.5)), len(_SELECTIVITIES))
            features[query, attribute + shape.attributes * np.arange(level)] = True
    return columns, features
