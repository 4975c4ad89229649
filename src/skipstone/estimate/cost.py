"""What a rewrite and a scan cost: linear models whose coefficients are measured, never assumed.

A rewrite takes, in the spirit of Self-organising layouts for Delta (thesis), section 5.1.5::

    fixed + GB * per_gb + million values * per_value
          + million rows * (m_z * Z features + m_add * additional features
                            + [sop_base + m_sop * SOP features, where there are any])

and a scan ``fixed + MB * per_mb + million values * per_value + files * per_file``. In the thesis all goes by
the GB, which holds among tables of one width. But features are computed row by row, and most of what else
is done goes by the value, however few bits it was compressed to (ADR 7). The fixed seconds are ours too:
starting jobs and committing cost the same for any size, and without them small rewrites would look cheaper
than they are. Savings never count them, for a query that skips still starts.

The coefficients are fitted to observations by least squares on relative errors, none of them below zero.
Newer observations weigh more, and each coefficient is pulled towards what is expected: what was known before,
all of it slower or faster by the same factor, the median of what was observed and, as one more observation,
of what was known. A calibration varies one thing at a time, so its pull is weak. The rewrites that come by in
daily use do not, and some of them run on a busy machine; they show how fast it is, and only many of them what
each term costs. What was calibrated is not among them: it is what they start from, and two of them outvote
it. Cost: a least squares problem of seven unknowns.

>>> def features(gb: float, z: int) -> RewriteFeatures:
...     return RewriteFeatures(Extent(gb * 1e9, gb * 2e6, gb * 18e6), z, 0, 0)
>>> seen = [Observation.rewrite(features(gb, z), 2 + gb * (10 + 3 * z)) for gb in (1, 2) for z in (1, 2, 4)]
>>> round(fit(seen, DEFAULT).rewrite_seconds(features(4, 3)))
78
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields

import numpy as np
import numpy.typing as npt

from skipstone.catalog.column_sizes import PerRow
from skipstone.errors import SkipstoneError
from skipstone.json_types import JsonObject, json_list, json_object, json_scalar, json_text

__all__ = [
    "DEFAULT",
    "FORMAT",
    "Coefficients",
    "CostModel",
    "Extent",
    "Observation",
    "RewriteFeatures",
    "fit",
]

Floats = npt.NDArray[np.float64]
MOST_OBSERVATIONS = 64
FORMAT = 3
_ZERO = 1e-12
_DECAY = 0.97
"""How much less each observation weighs than the next newer one."""
_CONTROLLED = 1e-5
_AS_IT_COMES = 0.3
"""What it costs to move a coefficient by its own size, in squared relative errors."""
_REWRITE = (
    "rewrite_fixed",
    "rewrite_per_gb",
    "rewrite_per_value",
    "rewrite_per_row_z",
    "rewrite_per_row_additional",
    "rewrite_per_row_sop",
    "rewrite_per_row_sop_feature",
)
_READ = ("read_fixed", "read_per_mb", "read_per_value", "read_per_file")


@dataclass(frozen=True, slots=True)
class Extent:
    """How much data: stored bytes, rows, and values, of which a row has one per column, two per map entry."""

    bytes: float
    rows: float
    values: float

    @classmethod
    def of(cls, rows: float, row: PerRow) -> Extent:
        """So many rows with so much in each."""
        return cls(rows * row.bytes, rows, rows * row.values)


@dataclass(frozen=True, slots=True)
class RewriteFeatures:
    """What the cost of a rewrite depends on: how much data, and how many expressions are computed per row.

    ``z`` counts ordered expressions that rows are placed by, ``sop`` the predicates that they are placed
    by, ``additional`` the expressions and features that only get statistics.
    """

    extent: Extent
    z: int
    sop: int
    additional: int

    def terms(self) -> tuple[float, ...]:
        """What each coefficient is multiplied by."""
        rows = self.extent.rows / 1e6
        return (
            1.0,
            self.extent.bytes / 1e9,
            self.extent.values / 1e6,
            rows * self.z,
            rows * self.additional,
            rows * (self.sop > 0),
            rows * self.sop,
        )


@dataclass(frozen=True, slots=True)
class Observation:
    """How long a rewrite or a scan took, and what each coefficient of its kind is multiplied by."""

    kind: str
    terms: tuple[float, ...]
    seconds: float

    @classmethod
    def rewrite(cls, features: RewriteFeatures, seconds: float) -> Observation:
        """A rewrite that ran."""
        return cls("rewrite", features.terms(), seconds)

    @classmethod
    def from_json(cls, data: JsonObject) -> Observation:
        """Read a stored observation."""
        kind, terms = json_text(data["kind"]), tuple(map(_amount, json_list(data["terms"])))
        if len(terms) != len({"rewrite": _REWRITE, "read": _READ}[kind]):
            raise ValueError("an observation with too many or too few terms")
        return cls(kind, terms, _amount(data["seconds"]))

    @classmethod
    def read(cls, extent: Extent, files: float, seconds: float) -> Observation:
        """A scan that ran; its extent is that of the columns that were read."""
        return cls("read", (1.0, *_read_terms(extent, files)), seconds)


def _amount(value: object) -> float:
    """A stored number; nothing that is measured is negative or without end."""
    number = float(json_scalar(value))
    if not 0.0 <= number < float("inf"):
        raise ValueError(f"{value} is no amount")
    return number


def _read_terms(extent: Extent, files: float) -> tuple[float, ...]:
    return extent.bytes / 1e6, extent.values / 1e6, float(files)


@dataclass(frozen=True, slots=True)
class Coefficients:
    """Seconds: per rewrite or scan, per 10^9 or 10^6 bytes, per 10^6 values or rows, and per file."""

    rewrite_fixed: float
    rewrite_per_gb: float
    rewrite_per_value: float
    rewrite_per_row_z: float
    rewrite_per_row_additional: float
    rewrite_per_row_sop: float
    rewrite_per_row_sop_feature: float
    read_fixed: float
    read_per_mb: float
    read_per_value: float
    read_per_file: float

    def rewrite_seconds(self, features: RewriteFeatures) -> float:
        """How long a rewrite takes."""
        return float(np.dot(features.terms(), self.values_of(_REWRITE)))

    def read_seconds(self, extent: Extent, files: float) -> float:
        """How long reading takes, besides what any query takes: that is never saved by skipping."""
        return float(np.dot(_read_terms(extent, files), self.values_of(_READ)[1:]))

    @classmethod
    def from_json(cls, data: JsonObject) -> Coefficients:
        """Read stored coefficients."""
        return cls(**{field.name: _amount(data[field.name]) for field in fields(cls)})

    def values_of(self, names: Sequence[str]) -> Floats:
        """Some of the coefficients, by name."""
        return np.array([getattr(self, name) for name in names])


DEFAULT = Coefficients(
    rewrite_fixed=2.5,
    rewrite_per_gb=10.0,
    rewrite_per_value=0.85,
    rewrite_per_row_z=0.1,
    rewrite_per_row_additional=0.04,
    rewrite_per_row_sop=2.0,
    rewrite_per_row_sop_feature=0.15,
    read_fixed=0.15,
    read_per_mb=0.006,
    read_per_value=0.01,
    read_per_file=0.003,
)
"""Two cores of a laptop class machine and a local disk; ``skipstone calibrate`` measures one's own."""


