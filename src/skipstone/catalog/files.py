"""Files, and the one test of whether two of them are the same.

A data file is immutable: whoever changes a table writes other files. So what was found in a file stays true
of it, as long as it is the same file. It is if path, size and modification time are the same. Delta may also
hide some of its rows by a deletion vector. Statistics stay true of the rows that are left; what must hold
exactly the rows that the table has, such as a replica, also asks for the same deletion vector.

>>> def files(*names, size=1): return Files(names, np.full(len(names), size), np.zeros(len(names), np.int64))
>>> files("a", "b", "c").indices_in(files("c", "b")).tolist()
[-1, 1, 0]
>>> files("a").indices_in(files("a", size=2)).tolist()
[-1]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skipstone.pruning.blocks import Counts

__all__ = ["Files"]


@dataclass(frozen=True, slots=True, eq=False)
class Files:
    """Path, size in bytes and modification time in milliseconds of some files.

    ``vectors`` names the deletion vector of each, with an empty text for none; it is empty where they are not
    known or there are none.
    """

    paths: tuple[str, ...]
    sizes: Counts
    times: Counts
    vectors: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.paths)

    @property
    def bytes(self) -> int:
        """The size of all of them."""
        return int(self.sizes.sum())

    def some(self, indices: Counts) -> Files:
        """The files at these indices."""
        chosen = indices.tolist()
        vectors = tuple(self.vectors[index] for index in chosen) if self.vectors else ()
        return Files(
            tuple(self.paths[index] for index in chosen), self.sizes[indices], self.times[indices], vectors
        )

    def indices_in(self, other: Files, *, same_rows: bool = False) -> Counts:
        """For each file the index of the same file in ``other``, -1 where there is none.

        With ``same_rows`` the deletion vectors must be the same too.
        """
        indices = {path: index for index, path in enumerate(other.paths)}
        found = np.array([indices.get(path, -1) for path in self.paths], np.int64)
        if not len(other):
            return found
        same = (found >= 0) & (self.sizes == other.sizes[found]) & (self.times == other.times[found])
        if same_rows:
            mine, theirs = self._vectors(), other._vectors()
            same &= np.array(
                [mine[own] == theirs[index] for own, index in enumerate(found.tolist())], np.bool_
            )
        return np.where(same, found, -1)

    def _vectors(self) -> tuple[str, ...]:
        return self.vectors or ("",) * len(self.paths)
