"""What single scores are given for: novelty, feasibility and effectiveness from 1 to 5, or a file of one's own."""

from functools import cache
from importlib.resources import files
from pathlib import Path

from assayer.errors import InputError
from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.methods.toml_files import parse_entries, parse_toml, read_text_file, require_distinct

__all__ = ["score_dimensions"]

_FILE = "dimensions.toml"
_MOST = 20
"""Dimensions that are asked for at once."""


def score_dimensions(path: Path | None = None) -> tuple[RubricDimension, ...]:
    """A file with `[[dimension]]` entries in the form of InnoEval's. Raises InputError."""
    return _built_in() if path is None else _parsed(read_text_file(path), path.name)


@cache
def _built_in() -> tuple[RubricDimension, ...]:
    return _parsed((files("assayer.curation") / _FILE).read_text(encoding="utf-8"), _FILE)


def _parsed(text: str, file: str) -> tuple[RubricDimension, ...]:
    found = parse_entries(parse_toml(text, file, ["dimension"]), "dimension", RubricDimension, file)
    require_distinct([one.name for one in found], "dimension", file)
    if len(found) > _MOST:
        raise InputError(f"{file} has {len(found)} dimensions; at most {_MOST} are scored at once.")
    return found
