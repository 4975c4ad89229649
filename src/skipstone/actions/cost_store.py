"""The cost model of each machine or cluster, as a small JSON file in the user's cache directory.

``SKIPSTONE_COSTS`` names another directory, such as one that the drivers of a cluster share.
"""

from __future__ import annotations

import json
import logging
import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from skipstone.errors import SkipstoneError
from skipstone.estimate.cost import FORMAT, CostModel, Observation
from skipstone.spark.engine.engine import Engine
from skipstone.spark.failures import some_sentence_of
from skipstone.spark.jars import home_directory

__all__ = ["load_model", "model_path", "read_model", "remember", "save_model"]

LOG = logging.getLogger("skipstone")


def model_path(engine: Engine) -> Path:
    """Where the model of a machine or cluster is kept."""
    given = os.environ.get("SKIPSTONE_COSTS")
    directory = Path(given) if given else home_directory() / "costs"
    key = re.sub(r"[^A-Za-z0-9.]+", "-", engine.cluster).strip("-")
    return directory / f"{key}.json"


def load_model(engine: Engine) -> CostModel:
    """The stored model, or the default one when nothing was measured yet by this version."""
    return read_model(model_path(engine))


def read_model(path: Path) -> CostModel:
    """The model in a file; a damaged one is an error that names it."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(stored, dict) and stored.get("format", FORMAT) != FORMAT:
            # What another version measured means something else; costs are soon known again.
            return CostModel()
        return CostModel.from_json(stored, str(path))
    except FileNotFoundError:
        return CostModel()
    except (ValueError, RecursionError) as problem:
        raise SkipstoneError(f"{path} is damaged; delete it and run skipstone calibrate.") from problem
    except OSError as problem:
        raise SkipstoneError(f"{path} cannot be read ({problem.strerror}).") from problem


def save_model(engine: Engine, model: CostModel) -> Path:
    """Store a model, whole or not at all."""
    path = model_path(engine)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, scratch = tempfile.mkstemp(prefix=".costs-", dir=path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(model.to_json(), file)
            Path(scratch).replace(path)
        except BaseException:
            Path(scratch).unlink(missing_ok=True)
            raise
    except OSError as problem:
        raise SkipstoneError(
            f"The cost model cannot be kept in {path} ({problem.strerror}); set SKIPSTONE_COSTS to a "
            "directory that can be written."
        ) from problem
    return path


def remember(engine: Engine, observations: Sequence[Observation]) -> None:
    """Refresh the model by what was just seen; work that is done never fails over this."""
    try:
        save_model(engine, load_model(engine).refreshed(observations))
    # The rewrite itself has succeeded.
    except Exception as problem:  # noqa: BLE001
        LOG.warning("The cost of this rewrite was not remembered: %s", some_sentence_of(problem))
