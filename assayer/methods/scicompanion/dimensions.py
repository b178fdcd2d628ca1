"""Dimensions that SciCompanion scores: feasibility, novelty, impact and overall, or dimensions of a venue."""

from pathlib import Path

from assayer.methods.innoeval.dimensions import RubricDimension, resolve_dimensions


def venue_dimensions(given: Path | tuple[RubricDimension, ...] | None) -> tuple[RubricDimension, ...]:
    """Return the dimensions. The last is the overall judgement, whose points lead the report. Raises InputError."""
    return resolve_dimensions(given, "assayer.methods.scicompanion")
