"""A dimension: a question, a scale with a band of words for each stretch of it, and the evidence that may answer."""

import hashlib
from itertools import pairwise
from math import ceil
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from assayer.models import Frozen

__all__ = ["Band", "Dimension", "EvidenceKind", "Scale"]

EvidenceKind = Literal["literature", "web", "code"]
_TAKEN = frozenset({"background", "board"})
_WIDEST_GAP = 1.0
"""Points of the scale between two bands; more is a band forgotten."""
_HALVES_UP_TO = 50
"""Points that a scale is wide. Wider ones are divided into at most a hundred whole steps."""


class Scale(Frozen):
    min: float = 0.0
    max: float = 10.0

    @model_validator(mode="after")
    def _has_width(self) -> "Scale":
        if not self.min < self.max:
            raise ValueError(f"the scale runs from {self.min:g} to {self.max:g}; its end must lie above its start")
        return self


class Band(Frozen):
    """What scores from `low` to `high` mean, both included."""

    low: float
    high: float
    means: Annotated[str, Field(min_length=10, max_length=600)]


class Dimension(Frozen):
    name: str = Field(
        pattern=r"^[a-z][a-z0-9_ -]{1,38}[a-z0-9]$", description="Lower-case; how files and options speak of it."
    )
    title: str = Field(min_length=2, max_length=60)
    question: str = Field(min_length=20, max_length=400)
    """What a score answers, as one question."""
    guidance: str = Field(default="", max_length=2_000)
    """What counts, and what does not because another dimension asks for it."""
    evidence: tuple[EvidenceKind, ...] = ("literature", "web", "code")
    """Kinds of knowledge that reviewers see beside the idea; when empty, the author's text is all they see."""
    sections: tuple[Annotated[str, Field(min_length=3, max_length=40)], ...] = ()
    """Words in the headings of those sections of a long proposal that speak to it; all sections when empty."""
    weight: float = Field(default=1.0, gt=0, le=100)
    """In the final score."""
    scale: Scale = Scale()
    bands: tuple[Band, ...] = Field(min_length=2, max_length=12)
    """From the best to the worst, over the whole scale."""

    @field_validator("name")
    @classmethod
    def _is_free(cls, name: str) -> str:
        if name in _TAKEN:
            raise ValueError(f"{name!r} is the name of another part of the report; choose another")
        return name

    @model_validator(mode="after")
    def _bands_cover_the_scale(self) -> "Dimension":
        for band in self.bands:
            if band.low > band.high:
                raise ValueError(f"the band {band.low:g} to {band.high:g} ends before it begins")
        first, last = self.bands[0], self.bands[-1]
        if first.high != self.scale.max or last.low != self.scale.min:
            raise ValueError(
                "the bands must run from the best to the worst and cover the scale: they begin at "
                f"{first.high:g} and end at {last.low:g}, the scale at {self.scale.max:g} and {self.scale.min:g}"
            )
        for upper, lower in pairwise(self.bands):
            if lower.high >= upper.low:
                raise ValueError(f"the bands from {upper.low:g} and up to {lower.high:g} overlap or are out of order")
            if upper.low - lower.high > _WIDEST_GAP:
                raise ValueError(f"no band covers the scores between {lower.high:g} and {upper.low:g}")
        return self

    def scores_in(self, band: Band) -> tuple[float, ...]:
        """What can be given in a band: its ends and the steps between, halves on all but wide scales. Ascending."""
        width = self.scale.max - self.scale.min
        step = 0.5 if width <= _HALVES_UP_TO else float(ceil(width / 100))
        count = ceil((band.high - band.low) / step)
        return (*(round(band.low + number * step, 6) for number in range(count)), band.high)

    @property
    def scores(self) -> tuple[float, ...]:
        """All that can be given, ascending; none lies between two bands."""
        return tuple(score for band in reversed(self.bands) for score in self.scores_in(band))

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()

    def share(self, score: float) -> float:
        """Where a score lies on the scale, 0 to 1."""
        return (score - self.scale.min) / (self.scale.max - self.scale.min)
