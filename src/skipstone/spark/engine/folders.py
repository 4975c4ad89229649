"""A folder on any file system that Hadoop knows: what is in it, and whether a new table may be put there."""

from __future__ import annotations

import re
from contextlib import suppress

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from skipstone.errors import SkipstoneError
from skipstone.spark.bridge.jvm import JavaObject, java_class
from skipstone.spark.failures import storage_reason

__all__ = ["Folder", "is_inside"]


class Folder:
    """A folder by its path; ``path`` is the whole one, with its file system."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        """Find the file system; an error if there is none for such a path."""
        self._given = path
        try:
            if not path.strip():
                raise SkipstoneError("The path of a new table must not be empty.")
            self._path: JavaObject = java_class(spark._jvm, "org.apache.hadoop.fs.Path")(path)
            self._fs = self._path.getFileSystem(spark._jsparkSession.sessionState().newHadoopConf())
            self._path = self._fs.makeQualified(self._path)
        except Py4JJavaError as problem:
            raise SkipstoneError(
                f"{path} is not a path of a folder ({storage_reason(problem)})."
            ) from problem
        self.path = str(self._path.toString())

    def exists(self) -> bool:
        """Whether there is such a folder or file."""
        return bool(self._fs.exists(self._path))

    def check_free(self) -> None:
        """Refuse a path where something is already, or where no folder can be."""
        try:
            if self.exists() and not self._fs.getFileStatus(self._path).isDirectory():
                raise SkipstoneError(f"{self._given} is a file; give a path where nothing is yet.")
            if self.exists() and len(self._fs.listStatus(self._path)):
                raise SkipstoneError(f"{self._given} exists already; give a path where nothing is yet.")
            above = self._path.getParent()
            while above is not None and not self._fs.exists(above):
                above = above.getParent()
            if above is not None and not self._fs.getFileStatus(above).isDirectory():
                raise SkipstoneError(f"{self._given} cannot be made, for {above.toString()} is a file.")
        except Py4JJavaError as problem:
            raise SkipstoneError(f"{self._given} cannot be used ({storage_reason(problem)}).") from problem

    def make(self) -> None:
        """Make the folder."""
        self._fs.mkdirs(self._path)

    def remove_if_empty(self) -> None:
        """Delete the folder if it is there and nothing is in it; if that fails, it stays."""
        with suppress(Py4JJavaError):
            if self.exists() and not len(self._fs.listStatus(self._path)):
                self._fs.delete(self._path, False)

    def remove(self) -> None:
        """Delete the folder and all that is in it."""
        try:
            self._fs.delete(self._path, True)
        except Py4JJavaError as problem:
            raise SkipstoneError(f"{self._given} cannot be deleted ({storage_reason(problem)}).") from problem


def is_inside(path: str, root: str) -> bool:
    """Whether a path is that of a folder, or of something in it.

    >>> is_inside("file:/t/a", "file:///t/a/"), is_inside("file:/t/a/b", "file:/t/a")
    (True, True)
    >>> is_inside("file:/t/ab", "file:/t/a"), is_inside("s3a://t/a", "file:/t/a")
    (False, False)
    """
    inner, outer = (re.sub(r"^([A-Za-z][\w+.-]*):/+", r"\1:/", each).rstrip("/") for each in (path, root))
    return f"{inner}/".startswith(f"{outer}/")
