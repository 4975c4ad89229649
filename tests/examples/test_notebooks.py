"""Both notebooks run from beginning to end, and are stored with clean outputs."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import nbformat
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
HOME = "/tmp/skipstone-"
NOTEBOOKS = ["quickstart", "self-organising"]


@pytest.fixture(scope="module")
def run() -> ModuleType:
    spec = importlib.util.spec_from_file_location("run_notebooks", EXAMPLES / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs_from_beginning_to_end(run: ModuleType, name: str, tmp_path: Path) -> None:
    # Fewer queries than in the stored notebook, which are imported one by one.
    changed = {f"{HOME}{name}": str(tmp_path / "data"), "range(200)": "range(40)"}
    notebook = run.executed(EXAMPLES / f"{name}.ipynb", changed)
    text = "\n".join(output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", []))
    assert "skipped by skipstone" in text
    if name == "quickstart":
        assert "same result: True" in text
        assert "same result: False" not in text
    else:
        assert re.findall(r"(?m)^(PAYS|LAID_OUT) - ", text) == ["PAYS", "PAYS", "LAID_OUT", "PAYS"]
        assert re.findall(r"drift (\S+)", text) == ["1.00", "0.00"]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_stored_notebook_has_every_output_and_no_noise(name: str) -> None:
    path = EXAMPLES / f"{name}.ipynb"
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call] # it has no hints
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell.outputs]
    assert len(outputs) > 5
    for output in outputs:
        assert (output.output_type, output.name) == ("stream", "stdout")
        assert not re.search(r"(?i)warn|error|/root|/home|/work|/Users", output.text)
        assert set(re.findall(r"file:(/[^/]+/[^/]+)/", output.text)) <= {f"{HOME}{name}"}
