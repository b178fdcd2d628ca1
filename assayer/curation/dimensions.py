"""Dimensions for scoring candidates individually: novelty, feasibility and effectiveness from 1 to 5, or those in the
user's own file."""

from pathlib import Path

from assayer.errors import InputError
from assayer.methods.innoeval.dimensions import RubricDimension, resolve_dimensions

_MAX_DIMENSIONS = 20
"""Maximum number of dimensions in one request."""


def load_score_dimensions(path: Path | None = None) -> tuple[RubricDimension, ...]:
    """Load the dimensions from a file in InnoEval's format, or return the built-in ones. Raises InputError if the file
    is invalid."""
    dimensions = resolve_dimensions(path, "assayer.curation")
    if len(dimensions) > _MAX_DIMENSIONS:
        raise InputError(f"{path} has {len(dimensions)} dimensions; at most {_MAX_DIMENSIONS} are allowed.")
    return dimensions
