"""Running commands in this process, where they find the session that the tests share."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.templates import Templates
from typer.testing import CliRunner, Result

from skipstone.cli.main import app


class Cli:
    """Runs a command line; a traceback never is an answer."""

    def __call__(self, *arguments: object, stdin: bytes | None = None) -> Result:
        texts = [str(argument) for argument in arguments]
        result = CliRunner().invoke(app, texts, prog_name="skipstone", input=stdin)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        assert "Traceback" not in result.output
        return result

    def json(self, *arguments: object, stdin: bytes | None = None) -> Any:
        result = self(*arguments, "--json", stdin=stdin)
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)

    def error(self, *arguments: object) -> str:
        """The sentence of a command that fails; nothing but progress is written besides."""
        result = self(*arguments)
        assert result.exit_code == 1, result.output
        assert result.stdout == ""
        progress = re.compile(r": [\d,]+ of [\d,]+$| \.\.\.$")
        lines = [line for line in result.stderr.splitlines() if not progress.search(line)]
        assert len(lines) == 1, result.stderr
        assert lines[0].startswith("Error: ")
        return lines[0].removeprefix("Error: ")


@pytest.fixture
def cli(spark: SparkSession) -> Cli:
    return Cli()


@pytest.fixture
def orders(spark: SparkSession, templates: Templates, tmp_path: Path) -> Path:
    """A Parquet directory of four files, with k from 0 to 399 in order and a city that only one file has."""
    return templates.copy("orders", lambda path: _write_orders(spark, path), tmp_path / "orders")


@pytest.fixture
def indexed(spark: SparkSession, templates: Templates, tmp_path: Path) -> Path:
    """The same, after ``skipstone index``."""

    def make(path: Path) -> None:
        _write_orders(spark, path)
        assert Cli().json("index", path)["files_indexed"] == 4

    return templates.copy("indexed-orders", make, tmp_path / "orders")


def _write_orders(spark: SparkSession, path: Path) -> None:
    rows = spark.range(0, 400, 1, 4).selectExpr(
        "id AS k",
        "if(id = 250, 'Oslo', 'Porto') AS city",
        "date_add(DATE'2024-01-01', cast(id AS int)) AS day",
    )
    rows.write.parquet(str(path))
