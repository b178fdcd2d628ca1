"""Release check: whether a report is allowed to show a total, decided by comparing its measurements with required
minima."""

from typing import Literal

from pydantic import Field

from assayer.models.base import Frozen
from assayer_client.reports import FitLevel
from assayer_client.resources import Absent

MinimumName = Literal["corpus_fit", "judged", "answered", "quotes_found", "points_traced", "claims_supported"]


class ReleaseMinima(Frozen):
    """Required minima; a report below any of them is incomplete. The lowest value disables a minimum."""

    corpus_fit: FitLevel = "partial"
    """Minimum corpus fit. If the corpus does not cover the field, a lack of results means nothing."""
    judged: float = Field(default=0.5, ge=0, le=1)
    """Minimum share of methods, dimensions or reviews with a score, in the part with the lowest share. A mean over less
    than half of them depends on which ones happened to be judged."""
    answered: float = Field(default=0.8, ge=0, le=1)
    """Minimum share of LLM calls with a usable answer. No score reflects answers that were lost, or questions that were
    not asked because the budget was spent."""
    quotes_found: float = Field(default=0.7, ge=0, le=1)
    """Minimum share of quotes found in their stated source. A reader that often misquotes papers cannot be trusted
    with the rest."""
    points_traced: float = Field(default=0.5, ge=0, le=1)
    """Minimum share of points with quotes that have at least one quote found in its source. Scores rest on these
    points."""
    claims_supported: float = Field(default=0.5, ge=0, le=1)
    """Minimum share of claims that their quotes support at least in part, among the claims checked by a model. Without
    a model, claims are checked only by shared words; that check does not understand text, and no total is withheld
    because of it."""


class MeasuredMinimum(Frozen):
    """Required minimum, with the value measured in the report."""

    name: MinimumName
    measured: float | FitLevel | Absent
    """Measured share from 0 to 1, or level of corpus fit. Absent if there is nothing to measure, which is not a
    failure: quotes and weaknesses are not required."""
    minimum: float | FitLevel
    met: bool
    basis: str
    """Description of what was counted."""


class ReportRelease(Frozen):
    """Release state of a report. `incomplete` means below a minimum: the report shows no total, but its findings remain
    valid."""

    state: Literal["complete", "incomplete"]
    minima: tuple[MeasuredMinimum, ...] = Field(min_length=1)

    @property
    def failed(self) -> tuple[MeasuredMinimum, ...]:
        return tuple(item for item in self.minima if not item.met)
