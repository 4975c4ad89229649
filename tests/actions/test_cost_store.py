"""The stored cost model: read, or refused in a sentence that names its file. No JVM is needed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from tests.damage import attempt, damaged

from skipstone.actions.cost_store import read_model
from skipstone.estimate.cost import CostModel, Extent, Observation, RewriteFeatures

SEEN = (
    Observation.rewrite(RewriteFeatures(Extent(1e9, 1e6, 9e6), 1, 2, 3), 20.0),
    Observation.read(Extent(1e8, 1e5, 9e5), 12, 0.5),
)


def test_without_a_file_costs_are_the_default(tmp_path: Path) -> None:
    assert read_model(tmp_path / "none.json") == CostModel()


def test_a_model_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "local.json"
    model = CostModel().calibrated(SEEN)
    path.write_text(json.dumps(model.to_json()))
    assert read_model(path) == model


def test_a_damaged_model_can_be_used_or_is_named_and_never_anything_else(tmp_path: Path) -> None:
    path = tmp_path / "local.json"
    whole = json.dumps(CostModel().calibrated(SEEN).to_json()).encode()
    refused = 0
    for data in damaged(whole):
        path.write_bytes(data)
        model, sentence = attempt(lambda: read_model(path))
        if model is None:
            assert sentence.startswith(str(path))
            assert "run skipstone calibrate" in sentence
            refused += 1
            continue
        costs = model.refreshed(SEEN).coefficients
        assert np.isfinite(costs.rewrite_seconds(RewriteFeatures(Extent(1e9, 1e6, 9e6), 1, 0, 0)))
        assert model.describe()
    assert refused > 200
