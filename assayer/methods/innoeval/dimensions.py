"""What an idea is scored on: five built-in dimensions, and those that users and packages register in the same form.

A dimension is a question, a scale with a band of words for each stretch of it, and the evidence that may answer. A
file's own dimensions take the place of the built-in ones; it keeps of those, and takes of those that installed packages
register, what it names. A package registers dimensions in Python under the entry point group `assayer.dimensions`: the
entry's value is a `RubricDimension`, and the entry has its name.
"""

import hashlib
from collections.abc import Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from assayer.errors import InputError
from assayer.methods.toml_files import parse_entries, parse_toml, read_text_file, require_distinct
from assayer.models import Frozen

__all__ = [
    "BUILT_IN_DIMENSIONS",
    "ENTRY_POINT_GROUP",
    "Band",
    "EvidenceKind",
    "RubricDimension",
    "Scale",
    "built_in_dimensions",
    "load_dimensions",
    "registered_dimensions",
    "resolve_dimensions",
]


EvidenceKind = Literal["literature", "web", "code", "data"]

_RESERVED_NAMES = frozenset({"background", "board"})
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


class RubricDimension(Frozen):
    name: str = Field(
        pattern=r"^[a-z][a-z0-9_ -]{1,38}[a-z0-9]$", description="Lower-case; how files and options speak of it."
    )
    title: str = Field(min_length=2, max_length=60)
    question: str = Field(min_length=20, max_length=400)
    """What a score answers, as one question."""
    guidance: str = Field(default="", max_length=2_000)
    """What counts, and what does not because another dimension asks for it."""
    evidence: tuple[EvidenceKind, ...] = ("literature", "web", "code", "data")
    """Kinds of knowledge that reviewers see beside the idea; when empty, the author's text is all they see."""
    masked: bool = True
    """Whether what reviewers are not familiar with is hidden from them. Not where the question is what is known
    already: who reads less would find more that is new."""
    sections: tuple[Annotated[str, Field(min_length=3, max_length=40)], ...] = ()
    """Words in the headings of the sections of a long proposal that are relevant to it; all sections when empty."""
    weight: float = Field(default=1.0, gt=0, le=100)
    """In the final score."""
    scale: Scale = Scale()
    bands: tuple[Band, ...] = Field(min_length=2, max_length=12)
    """From the best to the worst, over the whole scale."""

    @field_validator("name")
    @classmethod
    def _is_free(cls, name: str) -> str:
        if name in _RESERVED_NAMES:
            raise ValueError(f"{name!r} is the name of another part of the report; choose another")
        return name

    @model_validator(mode="after")
    def _bands_cover_the_scale(self) -> "RubricDimension":
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


BUILT_IN_DIMENSIONS = ("clarity", "novelty", "feasibility", "validity", "significance")
ENTRY_POINT_GROUP = "assayer.dimensions"
_FILE = "dimensions.toml"


@cache
def built_in_dimensions() -> tuple[RubricDimension, ...]:
    text = (files("assayer.methods.innoeval") / _FILE).read_text(encoding="utf-8")
    return parse_entries(parse_toml(text, _FILE, ["dimension"]), "dimension", RubricDimension, _FILE)


def registered_dimensions() -> dict[str, EntryPoint]:
    """By name, not loaded yet: code of a package that nobody asked for does not run."""
    return {one.name: one for one in entry_points(group=ENTRY_POINT_GROUP) if one.name not in BUILT_IN_DIMENSIONS}


def load_dimensions(path: Path) -> tuple[RubricDimension, ...]:
    """A file with `[[dimension]]` entries and, if some built-in or registered ones are wanted,
    `keep = ["novelty", …]`.

    Raises InputError."""
    file = path.name
    table = parse_toml(read_text_file(path), file, ["keep", "dimension"])
    kept = _kept_dimensions(table.get("keep", []), file)
    own = parse_entries(table, "dimension", RubricDimension, file) if "dimension" in table or not kept else ()
    require_distinct([one.name for one in (*kept, *own)], "dimension", file)
    return (*kept, *own)


def resolve_dimensions(given: Path | tuple[RubricDimension, ...] | None) -> tuple[RubricDimension, ...]:
    """The built-in ones, those of a file, or those that a program hands over. Raises InputError."""
    if given is None:
        return built_in_dimensions()
    if isinstance(given, Path):
        return load_dimensions(given)
    if not given:
        raise InputError("No dimension is given to judge.", "Leave the option out for the five built-in ones.")
    require_distinct([one.name for one in given], "dimension", "the dimensions given")
    return given


def _kept_dimensions(names: Any, file: str) -> tuple[RubricDimension, ...]:
    if not isinstance(names, list):
        raise InputError(f"{file}: keep is not a list of dimensions.", f'Write keep = ["{BUILT_IN_DIMENSIONS[0]}"].')
    others = registered_dimensions()
    unknown: Sequence[Any] = [
        one for one in names if not isinstance(one, str) or one not in {*BUILT_IN_DIMENSIONS, *others}
    ]
    if unknown:
        also = f"; registered by packages: {', '.join(sorted(others))}" if others else ""
        raise InputError(
            f"{file}: keep names no built-in or registered dimension: {', '.join(map(repr, unknown))}.",
            f"Built in are {', '.join(BUILT_IN_DIMENSIONS)}{also}.",
        )
    kept = tuple(one for one in built_in_dimensions() if one.name in names)
    return (*kept, *(_load_entry_point(others[name]) for name in dict.fromkeys(names) if name in others))


def _load_entry_point(entry: EntryPoint) -> RubricDimension:
    place = f"the package {entry.dist.name}" if entry.dist else entry.value
    try:
        found = entry.load()
    except Exception as error:  # a package's own code may raise anything; its name belongs into the message
        raise InputError(f"The dimension {entry.name!r} of {place} cannot be loaded: {error}.") from error
    if not isinstance(found, RubricDimension) or found.name != entry.name:
        raise InputError(
            f"{place} registers {entry.name!r}, and {entry.value} is no dimension of that name.",
            "Its value must be an assayer.methods.innoeval.dimensions.Dimension.",
        )
    return found