def fit(observations: Sequence[Observation], prior: Coefficients, pull: float = _CONTROLLED) -> Coefficients:
    """The coefficients that explain the observations, oldest first, best."""
    found: dict[str, float] = {}
    for kind, names in (("rewrite", _REWRITE), ("read", _READ)):
        seen = [observation for observation in observations if observation.kind == kind]
        terms, seconds = [item.terms for item in seen], [item.seconds for item in seen]
        values = _fit(terms, seconds, prior.values_of(names), pull)
        found.update(zip(names, values.tolist(), strict=True))
    return Coefficients(**found)


def _fit(terms: Sequence[Sequence[float]], seconds: Sequence[float], prior: Floats, pull: float) -> Floats:
    if not terms:
        return prior
    measured = np.maximum(np.array(seconds, np.float64), 1e-6)
    given = np.array(terms, np.float64)
    factors = measured / np.maximum(given @ prior, 1e-9)
    expected = prior * float(np.median([1.0, *factors]))
    weight = _DECAY ** np.arange(len(measured) - 1, -1, -1) / measured
    # A coefficient of zero would be pulled back with infinite force.
    force = np.sqrt(pull) / np.maximum(expected, expected.mean() / 1e4)
    matrix = np.concatenate([given * weight[:, None], np.diag(force)])
    return _non_negative(matrix, np.concatenate([measured * weight, expected * force]))


