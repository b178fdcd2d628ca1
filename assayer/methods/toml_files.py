"""Reviewers, dimensions and compositions that users register: TOML files, checked entry by entry, with errors that name
the place."""

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from assayer.errors import InputError
from assayer.models import Frozen

__all__ = ["parse_entries", "parse_toml", "read_text_file", "require_distinct"]

Entry = TypeVar("Entry", bound=Frozen)

_MOST_COMPLAINTS = 10
_MOST_BYTES = 4_000_000


def read_text_file(path: Path) -> str:
    """Raises InputError where there is no readable text."""
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise InputError(f"{path} is larger than {_MOST_BYTES:,} bytes: no file of entries like these is.")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}.", "Name a TOML file in UTF-8.") from error


def parse_toml(text: str, file: str, allowed: Iterable[str]) -> Mapping[str, Any]:
    """The file's table, with no keys but those allowed. Raises InputError."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{file} is not valid TOML: {error}.") from error
    unknown = sorted(table.keys() - set(allowed))
    if unknown:
        raise InputError(f"{file} has unknown keys: {', '.join(unknown)}.", f"It may have {', '.join(allowed)}.")
    return table


def parse_entries(table: Mapping[str, Any], key: str, model: type[Entry], file: str) -> tuple[Entry, ...]:
    """The tables under `[[key]]`. Raises InputError that lists what is wrong, by file, entry and field."""
    raw = table.get(key, [])
    if not isinstance(raw, list) or not raw or not all(isinstance(one, dict) for one in raw):
        raise InputError(f"{file} has no {key}.", f"Write each under its own [[{key}]].")
    found: list[Entry] = []
    complaints: list[str] = []
    for number, one in enumerate(raw, start=1):
        try:
            found.append(model.model_validate(one))
        except ValidationError as error:
            complaints += [f"{key} {_entry_name(one, number)}: {complaint}" for complaint in _complaints(error)]
    if complaints:
        more = len(complaints) - _MOST_COMPLAINTS
        shown = complaints[:_MOST_COMPLAINTS] + ([f"and {more} more"] if more > 0 else [])
        raise InputError(f"{file}: {'; '.join(shown)}.")
    return tuple(found)


def require_distinct(names: Iterable[str], noun: str, file: str) -> None:
    """Raises InputError when two entries share a name, whatever its case."""
    doubled = [name for name, times in Counter(name.casefold() for name in names).items() if times > 1]
    if doubled:
        raise InputError(f"{file}: more than one {noun} is called {', '.join(map(repr, sorted(doubled)))}.")


def _entry_name(entry: Mapping[str, Any], number: int) -> str:
    name = entry.get("name")
    return f"{name!r} (number {number})" if isinstance(name, str) else f"number {number}"


def _complaints(error: ValidationError) -> list[str]:
    complaints = []
    for one in error.errors(include_url=False):
        place = ".".join(map(str, one["loc"]))
        words = one["msg"].removeprefix("Value error, ")
        complaints.append(f"{place}: {words}" if place else words)
    return complaints
