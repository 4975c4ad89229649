"""Runs the notebooks and stores them with their outputs: ``python examples/run.py [NOTEBOOK ...]``.

Every cell must succeed. What the JVM prints below Python, such as its banner, is no part of the outputs.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

EXAMPLES = Path(__file__).parent
NOTEBOOKS = tuple(sorted(EXAMPLES.glob("*.ipynb")))
SECONDS = 600


def executed(path: Path, replace: dict[str, str] | None = None) -> NotebookNode:
    """The notebook after all its cells have run in a new kernel; ``replace`` changes text of its cells."""
    notebook: NotebookNode = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    for cell in notebook.cells:
        for old, new in (replace or {}).items():
            cell.source = cell.source.replace(old, new)
    client = NotebookClient(
        notebook,
        timeout=SECONDS,
        kernel_name="python3",
        extra_arguments=["--IPKernelApp.capture_fd_output=False"],
        record_timing=False,
    )
    client.execute()
    return notebook


def store(path: Path) -> None:
    """Run a notebook and write it back."""
    notebook = executed(path)
    # The version of Python here says nothing about the example.
    notebook.metadata["language_info"] = {"name": "python"}
    nbformat.write(notebook, path)  # type: ignore[no-untyped-call]


if __name__ == "__main__":
    for each in [Path(name) for name in sys.argv[1:]] or NOTEBOOKS:
        store(each)
        print(each)
