"""What is known about a table."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from pyspark.sql import SparkSession

from skipstone.catalog import stamp
from skipstone.errors import SkipstoneError
from skipstone.predicate.expr import Column
from skipstone.predicate.render import to_sql
from skipstone.spark.query_log import LogStatus, log_status
from skipstone.spark.runtime import Runtime
from skipstone.spark.table_files import TableFiles

__all__ = ["TableStatus", "table_status"]


@dataclass(frozen=True, slots=True)
class TableStatus:
    """A table and its catalog; ``problem`` says why the catalog cannot be used.

    ``files_indexed`` counts the files whose statistics this session can use; all others are always read.
    ``segments`` counts the catalog's files and ``indexed_at`` is the time of the newest.
    """

    root: str
    format: str
    files: int
    bytes: int
    files_indexed: int
    rows_indexed: int
    segments: int
    indexed_at: str
    columns: tuple[str, ...]
    expressions: tuple[str, ...]
    features: tuple[str, ...]
    log: LogStatus
    problem: str = ""

    def to_dict(self) -> dict[str, object]:
        """For JSON."""
        return asdict(self)


def table_status(spark: SparkSession, runtime: Runtime, files: TableFiles) -> TableStatus:
    """Compare the catalog with the files as they lie now."""
    problem = ""
    try:
        if stamp(runtime.store(files.root)):
            runtime.refresh(files.root)
    except SkipstoneError as error:
        problem = str(error)
    catalog = runtime.catalog(files.root)
    # Entries made under other reader settings are not used by this session.
    usable = (~catalog.foreign(runtime.settings(spark))).tolist()
    known = zip(catalog.files.sizes, catalog.files.times, usable, strict=True)
    entries = dict(zip(catalog.files.paths, known, strict=True))
    indexed = [
        path
        for path, size, time in zip(files.files.paths, files.files.sizes, files.files.times, strict=True)
        if entries.get(path) == (size, time, True)
    ]
    rows = dict(zip(catalog.files.paths, catalog.blocks.rows.tolist(), strict=True))
    return TableStatus(
        root=files.root,
        format=files.format,
        files=len(files.files),
        bytes=int(files.files.sizes.sum()),
        files_indexed=len(indexed),
        rows_indexed=sum(rows[path] for path in indexed),
        segments=len(catalog.segments),
        indexed_at=catalog.segments[-1].created if catalog.segments else "",
        columns=tuple(to_sql(key) for key in catalog.blocks.statistics if isinstance(key, Column)),
        expressions=catalog.expression_texts,
        features=tuple(feature.text for feature in catalog.blocks.features),
        problem=problem,
        log=log_status(spark, runtime, files.root),
    )
