"""Dimensions from files. A file's own take the place of the built-in ones; it keeps of those what it names."""

from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from assayer.errors import InputError
from assayer.methods.innoeval.dimensions.schema import Dimension
from assayer.methods.innoeval.registration import distinct, entries, parsed, read

__all__ = ["BUILT_IN", "built_in", "chosen", "load"]

BUILT_IN = ("clarity", "novelty", "feasibility", "validity", "significance")
_FILE = "builtin.toml"


@cache
def built_in() -> tuple[Dimension, ...]:
    text = (files("assayer.methods.innoeval.dimensions") / _FILE).read_text(encoding="utf-8")
    return entries(parsed(text, _FILE, ["dimension"]), "dimension", Dimension, _FILE)


def load(path: Path) -> tuple[Dimension, ...]:
    """A file with `[[dimension]]` entries and, if some built-in ones are to be kept, `keep = ["novelty", …]`.

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
        raise InputError(f"{file}: keep is not a list of built-in dimensions.", f'Write keep = ["{BUILT_IN[0]}"].')
    unknown: Sequence[Any] = [name for name in names if name not in BUILT_IN]
    if unknown:
        raise InputError(
            f"{file}: keep names no built-in dimension: {', '.join(map(repr, unknown))}.",
            f"Built in are {', '.join(BUILT_IN)}.",
        )
    return tuple(one for one in built_in() if one.name in names)