def _non_negative(matrix: Floats, target: Floats) -> Floats:
    """Least squares with no unknown below zero (Lawson and Hanson, 1974, chapter 23)."""
    scale = np.linalg.norm(matrix, axis=0)
    scaled = matrix / scale
    size = scaled.shape[1]
    free = np.zeros(size, np.bool_)
    found = np.zeros(size)
    for _ in range(10 * size):
        gradient = scaled.T @ (target - scaled @ found)
        gradient[free] = 0.0
        if gradient.max() <= 1e-9 * max(1.0, float(np.abs(target).max())):
            break
        free[int(gradient.argmax())] = True
        while True:
            tried = np.zeros(size)
            tried[free] = np.linalg.lstsq(scaled[:, free], target, rcond=None)[0]
            if (tried[free] > 0).all():
                break
            # Go only as far as the first unknown that would become negative, and hold that one at zero.
            falling = free & (tried <= 0)
            step = float((found[falling] / np.maximum(found[falling] - tried[falling], 1e-300)).min())
            found = found + step * (tried - found)
            free &= found > _ZERO
            if not free.any():
                tried = np.zeros(size)
                break
        found = tried
    return np.asarray(found / scale, np.float64)


@dataclass(frozen=True, slots=True)
class CostModel:
    """Coefficients of one machine or cluster with where they come from.

    ``source`` is ``default``, ``calibrated`` or ``refreshed`` (by rewrites that ran since), ``observations``
    those of the calibration, or those since. ``base`` is what refreshing starts from: the default or
    calibrated coefficients.
    """

    coefficients: Coefficients = DEFAULT
    source: str = "default"
    observations: tuple[Observation, ...] = ()
    base: Coefficients = DEFAULT

    def calibrated(self, observations: Sequence[Observation]) -> CostModel:
        """The model after more was measured in a controlled way."""
        together = self.newest_with(observations)
        base = fit(together, DEFAULT)
        return CostModel(base, "calibrated", together, base)

    def refreshed(self, observations: Sequence[Observation]) -> CostModel:
        """The model after more was seen in daily use."""
        daily = self if self.source == "refreshed" else CostModel()
        together = daily.newest_with(observations)
        return CostModel(fit(together, self.base, _AS_IT_COMES), "refreshed", together, self.base)

    def newest_with(self, observations: Sequence[Observation]) -> tuple[Observation, ...]:
        """Of each kind the newest observations, these among them."""
        every = (*self.observations, *observations)
        kept = [[each for each in every if each.kind == kind] for kind in ("rewrite", "read")]
        return tuple(each for some in kept for each in some[-MOST_OBSERVATIONS:])

    def describe(self) -> str:
        """What was measured on this machine and what was not, in a few words.

        >>> CostModel().describe()
        'default coefficients, not measured here: run skipstone calibrate'
        >>> seen = Observation.rewrite(RewriteFeatures(Extent(1e9, 1e6, 9e6), 1, 0, 0), 20.0)
        >>> CostModel().refreshed([seen]).describe()
        'default coefficients, refreshed by 1 rewrite; reading not measured here: run skipstone calibrate'
        """
        if self.source == "default":
            return "default coefficients, not measured here: run skipstone calibrate"
        counts = {
            kind: sum(observation.kind == kind for observation in self.observations)
            for kind in ("rewrite", "read")
        }
        rewrites, scans = _count(counts["rewrite"], "rewrite"), _count(counts["read"], "scan")
        if self.source == "calibrated":
            return f"calibrated coefficients, from {rewrites} and {scans}"
        if self.base == DEFAULT and not counts["read"]:
            return (
                f"default coefficients, refreshed by {rewrites}; reading not measured here: run skipstone "
                "calibrate"
            )
        known = "default" if self.base == DEFAULT else "calibrated"
        return f"{known} coefficients, refreshed by {rewrites}" + (f" and {scans}" if counts["read"] else "")

    def to_json(self) -> dict[str, object]:
        """For storing."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_json(cls, data: JsonObject, name: str = "the cost model") -> CostModel:
        """Read a stored model; one that cannot be read is an error that names it."""
        try:
            seen = tuple(Observation.from_json(json_object(item)) for item in json_list(data["observations"]))
            return cls(
                Coefficients.from_json(json_object(data["coefficients"])),
                str(data["source"]),
                seen,
                Coefficients.from_json(json_object(data["base"])),
            )
        except Exception as problem:
            raise SkipstoneError(
                f"{name} cannot be read; delete it and run skipstone calibrate."
            ) from problem


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
