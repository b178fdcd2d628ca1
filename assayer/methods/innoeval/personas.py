"""Reviewers as characters: who they are, what they look for, and how much of the evidence they would know.

A persona has no human name, age, origin or sex: none of them may move a score. Pools of personas come with assayer, or
from files that users supply in the same form.
"""

import hashlib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from pydantic import Field

from assayer.methods.toml_files import parse_entries, parse_toml, read_text_file, require_distinct
from assayer.models import Familiarity, Frozen

__all__ = ["Persona", "PersonaPool", "built_in_persona_pool", "load_persona_pool"]


class Persona(Frozen):
    name: str = Field(
        min_length=5, max_length=70, description="What kind of reviewer, e.g. Field ecologist with long series."
    )
    field: str = Field(min_length=3, max_length=40)
    role: str = Field(min_length=3, max_length=40)
    topics: tuple[Annotated[str, Field(min_length=3, max_length=40)], ...] = Field(min_length=3, max_length=12)
    """Words and phrases, lower-case, that show in a text that it touches this reviewer's own ground."""
    background: str = Field(min_length=60, max_length=900)
    goal: str = Field(min_length=40, max_length=500)
    """What this reviewer wants a review to bring about."""
    constraints: str = Field(min_length=40, max_length=500)
    """Habits and limits: what is always checked, what is not this reviewer's to judge."""
    familiarity: Familiarity


_FILE = "personas.toml"


class PersonaPool(Frozen):
    name: str
    """File name; `assayer` for the shipped one."""
    sha256: str
    """Of the file's text: two runs with the same one had the same reviewers to draw from."""
    personas: tuple[Persona, ...]
    """By name: the order in the file decides nothing."""


def load_persona_pool(path: Path) -> PersonaPool:
    """A file of `[[persona]]` entries. Raises InputError."""
    return _parse_pool(path.name, path.name, read_text_file(path))


@cache
def built_in_persona_pool() -> PersonaPool:
    return _parse_pool("assayer", _FILE, (files("assayer.methods.innoeval") / _FILE).read_text(encoding="utf-8"))


def _parse_pool(name: str, file: str, text: str) -> PersonaPool:
    personas = parse_entries(parse_toml(text, file, ["persona"]), "persona", Persona, file)
    require_distinct([one.name for one in personas], "persona", file)
    return PersonaPool(
        name=name,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        personas=tuple(sorted(personas, key=lambda one: one.name.casefold())),
    )
