"""Dimensions from files. A file's own take the place of the built-in ones; it keeps of those, and takes of those that
installed packages register, what it names.

A package registers dimensions in Python under the entry point group `assayer.dimensions`: the entry's value is a
`Dimension`, and the entry has its name.
"""

from collections.abc import Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from importlib.resources import files
from pathlib import Path
from typing import Any

from assayer.errors import InputError
from assayer.methods.innoeval.dimensions.schema import Dimension
from assayer.methods.innoeval.registration import distinct, entries, parsed, read

__all__ = ["BUILT_IN", "GROUP", "built_in", "chosen", "load", "registered"]

BUILT_IN = ("clarity", "novelty", "feasibility", "validity", "significance")
GROUP = "assayer.dimensions"
_FILE = "builtin.toml"


@cache
def built_in() -> tuple[Dimension, ...]:
    text = (files("assayer.methods.innoeval.dimensions") / _FILE).read_text(encoding="utf-8")
    return entries(parsed(text, _FILE, ["dimension"]), "dimension", Dimension, _FILE)


def registered() -> dict[str, EntryPoint]:
    """By name, not loaded yet: code of a package that nobody asked for does not run."""
    return {one.name: one for one in entry_points(group=GROUP) if one.name not in BUILT_IN}


def load(path: Path) -> tuple[Dimension, ...]:
    """A file with `[[dimension]]` entries and, if some built-in or registered ones are wanted,
    `keep = ["novelty", …]`.

    Raises InputError."""
    file = path.name
    table = parsed(read(path), file, ["keep", "dimension"])
    kept = _kept(table.get("keep", []), file)
    own = entries(table, "dimension", Dimension, file) if "dimension" in table or not kept else ()
    distinct([one.name for one in (*kept, *own)], "dimension", file)
    return (*kept, *own)


def chosen(given: Path | tuple[Dimension, ...] | None) -> tuple[Dimension, ...]:
    """The built-in ones, those of a file, or those that a program hands over. Raises InputError."""
    if given is None:
        return built_in()
    if isinstance(given, Path):
        return load(given)
    if not given:
        raise InputError("No dimension is given to judge.", "Leave the option out for the five built-in ones.")
    distinct([one.name for one in given], "dimension", "the dimensions given")
    return given


def _kept(names: Any, file: str) -> tuple[Dimension, ...]:
    if not isinstance(names, list):
        raise InputError(f"{file}: keep is not a list of dimensions.", f'Write keep = ["{BUILT_IN[0]}"].')
    others = registered()
    unknown: Sequence[Any] = [one for one in names if not isinstance(one, str) or one not in {*BUILT_IN, *others}]
    if unknown:
        also = f"; registered by packages: {', '.join(sorted(others))}" if others else ""
        raise InputError(
            f"{file}: keep names no built-in or registered dimension: {', '.join(map(repr, unknown))}.",
            f"Built in are {', '.join(BUILT_IN)}{also}.",
        )
    kept = tuple(one for one in built_in() if one.name in names)
    return (*kept, *(_loaded(others[name]) for name in dict.fromkeys(names) if name in others))


def _loaded(entry: EntryPoint) -> Dimension:
    place = f"the package {entry.dist.name}" if entry.dist else entry.value
    try:
        found = entry.load()
    except Exception as error:  # a package's own code may raise anything; its name belongs into the message
        raise InputError(f"The dimension {entry.name!r} of {place} cannot be loaded: {error}.") from error
    if not isinstance(found, Dimension) or found.name != entry.name:
        raise InputError(
            f"{place} registers {entry.name!r}, and {entry.value} is no dimension of that name.",
            "Its value must be an assayer.methods.innoeval.dimensions.Dimension.",
        )
    return found
