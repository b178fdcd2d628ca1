"""Whether a report may carry a total: what was measured of it, held against stated minima."""

from typing import Literal

from pydantic import Field

from assayer.models.base import Absent, Frozen
from assayer.models.paper import FitLevel

__all__ = ["MeasuredMinimum", "MinimumName", "ReportRelease"]

MinimumName = Literal["corpus_fit", "judged", "answered", "quotes_found", "points_traced", "claims_supported"]


class MeasuredMinimum(Frozen):
    """One minimum, and what this report has of it."""

    name: MinimumName
    measured: float | FitLevel | Absent
    """A share, 0 to 1, or a level of corpus fit; absent where the report holds nothing to measure, which is no failure:
    nobody is asked for quotes or weaknesses."""
    minimum: float | FitLevel
    met: bool
    basis: str
    """What was counted, in words."""


class ReportRelease(Frozen):
    """`incomplete`: below a minimum, so the report carries no total; what it found stands."""

    state: Literal["complete", "incomplete"]
    minima: tuple[MeasuredMinimum, ...] = Field(min_length=1)

    @property
    def failed(self) -> tuple[MeasuredMinimum, ...]:
        return tuple(one for one in self.minima if not one.met)
