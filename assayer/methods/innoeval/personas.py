"""Reviewer personas: who they are, what they look for, and how much of the evidence they know.

A persona has no human name, age, origin or sex, because none of these may influence a score. Pools of personas are
built into assayer or come from files that users supply in the same form."""

import hashlib
from functools import cache
from importlib.resources import files
from typing import Annotated

from pydantic import Field

from assayer.methods.toml_files import parse_entries, parse_toml
from assayer.models import Familiarity, Frozen


class Persona(Frozen):
    name: str = Field(
        min_length=5, max_length=70, description="What kind of reviewer, e.g. Field ecologist with long series."
    )
    field: str = Field(min_length=3, max_length=40)
    role: str = Field(min_length=3, max_length=40)
    topics: tuple[Annotated[str, Field(min_length=3, max_length=40)], ...] = Field(min_length=3, max_length=12)
    """Lower-case words and phrases that indicate that a text is about this reviewer's field."""
    background: str = Field(min_length=60, max_length=900)
    goal: str = Field(min_length=40, max_length=500)
    """The reviewer's aim in a review."""
    constraints: str = Field(min_length=40, max_length=500)
    """Habits and limits: what the reviewer always checks, and what the reviewer does not judge."""
    familiarity: Familiarity


_FILE = "personas.toml"


class PersonaPool(Frozen):
    name: str
    """The pool's file name; `assayer` for the built-in pool."""
    sha256: str
    """SHA-256 of the file's text. Runs with the same hash drew from the same personas."""
    personas: tuple[Persona, ...]
    """The personas, sorted by name so that their order in the file has no effect."""


@cache
def load_built_in_persona_pool() -> PersonaPool:
    text = (files("assayer.methods.innoeval") / _FILE).read_text(encoding="utf-8")
    personas = parse_entries(parse_toml(text, _FILE, ["persona"]), "persona", Persona, _FILE)
    return PersonaPool(
        name="assayer",
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        personas=tuple(sorted(personas, key=lambda persona: persona.name.casefold())),
    )
