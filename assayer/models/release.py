"""Release check: a report may show a total only if its measurements reach the required minima."""

from typing import Literal

from pydantic import Field

from assayer.models.base import Frozen
from assayer_client.reports import FitLevel
from assayer_client.resources import Absent

MinimumName = Literal["corpus_fit", "judged", "answered", "quotes_found", "points_traced", "claims_supported"]


class ReleaseMinima(Frozen):
    """Required minima. A report below any of them is incomplete. Setting a minimum to its lowest value disables it."""

    corpus_fit: FitLevel = "partial"
    """Minimum corpus fit. If the corpus does not cover the field, finding nothing in it means nothing."""
    judged: float = Field(default=0.5, ge=0, le=1)
    """Minimum share of methods, dimensions or reviews that have a score, in the part with the lowest share. A mean over
    fewer than half depends too much on which of them happened to be judged."""
    answered: float = Field(default=0.8, ge=0, le=1)
    """Minimum share of LLM calls with a usable answer. Scores do not reflect answers that were lost, or questions that
    were not asked because the budget was spent."""
    quotes_found: float = Field(default=0.7, ge=0, le=1)
    """Minimum share of quotes found in their stated source. A model that often misquotes papers cannot be trusted with
    the rest."""
    points_traced: float = Field(default=0.5, ge=0, le=1)
    """Minimum share of quoting points that have at least one quote found in its source. Scores are based on these
    points."""
    claims_supported: float = Field(default=0.5, ge=0, le=1)
    """Minimum share of claims that their quotes support at least in part, among the claims that a model checked.
    Without a model, claims are checked only for shared words. Because that check does not understand text, it never
    causes a total to be withheld."""


class MeasuredMinimum(Frozen):
    """A required minimum, and the value that the report actually reached."""

    name: MinimumName
    measured: float | FitLevel | Absent
    """Measured share from 0 to 1, or level of corpus fit; absent if there is nothing to measure. Quotes and weaknesses
    are not required, so their absence is not a failure."""
    minimum: float | FitLevel
    is_met: bool
    basis: str
    """Description of what was counted."""


class ReportRelease(Frozen):
    """Release state of a report. If it is `incomplete`, at least one minimum is not met: the report shows no total, but
    its findings remain valid."""

    state: Literal["complete", "incomplete"]
    minima: tuple[MeasuredMinimum, ...] = Field(min_length=1)

    @property
    def failed(self) -> tuple[MeasuredMinimum, ...]:
        return tuple(item for item in self.minima if not item.is_met)
