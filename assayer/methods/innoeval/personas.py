"""Reviewer personas: who they are, what they look for, and how much of the evidence they would know.

A persona has no human name, age, origin or sex, because none of these may influence a score. Pools of personas are
built into assayer or come from files that users supply in the same form."""

import hashlib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from pydantic import Field

from assayer.methods.toml_files import parse_entries, parse_toml, read_text_file, require_distinct
from assayer.models import Familiarity, Frozen


class Persona(Frozen):
    name: str = Field(
        min_length=5, max_length=70, description="What kind of reviewer, e.g. Field ecologist with long series."
    )
    field: str = Field(min_length=3, max_length=40)
    role: str = Field(min_length=3, max_length=40)
    topics: tuple[Annotated[str, Field(min_length=3, max_length=40)], ...] = Field(min_length=3, max_length=12)
    """Lower-case words and phrases that indicate that a text concerns this reviewer's field."""
    background: str = Field(min_length=60, max_length=900)
    goal: str = Field(min_length=40, max_length=500)
    """Goal that this reviewer pursues in a review."""
    constraints: str = Field(min_length=40, max_length=500)
    """Habits and limits: what the reviewer always checks, and what the reviewer does not judge."""
    familiarity: Familiarity


_FILE = "personas.toml"


class PersonaPool(Frozen):
    name: str
    """File name of the pool; `assayer` for the built-in pool."""
    sha256: str
    """SHA-256 of the file's text. Runs with the same hash had the same pool of reviewers."""
    personas: tuple[Persona, ...]
    """Personas sorted by name, so that the order in the file has no effect."""


def load_persona_pool(path: Path) -> PersonaPool:
    """Load a file of `[[persona]]` entries. Raises InputError."""
    return _parse_pool(path.name, path.name, read_text_file(path))


@cache
def built_in_persona_pool() -> PersonaPool:
    return _parse_pool("assayer", _FILE, (files("assayer.methods.innoeval") / _FILE).read_text(encoding="utf-8"))


def _parse_pool(name: str, file: str, text: str) -> PersonaPool:
    personas = parse_entries(parse_toml(text, file, ["persona"]), "persona", Persona, file)
    require_distinct([persona.name for persona in personas], "persona", file)
    return PersonaPool(
        name=name,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        personas=tuple(sorted(personas, key=lambda persona: persona.name.casefold())),
    )
