"""Dimensions on which an idea is scored: five built-in ones, and dimensions that users supply in the same form.

A dimension is a question, a scale with a description of each band, and the kinds of evidence that can answer it. The
dimensions in a user's file replace the built-in ones, except for those that the file lists under `keep`."""

import hashlib
from functools import cache
from importlib.resources import files
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from assayer.errors import InputError
from assayer.methods.toml_files import parse_entries, parse_toml, read_text_file, require_distinct
from assayer.models import Absent, Frozen, Score

EvidenceKind = Literal["literature", "web", "code", "data"]

_RESERVED_NAMES = frozenset({"background", "board"})
_MAX_GAP = 1.0
"""Maximum gap between two bands, in points; a larger one suggests that a band is missing."""
_HALVES_UP_TO = 50
"""Maximum width, in points, of a scale with half-point steps. Wider scales have at most a hundred integer steps."""


class Scale(Frozen):
    min: float = 0.0
    max: float = 10.0

    @model_validator(mode="after")
    def _has_width(self) -> "Scale":
        if not self.min < self.max:
            raise ValueError(f"the scale runs from {self.min:g} to {self.max:g}; max must be greater than min")
        return self


class Band(Frozen):
    """Meaning of the scores from `low` to `high`, inclusive."""

    low: float
    high: float
    means: Annotated[str, Field(min_length=10, max_length=600)]


class RubricDimension(Frozen):
    name: str = Field(
        pattern=r"^[a-z][a-z0-9_ -]{1,38}[a-z0-9]$", description="Lower-case name used in files and options."
    )
    title: str = Field(min_length=2, max_length=60)
    question: str = Field(min_length=20, max_length=400)
    """The question that a score answers."""
    guidance: str = Field(default="", max_length=2_000)
    """Instructions on what counts for this dimension, and on what does not because another dimension covers it."""
    evidence: tuple[EvidenceKind, ...] = ("literature", "web", "code", "data")
    """Kinds of evidence that reviewers see along with the idea; if empty, they see only the idea."""
    masked: bool = True
    """Whether evidence that a reviewer is not familiar with is hidden from that reviewer. Set it to false if the
    question is about what is already known: the less a reviewer reads, the newer ideas seem."""
    sections: tuple[Annotated[str, Field(min_length=3, max_length=40)], ...] = ()
    """Words in the headings of those sections of a long proposal that are relevant to the dimension; if empty, all
    sections are."""
    weight: float = Field(default=1.0, gt=0, le=100)
    """Weight in the final score."""
    scale: Scale = Scale()
    bands: tuple[Band, ...] = Field(min_length=2, max_length=12)
    """Bands from best to worst. They must cover the whole scale."""

    @field_validator("name")
    @classmethod
    def _is_free(cls, name: str) -> str:
        if name in _RESERVED_NAMES:
            raise ValueError(f"{name!r} is the name of another part of the report; choose a different name")
        return name

    @model_validator(mode="after")
    def _bands_cover_the_scale(self) -> "RubricDimension":
        for band in self.bands:
            if band.low > band.high:
                raise ValueError(f"the band {band.low:g} to {band.high:g} is reversed; low must not exceed high")
        first, last = self.bands[0], self.bands[-1]
        if first.high != self.scale.max or last.low != self.scale.min:
            raise ValueError(
                "the bands must be listed from best to worst and cover the scale: they run from "
                f"{first.high:g} to {last.low:g}, but the scale runs from {self.scale.max:g} to {self.scale.min:g}"
            )
        for upper, lower in pairwise(self.bands):
            if lower.high >= upper.low:
                raise ValueError(
                    f"the band from {upper.low:g} up and the band up to {lower.high:g} overlap or are out of order"
                )
            if upper.low - lower.high > _MAX_GAP:
                raise ValueError(f"no band covers the scores between {lower.high:g} and {upper.low:g}")
        return self

    def scores_in(self, band: Band) -> tuple[float, ...]:
        """Return the scores allowed in a band, ascending: its ends and the steps between them. A step is half a point,
        except on wide scales."""
        width = self.scale.max - self.scale.min
        step = 0.5 if width <= _HALVES_UP_TO else float(ceil(width / 100))
        count = ceil((band.high - band.low) / step)
        return (*(round(band.low + number * step, 6) for number in range(count)), band.high)

    @property
    def scores(self) -> tuple[float, ...]:
        """All allowed scores, ascending; no score lies between two bands."""
        return tuple(score for band in reversed(self.bands) for score in self.scores_in(band))

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()

    def build_score(self, value: float | None, basis: str) -> Score | Absent:
        """Return a score on the dimension's scale, or an absent score with its reason."""
        if value is None:
            return Absent(reason=basis)
        return Score(value=value, scale_min=self.scale.min, scale_max=self.scale.max, basis=basis)

    def compute_share(self, score: float) -> float:
        """Return where a score lies on the scale, 0 to 1."""
        return (score - self.scale.min) / (self.scale.max - self.scale.min)


BUILT_IN_DIMENSIONS = ("clarity", "novelty", "feasibility", "validity", "significance")
_FILE = "dimensions.toml"


@cache
def load_built_in_dimensions(package: str = "assayer.methods.innoeval") -> tuple[RubricDimension, ...]:
    """Load the dimensions defined in a package's `dimensions.toml`."""
    text = (files(package) / _FILE).read_text(encoding="utf-8")
    return parse_entries(parse_toml(text, _FILE, ["dimension"]), "dimension", RubricDimension, _FILE)


def load_dimensions(path: Path) -> tuple[RubricDimension, ...]:
    """Load dimensions from a file with `[[dimension]]` entries and, to keep some of the built-in ones, `keep =
    ["novelty", …]`. Raises InputError if the file is invalid."""
    file = path.name
    table = parse_toml(read_text_file(path), file, ["keep", "dimension"])
    kept_dimensions = _select_dimensions(table.get("keep", []), file)
    own_dimensions = (
        parse_entries(table, "dimension", RubricDimension, file) if "dimension" in table or not kept_dimensions else ()
    )
    require_distinct([item.name for item in (*kept_dimensions, *own_dimensions)], "dimension", file)
    return (*kept_dimensions, *own_dimensions)


def resolve_dimensions(
    dimensions: Path | tuple[RubricDimension, ...] | None, package: str = "assayer.methods.innoeval"
) -> tuple[RubricDimension, ...]:
    """Return the dimensions passed directly or in a file, or by default the package's built-in ones. Raises InputError
    if they are invalid."""
    if dimensions is None:
        return load_built_in_dimensions(package)
    if isinstance(dimensions, Path):
        return load_dimensions(dimensions)
    if not dimensions:
        raise InputError("The list of dimensions is empty.", "Omit the option to use the built-in dimensions.")
    require_distinct([item.name for item in dimensions], "dimension", "the dimensions passed")
    return dimensions


def _select_dimensions(names: Any, file: str) -> tuple[RubricDimension, ...]:
    if not isinstance(names, list):
        raise InputError(
            f"{file}: `keep` must be a list of dimension names.",
            f'For example, write keep = ["{BUILT_IN_DIMENSIONS[0]}"].',
        )
    unknown = [item for item in names if item not in BUILT_IN_DIMENSIONS]
    if unknown:
        raise InputError(
            f"{file}: `keep` contains names that are not built-in dimensions: {', '.join(map(repr, unknown))}.",
            f"The built-in dimensions are {', '.join(BUILT_IN_DIMENSIONS)}.",
        )
    return tuple(item for item in load_built_in_dimensions() if item.name in names)
