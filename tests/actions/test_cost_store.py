"""The stored cost model: read, or refused in a sentence that names its file; refreshed by every rewrite."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pyspark.sql import SparkSession
from tests.damage import attempt, damaged
from tests.shipments import ROWS

import skipstone
from skipstone.actions.cost_store import load_model, read_model, remember, save_model
from skipstone.errors import SkipstoneError
from skipstone.estimate.cost import DEFAULT, Coefficients, CostModel, Extent, Observation, RewriteFeatures
from skipstone.spark.engine.engine import Engine
from skipstone.workload.queries import Workload

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


def test_a_stored_model_of_another_version_counts_as_not_measured(tmp_path: Path) -> None:
    path = tmp_path / "local.json"
    model = CostModel().calibrated(SEEN)
    path.write_text(json.dumps({**model.to_json(), "format": 1}))
    assert read_model(path) == CostModel()
    path.write_text("[]")
    with pytest.raises(SkipstoneError, match="cannot be read"):
        read_model(path)


def test_a_model_that_cannot_be_refreshed_fails_nothing(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("SKIPSTONE_COSTS", str(tmp_path))
    engine = Engine.of(spark)
    broken = CostModel(source="refreshed", observations=(replace(SEEN[0], terms=(1.0,)),))
    path = save_model(engine, broken)
    stored = path.read_text()
    remember(engine, SEEN[:1])
    assert "was not remembered" in caplog.text
    assert path.read_text() == stored


def test_every_rewrite_that_runs_refreshes_the_stored_costs_of_rewriting(
    asked: skipstone.Table, log: Workload, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKIPSTONE_COSTS", str(tmp_path / "costs"))
    engine = Engine.of(asked.spark)
    assert load_model(engine) == CostModel()
    started = time.perf_counter()
    asked.optimize(log, "zorder", block_rows=300)
    elapsed = time.perf_counter() - started
    once = load_model(engine)
    (seen,) = once.observations
    assert seen.kind == "rewrite"
    assert 0 < seen.seconds < elapsed
    assert seen.terms[0] == 1.0
    assert seen.terms[2] == pytest.approx(ROWS * 11 / 1e6, rel=0.05), "values in millions"
    assert seen.terms[3] > 0, "a Z-order places rows by expressions"
    names = ("rewrite_fixed", *(name for name in Coefficients.__slots__ if name.startswith("rewrite_per")))
    before, after = (
        float(np.dot(seen.terms, [getattr(costs, name) for name in names]))
        for costs in (DEFAULT, once.coefficients)
    )
    assert min(before, seen.seconds) <= after <= max(before, seen.seconds)
    assert after != before
    assert once.coefficients.read_per_mb == DEFAULT.read_per_mb
    assert once.describe() == (
        "default coefficients, refreshed by 1 rewrite; reading not measured here: run skipstone calibrate"
    )
    asked.optimize(log, "qdtree", block_rows=300)
    twice = load_model(engine)
    assert (len(twice.observations), twice.observations[0], twice.base) == (2, seen, DEFAULT)
    assert twice.observations[1].terms[5] > 0, "a tree places rows by predicates"
