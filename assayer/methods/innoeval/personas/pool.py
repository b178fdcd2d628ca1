"""Pools of personas: the one that comes with assayer, and files that users supply in the same form."""

import hashlib
from functools import cache
from importlib.resources import files
from pathlib import Path

from assayer.methods.innoeval.personas.schema import Persona
from assayer.methods.innoeval.registration import distinct, entries, parsed, read
from assayer.models import Frozen

__all__ = ["Pool", "load", "shipped"]

_FILE = "pool.toml"


class Pool(Frozen):
    name: str
    """File name; `assayer` for the shipped one."""
    sha256: str
    """Of the file's text: two runs with the same one had the same reviewers to draw from."""
    personas: tuple[Persona, ...]
    """By name: the order in the file decides nothing."""


def load(path: Path) -> Pool:
    """A file of `[[persona]]` entries. Raises InputError."""
    return _pool(path.name, path.name, read(path))


@cache
def shipped() -> Pool:
    return _pool("assayer", _FILE, (files("assayer.methods.innoeval.personas") / _FILE).read_text(encoding="utf-8"))


def _pool(name: str, file: str, text: str) -> Pool:
    personas = entries(parsed(text, file, ["persona"]), "persona", Persona, file)
    distinct([one.name for one in personas], "persona", file)
    return Pool(
        name=name,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        personas=tuple(sorted(personas, key=lambda one: one.name.casefold())),
    )
