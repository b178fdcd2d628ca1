"""Read ideas with known scores, for training SciCompanion's policy, from a JSON Lines file."""

import datetime as dt
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import Field, ValidationError

from assayer.errors import InputError
from assayer.ideas.parsing import parse_idea
from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.models import Frozen, Idea
from workers.policy_training.training_rows import read_json_lines


class RatedIdeaFile(Frozen):
    """JSON Lines file with `title`, `text`, `scores` (by dimension name) and `known_until` (a day, or null)."""

    file: Path
    most: Annotated[int, Field(ge=1)] | None = None


class RatedIdea(NamedTuple):
    idea: Idea
    """Idea to evaluate. Only literature up to its cutoff is used."""
    scores: Mapping[str, float]
    """Known scores, each on its dimension's own scale."""


class _Line(Frozen):
    title: str = Field(min_length=1)
    text: str = Field(min_length=1)
    scores: dict[str, float] = Field(min_length=1)
    known_until: dt.date | None


def read_rated_ideas(data: RatedIdeaFile, dimensions: Sequence[RubricDimension]) -> list[RatedIdea]:
    """Read rated ideas, all of which must have scores for the same dimensions. Raises InputError, which names the line,
    if one is invalid."""
    ideas = read_json_lines(data.file, data.most, "ideas", partial(_parse_rated_idea, dimensions))
    for idea in ideas:
        if idea.scores.keys() != ideas[0].scores.keys():
            raise InputError(
                f"{data.file}: {idea.idea.source} has scores for {_join_names(idea.scores)}, but the first idea has "
                f"scores for {_join_names(ideas[0].scores)}.",
                "Score every idea on the same dimensions.",
            )
    return ideas


def _parse_rated_idea(dimensions: Sequence[RubricDimension], location: str, line: str) -> RatedIdea:
    try:
        line_fields = _Line.model_validate_json(line)
    except ValidationError as error:
        first_error = error.errors(include_url=False, include_input=False)[0]
        raise InputError(
            f"{location}: {'.'.join(map(str, first_error['loc'])) or 'the line'}: {first_error['msg']}."
        ) from None
    scales = {dimension.name: dimension.scale for dimension in dimensions}
    for name, score in line_fields.scores.items():
        if name not in scales:
            raise InputError(f"{location}: unknown dimension {name!r}. The dimensions are {_join_names(scales)}.")
        if not scales[name].min <= score <= scales[name].max:
            scale = f"{scales[name].min:g} to {scales[name].max:g}"
            raise InputError(f"{location}: the score {score:g} for {name} is outside its scale from {scale}.")
    return RatedIdea(
        parse_idea(line_fields.text, location, line_fields.title, line_fields.known_until), line_fields.scores
    )


def _join_names(names: Mapping[str, object]) -> str:
    return ", ".join(sorted(names))
