"""The catalog's files on any file system that Hadoop knows, through ``HadoopFiles.java``."""

from __future__ import annotations

from contextlib import suppress

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from skipstone.errors import DamagedFileError, SkipstoneError
from skipstone.spark.bridge.jvm import JavaObject
from skipstone.spark.failures import is_storage, storage_reason

__all__ = ["HadoopStore"]

_DEAD_MILLIS = 24 * 3_600_000
"""Nobody writes at a draft of one small file for a day."""


class HadoopStore:
    """A :class:`~skipstone.catalog.store.FileStore` below a table's root."""

    def __init__(self, spark: SparkSession, files: JavaObject, root: str) -> None:
        self._conf = spark._jsparkSession.sessionState().newHadoopConf()
        self._files = files
        self._root = root

    def names(self, folder: str) -> list[str]:
        """Names of the files in a folder, sorted."""
        return list(self._call("list", self._files.names, folder))

    def listing(self, folder: str) -> str | None:
        """What lies at a path, as :func:`skipstone.path_listing.read_listing` reads it."""
        found = self._call("list", self._files.listing, folder)
        return None if found is None else str(found)

    def read(self, path: str) -> bytes:
        """A whole file."""
        return bytes(self._call("read", self._files.read, path))

    def write(self, path: str, data: bytes) -> None:
        """A new file: at once whole, or growing where the file system knows no better."""
        self._call("write", self._files.write, path, data)
        with suppress(SkipstoneError):  # what others left behind is no failure of this
            self._call("clean up", self._files.sweepDrafts, path, _DEAD_MILLIS)

    def delete(self, path: str) -> None:
        """Remove a file, if it is there."""
        self._call("delete", self._files.delete, path)

    def delete_folder(self, folder: str, unless_younger_millis: int | None = None) -> None:
        """Remove a folder with all that is in it; with a limit only if all of it is older."""
        if unless_younger_millis is None:
            self._call("delete", self._files.deleteFolder, folder)
        else:
            self._call("delete", self._files.deleteOldFolder, folder, unless_younger_millis)

    def _call(self, verb: str, method: JavaObject, path: str, *more: object) -> JavaObject:
        target = f"{self._root}/{path}"
        try:
            return method(self._conf, target, *more)
        except Py4JJavaError as problem:
            cause = problem.java_exception
            kind = cause.getClass().getSimpleName()
            if kind == "ChecksumException":
                raise DamagedFileError(f"{target} is damaged ({cause.getMessage()}).") from problem
            reason = storage_reason(problem)
            if not is_storage(reason):
                reason = f"{kind}: {cause.getMessage()}"
            raise SkipstoneError(f"cannot {verb} {target} ({reason}).") from problem
