"""Ideas whose scores are known, read from JSON lines: what SciCompanion's policy is held against."""

import datetime as dt
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import Field, ValidationError

from assayer.errors import InputError
from assayer.ideas.parsing import parse_idea
from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.models import Frozen, Idea

__all__ = ["RatedIdea", "RatedIdeaFile", "read_rated_ideas"]

_LONGEST_LINE = 1_000_000
"""Characters."""


class RatedIdeaFile(Frozen):
    """JSON lines with `title`, `text`, `scores` (by the names of dimensions) and `known_until` (a day, or null)."""

    file: Path
    most: Annotated[int, Field(ge=1)] | None = None


class RatedIdea(NamedTuple):
    idea: Idea
    """Its cutoff is the last day whose literature counts."""
    scores: Mapping[str, float]
    """On the dimensions' own scales."""


class _Line(Frozen):
    title: str = Field(min_length=1)
    text: str = Field(min_length=1)
    scores: dict[str, float] = Field(min_length=1)
    known_until: dt.date | None


def read_rated_ideas(data: RatedIdeaFile, dimensions: Sequence[RubricDimension]) -> list[RatedIdea]:
    """All have scores of the same dimensions. Raises InputError that names the line at fault."""
    ideas: list[RatedIdea] = []
    try:
        with data.file.open(encoding="utf-8") as file:
            for number, line in enumerate(iter(lambda: file.readline(_LONGEST_LINE + 1), ""), 1):
                if data.most is not None and len(ideas) == data.most:
                    break
                if line.strip():
                    ideas.append(_rated_idea(f"{data.file}, line {number}", line, dimensions))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{data.file} cannot be read: {error}.") from None
    if not ideas:
        raise InputError(f"{data.file} has no ideas.")
    for one in ideas:
        if one.scores.keys() != ideas[0].scores.keys():
            raise InputError(
                f"{data.file}: {one.idea.source} has scores of {_listed(one.scores)}, while the first idea has those "
                f"of {_listed(ideas[0].scores)}.",
                "Give every idea scores of the same dimensions.",
            )
    return ideas


def _rated_idea(place: str, line: str, dimensions: Sequence[RubricDimension]) -> RatedIdea:
    if len(line) > _LONGEST_LINE:
        raise InputError(f"{place} has more than {_LONGEST_LINE:,} characters.")
    try:
        read = _Line.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise InputError(f"{place}: {'.'.join(map(str, first['loc'])) or 'the line'}: {first['msg']}.") from None
    scales = {one.name: one.scale for one in dimensions}
    for name, score in read.scores.items():
        if name not in scales:
            raise InputError(f"{place}: there is no dimension {name!r}; there are {_listed(scales)}.")
        if not scales[name].min <= score <= scales[name].max:
            scale = f"{scales[name].min:g} to {scales[name].max:g}"
            raise InputError(f"{place}: {name} has the score {score:g}, on a scale from {scale}.")
    return RatedIdea(parse_idea(read.text, place, read.title, read.known_until), read.scores)


def _listed(names: Mapping[str, object]) -> str:
    return ", ".join(sorted(names))
