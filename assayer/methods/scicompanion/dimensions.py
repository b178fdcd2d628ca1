"""What SciCompanion scores: feasibility, novelty, impact and overall, or what a venue registers in their place."""

from functools import cache
from importlib.resources import files
from pathlib import Path

from assayer.methods.innoeval.dimensions import RubricDimension, resolve_dimensions
from assayer.methods.toml_files import parse_entries, parse_toml

__all__ = ["venue_dimensions"]

_FILE = "dimensions.toml"


@cache
def _built_in() -> tuple[RubricDimension, ...]:
    text = (files("assayer.methods.scicompanion") / _FILE).read_text(encoding="utf-8")
    return parse_entries(parse_toml(text, _FILE, ["dimension"]), "dimension", RubricDimension, _FILE)


def venue_dimensions(given: Path | tuple[RubricDimension, ...] | None) -> tuple[RubricDimension, ...]:
    """The last one is the overall judgement, whose points lead the report. Raises InputError."""
    return _built_in() if given is None else resolve_dimensions(given)
