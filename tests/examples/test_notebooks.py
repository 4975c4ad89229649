"""Both notebooks run from beginning to end, and are stored with clean outputs."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import nbformat
import pytest
from pyspark.sql import SparkSession

import skipstone

EXAMPLES = Path(__file__).parents[2] / "examples"
HOME = "/tmp/skipstone-"
NOTEBOOKS = ["quickstart", "self-organising"]
# A tenth of the rows of the stored notebook, and blocks of a tenth.
TENTH = {"60_000": "6_000", "60000": "6000", "58000": "5800", "3_000": "300"}


@pytest.fixture(scope="module")
def run() -> ModuleType:
    spec = importlib.util.spec_from_file_location("run_notebooks", EXAMPLES / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def code_of(name: str, changed: dict[str, str]) -> list[str]:
    """The cells of a notebook, with texts that are replaced in them; each of these must be there."""
    notebook = nbformat.read(EXAMPLES / f"{name}.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    for old, new in changed.items():
        assert any(old in cell for cell in cells), old
        cells = [cell.replace(old, new) for cell in cells]
    return cells


@pytest.fixture
def output(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[..., str]]:
    """Runs the cells of a notebook in the session of the tests, and returns what they print."""
    monkeypatch.setenv("SKIPSTONE_COSTS", "")  # the cells set it, and it is restored

    def run_cells(name: str, **changed: str) -> str:
        same = {f"{HOME}{name}": str(tmp_path / "data"), "spark.stop()\n": ""}
        names: dict[str, object] = {}
        for cell in code_of(name, same | changed):
            exec(compile(cell, name, "exec"), names)  # noqa: S102 - as a kernel does
        return capsys.readouterr().out

    yield run_cells
    skipstone.enable(spark, log=False)


def test_the_quickstart_runs_from_beginning_to_end(output: Callable[..., str]) -> None:
    text = output("quickstart", **TENTH)
    assert "skipped by skipstone" in text
    assert "same result: True" in text
    assert "same result: False" not in text


def test_the_table_of_the_other_notebook_organises_itself(output: Callable[..., str]) -> None:
    # Fewer queries than in the stored notebook, which are imported one by one.
    text = output("self-organising", **{"range(200)": "range(40)"})
    assert "skipped by skipstone" in text
    assert re.findall(r"(?m)^(PAYS|LAID_OUT) - ", text) == ["PAYS", "PAYS", "LAID_OUT", "PAYS"]
    assert re.findall(r"drift (\S+)", text) == ["1.00", "0.00"]


def test_a_notebook_is_run_in_a_new_kernel_cell_by_cell(run: ModuleType, tmp_path: Path) -> None:
    cells = [nbformat.v4.new_code_cell(source) for source in ("two = 1", "print(two)")]  # type: ignore[no-untyped-call]
    path = tmp_path / "small.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), path)  # type: ignore[no-untyped-call]
    done = run.executed(path, {"two = 1": "import skipstone; two = 2"})
    assert [output["text"] for cell in done.cells for output in cell.outputs] == ["2\n"]
    assert [cell.execution_count for cell in done.cells] == [1, 2]


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
